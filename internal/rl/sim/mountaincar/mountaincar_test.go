package mountaincar_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/internal/oracle"
	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/sim"
	"pgregory.net/rapid"
)

type traces struct {
	Cases []struct {
		Start        string       `json:"start"`
		Rule         string       `json:"action_rule"`
		GoalVelocity float64      `json:"goal_velocity"`
		States       [][2]float64 `json:"states"`
		Actions      []int        `json:"actions"`
		Rewards      []float64    `json:"rewards"`
		Terminated   []bool       `json:"terminated"`
		Truncated    bool         `json:"truncated_at_200"`
	} `json:"cases"`
}

func load(t *testing.T) traces {
	t.Helper()
	return oracle.Load[traces](t, "testdata/traces.json")
}

func newEnv(t testing.TB, o mountaincar.Options) *mountaincar.Env {
	t.Helper()
	env, err := mountaincar.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestEveryStepMatchesGymnasium(t *testing.T) {
	steps := 0
	for _, c := range load(t).Cases {
		env := newEnv(t, mountaincar.Options{GoalVelocity: c.GoalVelocity})
		obs := make([]float64, 2)
		for i, action := range c.Actions {
			env.State = c.States[i]
			out, err := env.Step(obs, action)
			want := c.States[i+1]
			if err != nil || !(math.Abs(obs[0]-want[0]) <= 1e-15) || !(math.Abs(obs[1]-want[1]) <= 1e-16) {
				t.Fatalf("%s, %s, step %d: %v, %v; want %v", c.Start, c.Rule, i, obs, err, want)
			}
			if out != (sim.Outcome{Reward: c.Rewards[i], Terminated: c.Terminated[i]}) {
				t.Fatalf("%s, %s, step %d: %+v; want reward %v, terminated %v", c.Start, c.Rule, i, out, c.Rewards[i], c.Terminated[i])
			}
			steps++
		}
	}
	if steps < 2000 {
		t.Fatalf("only %d steps compared", steps)
	}
}

// Whole episodes end as recorded, the time limit included: Mountain Car is
// stable enough to be replayed without correction.
func TestWholeEpisodesEndAsRecorded(t *testing.T) {
	for _, c := range load(t).Cases {
		car := newEnv(t, mountaincar.Options{GoalVelocity: c.GoalVelocity})
		env := sim.TimeLimit(car, mountaincar.MaxSteps)
		obs := make([]float64, 2)
		env.Reset(obs, rand.New(rand.NewPCG(1, 1)))
		car.State = c.States[0]
		n := 0
		for done := false; !done; n++ {
			out, err := env.Step(obs, c.Actions[n])
			if err != nil {
				t.Fatal(err)
			}
			done = out.Terminated || out.Truncated
			if done && out.Truncated != (c.Truncated || n+1 == mountaincar.MaxSteps) {
				t.Errorf("%s, %s: truncated %v after %d steps", c.Start, c.Rule, out.Truncated, n+1)
			}
		}
		if n != len(c.Actions) || !(math.Abs(obs[0]-c.States[n][0]) <= 1e-12) {
			t.Errorf("%s, %s: %d steps to %v; want %d to %v", c.Start, c.Rule, n, obs, len(c.Actions), c.States[n])
		}
	}
}

func TestAGoalPassedTooSlowlyDoesNotEnd(t *testing.T) {
	for _, c := range []struct {
		goal float64
		want bool
	}{{0, true}, {0.05, false}, {math.Inf(-1), true}} {
		env := newEnv(t, mountaincar.Options{GoalVelocity: c.goal})
		env.State = [2]float64{0.499, 0.02}
		if out, _ := env.Step(make([]float64, 2), 2); out.Terminated != c.want {
			t.Errorf("goal velocity %v: terminated %v at %v", c.goal, out.Terminated, env.State)
		}
	}
	// Rolling back over the goal ends an episode only without the condition.
	for goal, want := range map[float64]bool{0: false, math.Inf(-1): true} {
		env := newEnv(t, mountaincar.Options{GoalVelocity: goal})
		env.State = [2]float64{0.58, -0.01}
		if out, _ := env.Step(make([]float64, 2), 1); out.Terminated != want {
			t.Errorf("goal velocity %v: terminated %v at %v", goal, out.Terminated, env.State)
		}
	}
}

func TestStatesStayInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, err := mountaincar.New(mountaincar.Options{})
		if err != nil {
			t.Fatal(err)
		}
		obs := make([]float64, 2)
		env.Reset(obs, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		if obs[0] < -0.6 || obs[0] > -0.4 || obs[1] != 0 {
			t.Fatalf("starts at %v", obs)
		}
		for _, a := range rapid.SliceOfN(rapid.IntRange(0, 2), 1, 300).Draw(t, "actions") {
			if _, err := env.Step(obs, a); err != nil {
				t.Fatal(err)
			}
			if math.Abs(obs[1]) > mountaincar.MaxSpeed || obs[0] < mountaincar.MinPosition || obs[0] > mountaincar.MaxPosition {
				t.Fatalf("state %v", obs)
			}
		}
	})
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	if _, err := mountaincar.New(mountaincar.Options{GoalVelocity: math.NaN()}); !errors.Is(err, sim.ErrOptions) {
		t.Errorf("New: %v; want ErrOptions", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("action 3 is taken")
		}
	}()
	_, _ = newEnv(t, mountaincar.Options{}).Step(make([]float64, 2), 3)
}

func BenchmarkStep(b *testing.B) {
	env := newEnv(b, mountaincar.Options{})
	obs := make([]float64, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	env.Reset(obs, rng)
	b.ReportAllocs()
	steps := 0
	for b.Loop() {
		if out, _ := env.Step(obs, steps%3); out.Terminated {
			env.Reset(obs, rng)
		}
		steps++
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}
