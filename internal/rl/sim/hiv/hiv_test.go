package hiv_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/hiv"
	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/sim"
)

func newEnv(t testing.TB, o hiv.Options) *hiv.Env {
	t.Helper()
	env, err := hiv.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestStartsAreThoseOfTheLiterature(t *testing.T) {
	tr := load(t)
	for name, got := range map[string]hiv.State{
		"unhealthy": hiv.Unhealthy(), "healthy": hiv.Healthy(),
		"uninfected": hiv.Uninfected(), "early_infection_whynot": hiv.EarlyInfection(),
	} {
		if got != tr.Starts[name] {
			t.Errorf("%s: %v, want %v", name, got, tr.Starts[name])
		}
	}
	if env := newEnv(t, hiv.Options{}); env.State != tr.Starts["unhealthy"] {
		t.Errorf("starts at %v", env.State)
	}
	// The rates vanish at the published fixed points, as far as their digits and
	// cancellation allow.
	p := hiv.Adams2004()
	for name, s := range tr.Steady {
		var rate hiv.State
		p.Derivative(rate[:], s.Fixed[:], 0, 0)
		for i, v := range rate {
			if !(math.Abs(v) <= 1e-8*s.Fixed[i]) {
				t.Errorf("%s: component %d changes by %v a day at the fixed point", name, i, v)
			}
		}
	}
}

func TestActionOrdersNameTheDrugs(t *testing.T) {
	// From the same state, what RTI does under one order PI's number does under
	// the other.
	for action, other := range []int{0, 2, 1, 3} {
		a, b := newEnv(t, hiv.Options{}), newEnv(t, hiv.Options{ActionOrder: hiv.PIFirst})
		x, y := make([]float64, 6), make([]float64, 6)
		outA, _ := a.Step(x, action)
		outB, _ := b.Step(y, other)
		if outA != outB || a.State != b.State {
			t.Errorf("action %d: %v, %v; action %d of the other order: %v, %v", action, x, outA, other, y, outB)
		}
	}
	// Only the first drug costs 20000 * .49.
	env := newEnv(t, hiv.Options{})
	free, _ := env.Step(make([]float64, 6), 0)
	env.State = hiv.Unhealthy()
	rti, _ := env.Step(make([]float64, 6), 1)
	if got := free.Reward - rti.Reward; !(math.Abs(got-9800) <= 1e-9) {
		t.Errorf("the reverse transcriptase inhibitor costs %v, want 9800", got)
	}
}

func TestObservationsOfEveryVariant(t *testing.T) {
	for _, c := range []struct {
		o       hiv.Options
		columns string
		want    []float64
	}{
		{hiv.Options{}, "[obs_T1 obs_T1star obs_T2 obs_T2star obs_V obs_E]", []float64{163573, 11945, 5, 46, 63919, 24}},
		{hiv.Options{UninfectedFirst: true}, "[obs_T1 obs_T2 obs_T1star obs_T2star obs_V obs_E]", []float64{163573, 5, 11945, 46, 63919, 24}},
		{hiv.Options{Log10: true, Start: hiv.Uninfected()},
			"[obs_log10_T1 obs_log10_T1star obs_log10_T2 obs_log10_T2star obs_log10_V obs_log10_E]",
			[]float64{6, -5, math.Log10(3198), -5, -5, 1}},
	} {
		env := newEnv(t, c.o)
		obs := make([]float64, 6)
		env.Reset(obs, rand.New(rand.NewPCG(1, 1)))
		if got := fmt.Sprint(env.Spec().Columns); got != c.columns {
			t.Errorf("columns %s, want %s", got, c.columns)
		}
		for i, want := range c.want {
			if !(math.Abs(obs[i]-want) <= 1e-12) {
				t.Errorf("%s: %v, want %v", c.columns, obs, c.want)
				break
			}
		}
	}
}

func TestPopulationsStayInTheirRanges(t *testing.T) {
	perturbed, err := hiv.Perturbed(0.25)
	if err != nil {
		t.Fatal(err)
	}
	base := hiv.Adams2004()
	rng := rand.New(rand.NewPCG(3, 4))
	k1 := map[float64]bool{}
	for range 500 {
		p := hiv.Randomised(base, rng)
		if p.K1 < 5e-7 || p.K1 > 8e-7 || p.K2 < 1e-5 || p.K2 > 1e-4 || p.F < 0.29 || p.F > 0.34 || p.C != base.C {
			t.Fatalf("randomised: %+v", p)
		}
		q := perturbed(base, rng)
		for _, r := range []float64{q.Lambda1 / base.Lambda1, q.Lambda2 / base.Lambda2, q.K1 / base.K1, q.K2 / base.K2,
			q.F / base.F, q.M1 / base.M1, q.M2 / base.M2, q.LambdaE / base.LambdaE, q.BE / base.BE, q.Kb / base.Kb,
			q.DE / base.DE, q.Kd / base.Kd} {
			if !(r >= 0.75-1e-12 && r <= 1.25+1e-12) {
				t.Fatalf("perturbed by %v: %+v", r, q)
			}
		}
		if q.C != base.C || q.Delta != base.Delta || q.D1 != base.D1 {
			t.Fatalf("perturbed: %+v", q)
		}
		k1[p.K1] = true
	}
	if len(k1) != 500 {
		t.Errorf("%d different patients of 500", len(k1))
	}
	if _, err := hiv.Perturbed(1); !errors.Is(err, sim.ErrOptions) {
		t.Errorf("Perturbed(1): %v", err)
	}
}

// Different patients go different ways, and a spread start begins elsewhere.
func TestPatientsDiffer(t *testing.T) {
	env := newEnv(t, hiv.Options{Population: hiv.Randomised, StartSpread: 0.2})
	rng := rand.New(rand.NewPCG(1, 1))
	first, second := make([]float64, 6), make([]float64, 6)
	env.Reset(first, rng)
	env.Reset(second, rng)
	for i, start := range hiv.Unhealthy() {
		if first[i] == second[i] || math.Abs(first[i]/start-1) > 0.2 {
			t.Errorf("component %d starts at %v and %v", i, first[i], second[i])
		}
	}
	states := map[float64]bool{}
	for range 3 {
		env.Reset(first, rng)
		env.State = hiv.Unhealthy()
		if _, err := env.Step(first, 3); err != nil {
			t.Fatal(err)
		}
		states[first[4]] = true
	}
	if len(states) != 3 {
		t.Errorf("three patients end at %v", states)
	}
}

func TestClipBoundsTheState(t *testing.T) {
	bound := hiv.State{1e6, 5e4, 3200, 80, 2.5e5, 353200}
	env := newEnv(t, hiv.Options{Clip: &bound, Start: hiv.EarlyInfection()})
	obs := make([]float64, 6)
	clipped := false
	for range 100 {
		if _, err := env.Step(obs, 0); err != nil {
			t.Fatal(err)
		}
		for i, v := range obs {
			if v > bound[i] || v < 0 {
				t.Fatalf("component %d is %v", i, v)
			}
			clipped = clipped || v == bound[i]
		}
	}
	if !clipped {
		t.Error("nothing was clipped")
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	broken, unsaturated := hiv.Adams2004(), hiv.Adams2004()
	broken.C, unsaturated.Kb = math.NaN(), 0
	negative, zeroClip := hiv.State{1, -1}, hiv.State{1, 1, 1, 1, 1, 0}
	for i, o := range []hiv.Options{
		{Parameters: &broken}, {Parameters: &unsaturated}, {Start: negative}, {Clip: &zeroClip},
		{StartSpread: 1.1}, {StartSpread: math.NaN()}, {PIWeight: -1}, {Days: -5}, {Days: math.Inf(1)}, {MaxSteps: -1},
		{Tolerance: 1e-20}, {Tolerance: 2}, {ActionOrder: 2}, {RewardTime: 2}, {Method: 3}, {Substeps: 5},
		{Method: hiv.RungeKutta}, {Method: hiv.ExplicitEuler, Substeps: 1 << 30},
	} {
		if _, err := hiv.New(o); !errors.Is(err, sim.ErrOptions) {
			t.Errorf("case %d: New(%+v): %v; want ErrOptions", i, o, err)
		}
	}
}

func TestAnEpisodeThatCannotBeIntegratedIsAnError(t *testing.T) {
	env := newEnv(t, hiv.Options{Method: hiv.ExplicitEuler, Substeps: 2})
	var err error
	for range 50 {
		if _, err = env.Step(make([]float64, 6), 0); err != nil {
			break
		}
	}
	if !errors.Is(err, xmath.ErrIntegration) {
		t.Errorf("two steps of Euler in five days: %v; want ErrIntegration", err)
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	env := newEnv(t, hiv.Options{Log10: true})
	obs := make([]float64, 6)
	if n := testing.AllocsPerRun(20, func() {
		if _, err := env.Step(obs, 3); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Step allocates %v times", n)
	}
}

func BenchmarkStep(b *testing.B) {
	env := newEnv(b, hiv.Options{})
	obs := make([]float64, 6)
	rng := rand.New(rand.NewPCG(1, 1))
	env.Reset(obs, rng)
	b.ReportAllocs()
	steps := 0
	for b.Loop() {
		if _, err := env.Step(obs, rng.IntN(4)); err != nil {
			b.Fatal(err)
		}
		if steps++; steps%200 == 0 {
			env.Reset(obs, rng)
		}
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
