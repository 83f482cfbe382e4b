// The dynamics held against a reference integration: single steps, their order, rewards and discounted returns.

package hiv_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/internal/oracle"
	"github.com/discreet-rl/discreet/internal/rl/sim/hiv"
)

type trace struct {
	Start    string             `json:"start"`
	Rule     string             `json:"action_rule"`
	Actions  []int              `json:"actions"`
	States   []hiv.State        `json:"states"`
	Next2    []float64          `json:"reward_next_R2_2000"`
	Present2 []float64          `json:"reward_present_R2_2000"`
	Next20   []float64          `json:"reward_next_R2_20000"`
	Present  []float64          `json:"reward_present_R2_20000"`
	Returns  map[string]float64 `json:"discounted_return_gamma098"`
}

type traces struct {
	Cases      []trace              `json:"cases"`
	Starts     map[string]hiv.State `json:"starts"`
	Steady     map[string]steady    `json:"steady_states"`
	Difference map[string]float64   `json:"one_step_max_rel_difference"`
}

type steady struct {
	Fixed   hiv.State `json:"fixed_point"`
	Rounded hiv.State `json:"rounded_start"`
}

func load(t testing.TB) traces {
	t.Helper()
	return oracle.Load[traces](t, "testdata/traces.json")
}

// relative is max |a-b| / (|b| + floor).
func relative(a []float64, b hiv.State, floor float64) float64 {
	worst := 0.0
	for i := range b {
		d := math.Abs(a[i]-b[i]) / (math.Abs(b[i]) + floor)
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst = max(worst, d)
	}
	return worst
}

// oneStep is the worst difference over all steps from recorded states.
func oneStep(t *testing.T, o hiv.Options, floor float64) float64 {
	t.Helper()
	env := newEnv(t, o)
	obs := make([]float64, 6)
	worst, steps := 0.0, 0
	for _, c := range load(t).Cases {
		for i, action := range c.Actions {
			env.State = c.States[i]
			if _, err := env.Step(obs, action); err != nil {
				if o.Method == hiv.Adaptive {
					t.Fatalf("%s, %s, step %d: %v", c.Start, c.Rule, i, err)
				}
				return math.Inf(1)
			}
			worst = max(worst, relative(obs, c.States[i+1], floor))
			steps++
		}
	}
	if steps < 600 {
		t.Fatalf("only %d steps", steps)
	}
	return worst
}

// The reference has an absolute tolerance of 1e-12 itself: where the virus is
// nearly gone (states near 1e-8) it is right to about 2e-6 of 1e-6 only, and
// elsewhere to many digits more.
func TestEveryStepMatchesTheReferenceIntegration(t *testing.T) {
	for _, c := range []struct{ tolerance, tiny, bound float64 }{
		{0, 2e-6, 5e-8}, {1e-6, 3e-6, 2e-6}, {1e-12, 2e-6, 3e-8},
	} {
		o := hiv.Options{Tolerance: c.tolerance}
		tiny, got := oneStep(t, o, 1e-6), oneStep(t, o, 1e-3)
		if !(tiny <= c.tiny) || !(got <= c.bound) {
			t.Errorf("tolerance %v: relative difference %.3g near zero, %.3g elsewhere; want at most %v, %v", c.tolerance, tiny, got, c.tiny, c.bound)
		}
	}
}

// Others measured how far methods of fixed steps are from the reference at most;
// ours are no further, and where theirs are unstable, so are ours.
func TestFixedStepsDifferByNoMoreThanOthersMeasured(t *testing.T) {
	want := load(t).Difference
	for _, c := range []struct {
		name string
		o    hiv.Options
	}{
		{"rk4_500", hiv.Options{Method: hiv.RungeKutta, Substeps: 500}},
		{"rk4_1000", hiv.Options{Method: hiv.RungeKutta, Substeps: 1000}},
		{"euler_5000", hiv.Options{Method: hiv.ExplicitEuler, Substeps: 5000}},
	} {
		if got := oneStep(t, c.o, 1e-5); !(got > 0 && got <= want[c.name]) {
			t.Errorf("%s: relative difference %.3g, others measured %.3g", c.name, got, want[c.name])
		}
	}
	if got := oneStep(t, hiv.Options{Method: hiv.RungeKutta, Substeps: 100}, 1e-6); !(got > 100) {
		t.Errorf("100 steps of Runge-Kutta differ by %v only; they should be unstable", got)
	}
}

// Halving the step divides the error by 16 for the classical method and by 2 for
// Euler's.
func TestFixedStepsConvergeWithTheirOrder(t *testing.T) {
	for _, c := range []struct {
		method   hiv.Method
		substeps int
		want     float64
	}{{hiv.RungeKutta, 400, 16}, {hiv.ExplicitEuler, 8000, 2}} {
		coarse := oneStep(t, hiv.Options{Method: c.method, Substeps: c.substeps}, 1)
		fine := oneStep(t, hiv.Options{Method: c.method, Substeps: 2 * c.substeps}, 1)
		if ratio := coarse / fine; !(ratio > 0.85*c.want && ratio < 1.25*c.want) {
			t.Errorf("method %d: errors %.3g and %.3g, ratio %.3g; want about %v", c.method, coarse, fine, ratio, c.want)
		}
	}
}

func TestRewardsOfEveryVariantMatch(t *testing.T) {
	for _, c := range load(t).Cases {
		for _, v := range []struct {
			name string
			o    hiv.Options
			want []float64
		}{
			{"present, 2000", hiv.Options{}, c.Present2},
			{"next, 2000", hiv.Options{RewardTime: hiv.AfterStep}, c.Next2},
			{"present, 20000", hiv.Options{PIWeight: 20000}, c.Present},
			{"next, 20000", hiv.Options{PIWeight: 20000, RewardTime: hiv.AfterStep}, c.Next20},
		} {
			env := newEnv(t, v.o)
			obs := make([]float64, 6)
			for i, action := range c.Actions {
				env.State = c.States[i]
				out, err := env.Step(obs, action)
				if err != nil || out.Terminated || out.Truncated {
					t.Fatalf("%+v, %v", out, err)
				}
				if !(math.Abs(out.Reward-v.want[i]) <= 1e-7*math.Abs(v.want[i])+1e-3) {
					t.Fatalf("%s, %s, %s: step %d pays %v, want %v", c.Start, c.Rule, v.name, i, out.Reward, v.want[i])
				}
			}
		}
	}
}

// A whole episode of treatment and interruption, replayed without correction:
// the model forgets small errors.
func TestDiscountedReturnsMatch(t *testing.T) {
	for _, c := range load(t).Cases {
		env := newEnv(t, hiv.Options{})
		env.State = c.States[0]
		obs := make([]float64, 6)
		got, discount := 0.0, 1.0
		for _, action := range c.Actions {
			out, err := env.Step(obs, action)
			if err != nil {
				t.Fatal(err)
			}
			got += discount * out.Reward
			discount *= 0.98
		}
		if want := c.Returns["present_R2_2000"]; !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
			t.Errorf("%s, %s: return %v, want %v", c.Start, c.Rule, got, want)
		}
	}
}
