package cartpole_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/internal/oracle"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/sim"
)

type trace struct {
	Gravity    float64      `json:"gravity"`
	Integrator string       `json:"integrator"`
	Start      string       `json:"start"`
	Rule       string       `json:"action_rule"`
	States     [][4]float64 `json:"states"`
	Actions    []int        `json:"actions"`
	Rewards    []float64    `json:"rewards"`
	Terminated []bool       `json:"terminated"`
}

type traces struct {
	Cases       []trace               `json:"cases"`
	AfterEnd    trace                 `json:"post_termination_case"`
	SuttonBarto trace                 `json:"sutton_barto_case"`
	Starts      map[string][4]float64 `json:"starts"`
	Limits      []struct {
		Version    string  `json:"version"`
		Integrator string  `json:"integrator"`
		Start      string  `json:"start"`
		Length     int     `json:"episode_length"`
		Return     float64 `json:"undiscounted_return"`
		Terminated bool    `json:"last_terminated"`
		Truncated  bool    `json:"gymnasium_truncated"`
	} `json:"time_limit_cases"`
}

func load(t *testing.T) traces {
	t.Helper()
	return oracle.Load[traces](t, "testdata/traces.json")
}

func newEnv(t testing.TB, o cartpole.Options) *cartpole.Env {
	t.Helper()
	env, err := cartpole.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func integrator(name string) cartpole.Integrator {
	if name == "euler" {
		return cartpole.Euler
	}
	return cartpole.SemiImplicitEuler
}

// follow takes every step of a trace from the recorded state. One step of
// Gymnasium and of this package differ in the last bits of sine and cosine.
func follow(t *testing.T, env *cartpole.Env, c trace) {
	t.Helper()
	obs := make([]float64, 4)
	for i, action := range c.Actions {
		env.State = c.States[i]
		out, err := env.Step(obs, action)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range c.States[i+1] {
			if !(math.Abs(obs[j]-want) <= 1e-14) {
				t.Fatalf("g %v, %s, %s, %s: step %d: %v; want %v", c.Gravity, c.Integrator, c.Start, c.Rule, i, obs, c.States[i+1])
			}
		}
		if out != (sim.Outcome{Reward: c.Rewards[i], Terminated: c.Terminated[i]}) {
			t.Fatalf("%s, %s: step %d: %+v; want reward %v, terminated %v", c.Start, c.Rule, i, out, c.Rewards[i], c.Terminated[i])
		}
	}
}

func TestEveryStepMatchesGymnasium(t *testing.T) {
	tr := load(t)
	if len(tr.Cases) < 40 {
		t.Fatalf("only %d cases", len(tr.Cases))
	}
	for _, c := range tr.Cases {
		follow(t, newEnv(t, cartpole.Options{Gravity: c.Gravity, Integrator: integrator(c.Integrator)}), c)
	}
}

func TestStepsAfterTheEndPayAsGymnasiums(t *testing.T) {
	tr := load(t)
	follow(t, newEnv(t, cartpole.Options{}), tr.AfterEnd)
	// Recovered above; outside the limits for the second time there is no pay.
	env := newEnv(t, cartpole.Options{})
	for i, want := range []float64{1, 0, 0} {
		env.State = [4]float64{3, 0, 0, 0}
		if out, _ := env.Step(make([]float64, 4), 1); out.Reward != want || !out.Terminated {
			t.Errorf("step %d outside: %+v; want reward %v", i, out, want)
		}
	}
	env.Reset(make([]float64, 4), rand.New(rand.NewPCG(1, 1)))
	env.State = [4]float64{3, 0, 0, 0}
	if out, _ := env.Step(make([]float64, 4), 1); out.Reward != 1 {
		t.Errorf("first step outside after Reset: %+v", out)
	}
}

func TestSuttonBartoRewardMatchesGymnasium(t *testing.T) {
	env := newEnv(t, cartpole.Options{SuttonBartoReward: true})
	follow(t, env, load(t).SuttonBarto)
	env.State = [4]float64{3, 0, 0, 0}
	if out, _ := env.Step(make([]float64, 4), 1); out.Reward != -1 {
		t.Errorf("a second step outside pays %v, want -1", out.Reward)
	}
}

// The recorded episodes balance the pole by a linear rule, which keeps the
// replay stable.
func TestTimeLimitsMatchGymnasium(t *testing.T) {
	tr := load(t)
	for _, c := range tr.Limits {
		pole := newEnv(t, cartpole.Options{Integrator: integrator(c.Integrator)})
		limit := cartpole.MaxStepsV0
		if c.Version == "CartPole-v1" {
			limit = pole.Spec().MaxSteps
		}
		env := sim.TimeLimit(pole, limit)
		obs := make([]float64, 4)
		env.Reset(obs, rand.New(rand.NewPCG(1, 1)))
		pole.State = tr.Starts[c.Start]
		s := &pole.State
		n, total := 0, 0.0
		for {
			action := 0
			if 0.05*s[0]+0.1*s[1]+s[2]+0.5*s[3] > 0 {
				action = 1
			}
			out, err := env.Step(obs, action)
			if err != nil {
				t.Fatal(err)
			}
			n++
			total += out.Reward
			if out.Terminated || out.Truncated {
				if n != c.Length || total != c.Return || out.Terminated != c.Terminated || out.Truncated != c.Truncated {
					t.Errorf("%s, %s, %s: %+v after %d steps, return %v; want %+v", c.Version, c.Integrator, c.Start, out, n, total, c)
				}
				break
			}
		}
	}
	if len(tr.Limits) < 8 {
		t.Errorf("only %d cases", len(tr.Limits))
	}
}

func TestAccelerationFollowsTheGravity(t *testing.T) {
	for _, g := range []float64{9.7, 9.8, 9.9} {
		// The two actions push in opposite directions, so that their mean is the
		// motion without a push: theta'' = g sin / (l (4/3 - m cos^2 / M)) + (terms
		// in theta'^2, zero here).
		mean := 0.0
		for action := range 2 {
			env := newEnv(t, cartpole.Options{Gravity: g})
			env.State = [4]float64{0, 0, 0.1, 0}
			if _, err := env.Step(make([]float64, 4), action); err != nil {
				t.Fatal(err)
			}
			mean += env.State[3] / 0.02 / 2
		}
		want := g * math.Sin(0.1) / (0.5 * (4.0/3 - 0.1*math.Pow(math.Cos(0.1), 2)/1.1))
		if !(math.Abs(mean-want) <= 1e-12) {
			t.Errorf("gravity %v: angular acceleration %v, want %v", g, mean, want)
		}
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for _, o := range []cartpole.Options{
		{Gravity: -1}, {Gravity: math.NaN()}, {Gravity: math.Inf(1)}, {MaxSteps: -1}, {Integrator: 2}, {Integrator: -1},
	} {
		if _, err := cartpole.New(o); !errors.Is(err, sim.ErrOptions) {
			t.Errorf("New(%+v): %v; want ErrOptions", o, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("action -1 is taken")
		}
	}()
	_, _ = newEnv(t, cartpole.Options{}).Step(make([]float64, 4), -1)
}

func TestStartsFillTheirCube(t *testing.T) {
	env := newEnv(t, cartpole.Options{})
	rng := rand.New(rand.NewPCG(1, 2))
	obs := make([]float64, 4)
	lo, hi := [4]float64{}, [4]float64{}
	for range 2000 {
		env.Reset(obs, rng)
		for i, v := range obs {
			lo[i], hi[i] = min(lo[i], v), max(hi[i], v)
		}
	}
	// 2000 draws all miss the outer hundredth with probability .99^2000 < 2e-9.
	for i := range lo {
		if lo[i] < -0.05 || lo[i] > -0.049 || hi[i] > 0.05 || hi[i] < 0.049 {
			t.Errorf("component %d from %v to %v", i, lo[i], hi[i])
		}
	}
}

func BenchmarkStep(b *testing.B) {
	env := newEnv(b, cartpole.Options{})
	obs := make([]float64, 4)
	rng := rand.New(rand.NewPCG(1, 1))
	env.Reset(obs, rng)
	b.ReportAllocs()
	steps := 0
	for b.Loop() {
		if out, _ := env.Step(obs, steps%2); out.Terminated {
			env.Reset(obs, rng)
		}
		steps++
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}
