package xie19

import (
	"context"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
)

// The walker makes, bit for bit, what the estimator makes of the first m persons
// alone: on the chain, and with dense features on-policy and off-policy.
func TestWalkerIsTheEstimator(t *testing.T) {
	ctx := context.Background()
	const all, m = 90, 60
	for _, accountant := range []bool{false, true} {
		c, err := chainPersons(3, all)
		if err != nil {
			t.Fatal(err)
		}
		g := gpope(0.1, clip, accountant)
		public := problem(m).Public()
		public.Privacy.Fast = true
		plan, err := g.Plan(public)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := problem(m).Simulate(seedOf(3))
		if err != nil {
			t.Fatal(err)
		}
		want, err := onchain.Draw(ctx, plan, alone, 7)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := beside(ctx, c.walk, g, plan, m); err != nil || !slices.Equal(got, want.Theta) {
			t.Errorf("chain: %v, %v; want %v", got, err, want.Theta)
		}
	}
	for _, of := range []func() (*view, error){carOn, carOff, treatment} {
		v := small(t, of)
		p, err := v.people(ctx, 3, all)
		if err != nil {
			t.Fatal(err)
		}
		g := gpope(0.3, carClip, true)
		public := v.public(m, budget(), v.features, v.target)
		public.Privacy.Fast = true
		plan, err := g.Plan(public)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := v.simulate(ctx, m, seedOf(3))
		if err != nil {
			t.Fatal(err)
		}
		want, err := onchain.Draw(ctx, plan, alone, 7)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := beside(ctx, p.walk, g, plan, m); err != nil || !slices.Equal(got, want.Theta) {
			t.Errorf("%s, %s: %v, %v; want %v", v.world.name, v.name, got, err, want.Theta)
		}
	}
}

// beside is the second of three walks side by side; the others have another step and
// another clip.
func beside(ctx context.Context, w *walker, g evaluate.GPOPE, plan *evaluate.Plan, m int) ([]float64, error) {
	fast, free := g, g
	fast.StepTheta, fast.StepW = 10*g.StepTheta, 10*g.StepW
	free.Clip = 50 * g.Clip
	got, err := w.theta(ctx, []evaluate.GPOPE{fast, g, free}, []*evaluate.Plan{plan, plan, plan}, m, noise.NewSeeded(7))
	if err != nil {
		return nil, err
	}
	return got[1], nil
}

// Every other method, too, releases what it releases on the first m persons
// alone, simulated for themselves and through the features of the problem.
func TestSharedPersonsGiveTheSameReleases(t *testing.T) {
	ctx := context.Background()
	const all, m = 90, 60
	for _, of := range []func() (*view, error){carOn, carOff, treatment} {
		v := small(t, of)
		p, err := v.people(ctx, 3, all)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := v.simulate(ctx, m, seedOf(3))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []curve{
			{series: "batch", estimator: evaluate.GPOPE{Batch: 20, Iterations: 50, Clip: 0.1, StepTheta: 1, StepW: 0.3}, budget: stated(1)},
			{series: "refine", estimator: evaluate.DPRefine{Form: "lstd"}, budget: stated(1)},
			{series: "lstd", estimator: evaluate.WISLSTD{Weighting: "trajectory"}},
		} {
			plan, err := c.estimator.Plan(v.public(m, c.budget, v.features, v.target))
			if err != nil {
				t.Fatal(err)
			}
			want, err := onchain.Draw(ctx, plan, alone, 7)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := p.weights(ctx, []curve{c}, m, 7); err != nil || !slices.Equal(got[0], want.Theta) {
				t.Errorf("%s, %s, %s: %v, %v; want %v", v.world.name, v.name, c.series, got, err, want.Theta)
			}
		}
	}
}
