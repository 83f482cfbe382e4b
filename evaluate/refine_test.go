package evaluate

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// refineHorizon is a public cap that the chain's trajectories stay under but for
// a chance below 1e-9 each: 40 advances need more than 200 fair coins with
// probability about 2e-10.
const refineHorizon = 200

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// chainPublic is the chain as dp-refine sees it.
func chainPublic(persons int64, epsilon float64, target policy.Policy) Public {
	return Public{
		Persons: persons, Gamma: 0.99, Horizon: refineHorizon,
		Reward: Range{Min: 0, Max: 1}, Return: &Range{Min: 0, Max: 1},
		Features: must(feature.NewTabular(chain.States, chain.Column)), Target: target,
		Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: sameNoise(dp.Budget{Epsilon: epsilon, Delta: 1e-5})},
	}
}

// sameNoise is the budget at delta 1e-6 that allows the same mu, and so the same
// noise, as b: published figures are at delta 1e-5 for up to 300,000 persons,
// where a delta above 1/persons is refused.
func sameNoise(b dp.Budget) dp.Budget {
	const delta = 1e-6
	mu := must(account.GaussianMu(b))
	return dp.Budget{Epsilon: must(account.GaussianEpsilon(mu.Lower, delta)).Upper, Delta: delta}
}

func chainData(persons int, seed uint64) *trajectory.Dataset {
	return must(chain.Simulate(chain.Options{Episodes: persons, Seed: seed, MaxSteps: refineHorizon}))
}

// perform takes a method through all four steps.
func perform(t testing.TB, e Estimator, p Public, d *trajectory.Dataset, src *noise.Source) *Release {
	t.Helper()
	plan, err := e.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := plan.Check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	release, err := ready.Run(context.Background(), receipt.None(), src)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// rmseOf is the root mean square difference.
func rmseOf(got, want []float64) float64 {
	sum := 0.0
	for i := range got {
		sum += (got[i] - want[i]) * (got[i] - want[i])
	}
	return math.Sqrt(sum / float64(len(want)))
}

// refineError is the mean RMSE over trials of dp-refine on the chain, and its
// standard error.
func refineError(t testing.TB, e Estimator, p Public, advance float64, trials int) (mean, stderr float64) {
	t.Helper()
	truth := chain.Values(advance, p.Gamma)
	var sum, square float64
	for trial := range trials {
		d := chainData(int(p.Persons), 100+uint64(trial))
		x := rmseOf(perform(t, e, p, d, noise.NewSeeded(uint64(trial))).Values, truth)
		sum += x
		square += x * x
	}
	n := float64(trials)
	mean = sum / n
	return mean, math.Sqrt(max(square/n-mean*mean, 0) / max(n-1, 1))
}

// refineCells are the settings with the error that dp-refine must not exceed.
var refineCells = []struct {
	persons int64
	epsilon float64
	most    float64
}{
	{1e3, 1, 0.04},
	{1e4, 0.1, 0.03},
	{1e5, 0.1, 0.0025},
	{3e5, 1, 0.0003},
}

func TestRefineErrorOnTheChain(t *testing.T) {
	for _, c := range refineCells {
		trials := min(refineTrials, refinePersons/int(c.persons))
		if trials == 0 {
			continue
		}
		p := chainPublic(c.persons, c.epsilon, policy.Logged{})
		mean, stderr := refineError(t, DPRefine{}, p, 0.5, trials)
		plan := must(DPRefine{}.Plan(p))
		t.Logf("persons %d, epsilon %g: RMSE %.6f +- %.6f over %d trials, expected %.6f", c.persons, c.epsilon, mean, stderr, trials, plan.Expected.RMSE)
		if !(mean <= c.most) {
			t.Errorf("persons %d, epsilon %g: RMSE %.5f; want at most %v", c.persons, c.epsilon, mean, c.most)
		}
	}
}
