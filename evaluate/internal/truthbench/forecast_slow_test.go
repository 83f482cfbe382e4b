//go:build slow

package truthbench_test

import (
	"context"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// TestForecastFromARightGuess: given the effective sample size and the missing mass of
// weights, plans forecast the half width of what is released within a factor of 1.6, where
// nothing is missing and where most of the mass is. Seeds are fixed; the half width of these releases
// varies by a few percent, and with five logs the forecasts were within 1.4.
func TestForecastFromARightGuess(t *testing.T) {
	const persons = 2000
	problems := []string{"arm never tried, worth 1", "clinical 12 near", "garnet 5 near", "heavy tails"}
	for _, p := range truthbench.Problems() {
		if !slices.Contains(problems, p.Name) {
			continue
		}
		right := rightGuesses(t, p)
		for _, method := range []string{"dp-pdis", "dp-wis"} {
			plan := planned(t, method, map[string]any{"guess": right[method == "dp-pdis"]}, p.Public(persons, 1, dp.ReplaceOne))
			ready, err := plan.Check(context.Background(), p.Draw(persons, 1))
			check(t, err)
			r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(11))
			check(t, err)
			half := (r.Answers[0].Estimate.Interval[1] - r.Answers[0].Estimate.Interval[0]) / 2
			if ratio := plan.Expected.HalfWidth / half; ratio > 1.6 || ratio < 1/1.6 {
				t.Errorf("%s, %s: forecast %.3g, released %.3g", p.Name, method, plan.Expected.HalfWidth, half)
			}
		}
	}
}

// rightGuesses are those of whole trajectories and of weights decision by decision.
func rightGuesses(t *testing.T, p truthbench.Problem) map[bool]evaluate.WeightGuess {
	const n, cut = 20000, 64
	s, err := value.NewSample(p.Draw(n, 1<<40), value.Options{Gamma: p.Gamma, Policy: p.Target})
	check(t, err)
	public := p.Public(n, 1, dp.ReplaceOne)
	numbers := facts.Public{Persons: n, Gamma: p.Gamma, Reward: facts.Range(public.Reward), Returns: facts.Range(public.Returns()), Horizon: int64(p.Horizon)}
	out := map[bool]evaluate.WeightGuess{}
	for _, steps := range []bool{false, true} {
		x, z := make([]float64, n), make([]float64, n)
		if steps {
			scalar.StepwiseOf(numbers, false).Contributions(x, z, s)
		} else {
			scalar.WholeOf(numbers, false).Contributions(x, z, s)
		}
		mean, square := 0.0, 0.0
		for i := range x {
			w := min(x[i]+z[i], cut)
			mean += w / n
			square += w * w / n
		}
		out[steps] = evaluate.WeightGuess{Effective: min(mean*mean/square, 1), Missing: max(1-mean, 0)}
	}
	return out
}

func planned(t *testing.T, method string, params map[string]any, public evaluate.Public) *evaluate.Plan {
	e, err := evaluate.New(method, params)
	check(t, err)
	plan, err := e.Plan(public)
	check(t, err)
	return plan
}
