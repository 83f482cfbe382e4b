package acrobot_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/oracle"
	"github.com/discreet-rl/discreet/internal/rl/sim/acrobot"
	"github.com/discreet-rl/discreet/rl/sim"
)

type traces struct {
	Cases []struct {
		Equation     string       `json:"equation"`
		Rule         string       `json:"action_rule"`
		States       [][4]float64 `json:"states"`
		Actions      []int        `json:"actions"`
		Rewards      []float64    `json:"rewards"`
		Terminated   []bool       `json:"terminated"`
		Observations [][6]float64 `json:"observations"`
	} `json:"cases"`
}

func newEnv(t testing.TB, e acrobot.Equation) *acrobot.Env {
	t.Helper()
	env, err := acrobot.New(acrobot.Options{Equation: e})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func equation(name string) acrobot.Equation {
	if name == "nips" {
		return acrobot.NIPS
	}
	return acrobot.Book
}

// TestEveryStepMatchesGymnasium from the recorded state, in both equations; observations are recorded as float32.
func TestEveryStepMatchesGymnasium(t *testing.T) {
	steps, ends := 0, 0
	for _, c := range oracle.Load[traces](t, "testdata/traces.json").Cases {
		env, obs := newEnv(t, equation(c.Equation)), make([]float64, 6)
		for i, action := range c.Actions {
			env.State = c.States[i]
			out, err := env.Step(obs, action)
			for j, want := range c.States[i+1] {
				if err != nil || !(math.Abs(env.State[j]-want) <= 1e-11) {
					t.Fatalf("%s, %s, step %d: %v, %v; want %v", c.Equation, c.Rule, i, env.State, err, c.States[i+1])
				}
			}
			for j, want := range c.Observations[i] {
				if !(math.Abs(obs[j]-want) <= 2e-6) {
					t.Fatalf("%s, %s, step %d: observed %v; want %v", c.Equation, c.Rule, i, obs, c.Observations[i])
				}
			}
			if out != (sim.Outcome{Reward: c.Rewards[i], Terminated: c.Terminated[i]}) {
				t.Fatalf("%s, %s, step %d: %+v; want reward %v, terminated %v", c.Equation, c.Rule, i, out, c.Rewards[i], c.Terminated[i])
			}
			steps++
			if out.Terminated {
				ends++
			}
		}
	}
	if steps < 250 || ends < 3 {
		t.Errorf("only %d steps compared, %d of them at the height", steps, ends)
	}
}

// energy of the equation of the book, by kinetic and potential energy of two links (Lagrange), written
// from the positions of their centres.
func energy(s [4]float64) float64 {
	const g, c = 9.8, .5
	sin1, cos1 := math.Sincos(s[0])
	sin12, cos12 := math.Sincos(s[0] + s[1])
	w1, w12 := s[2], s[2]+s[3]
	v1x, v1y := c*cos1*w1, c*sin1*w1
	v2x, v2y := cos1*w1+c*cos12*w12, sin1*w1+c*sin12*w12
	kinetic := (v1x*v1x+v1y*v1y+v2x*v2x+v2y*v2y)/2 + (w1*w1+w12*w12)/2
	return kinetic - g*c*cos1 - g*(cos1+c*cos12)
}

// TestWithoutTorqueEnergyStays in the equation of the book, up to the error of its integration, which 0.2 s of slow motion
// keep small; that of the paper, which leaves out a term, is no conservative motion.
func TestWithoutTorqueEnergyStays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		env, err := acrobot.New(acrobot.Options{})
		if err != nil {
			r.Fatal(err)
		}
		for i := range env.State {
			env.State[i] = rapid.Float64Range(-.5, .5).Draw(r, "state")
		}
		before := energy(env.State)
		if _, err := env.Step(make([]float64, 6), 1); err != nil {
			r.Fatal(err)
		}
		if change := energy(env.State) - before; math.Abs(change) > .02 {
			r.Fatalf("energy changes by %v in a step without torque", change)
		}
	})
	change := func(e acrobot.Equation) float64 {
		env := newEnv(t, e)
		env.State = [4]float64{0, 1, 2, 0}
		before := energy(env.State)
		if _, err := env.Step(make([]float64, 6), 1); err != nil {
			t.Fatal(err)
		}
		return math.Abs(energy(env.State) - before)
	}
	if book, nips := change(acrobot.Book), change(acrobot.NIPS); !(book < .05 && nips > 5*book) {
		t.Errorf("energy changes by %v (book), %v (paper)", book, nips)
	}
}

func TestStatesStayInBounds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		env, err := acrobot.New(acrobot.Options{Equation: acrobot.Equation(rapid.IntRange(0, 1).Draw(r, "equation"))})
		if err != nil {
			r.Fatal(err)
		}
		obs := make([]float64, 6)
		env.Reset(obs, rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0)))
		for i, v := range env.State {
			if math.Abs(v) > .1 {
				r.Fatalf("component %d starts at %v", i, v)
			}
		}
		ranges := env.Spec().Ranges
		for _, a := range rapid.SliceOfN(rapid.IntRange(0, 2), 1, 500).Draw(r, "actions") {
			if _, err := env.Step(obs, a); err != nil {
				r.Fatal(err)
			}
			for i, v := range obs {
				if !(v >= ranges[i].Low && v <= ranges[i].High) {
					r.Fatalf("observation %d is %v; want it in %v", i, v, ranges[i])
				}
			}
			if math.Abs(env.State[0]) > math.Pi || math.Abs(env.State[1]) > math.Pi {
				r.Fatalf("angles %v", env.State[:2])
			}
		}
	})
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for _, e := range []acrobot.Equation{-1, 2} {
		if _, err := acrobot.New(acrobot.Options{Equation: e}); !errors.Is(err, sim.ErrOptions) {
			t.Errorf("equation %d: %v; want ErrOptions", e, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("action 3 is taken")
		}
	}()
	_, _ = newEnv(t, acrobot.Book).Step(make([]float64, 6), 3)
}

func BenchmarkStep(b *testing.B) {
	env, obs, rng := newEnv(b, acrobot.Book), make([]float64, 6), rand.New(rand.NewPCG(1, 1))
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
