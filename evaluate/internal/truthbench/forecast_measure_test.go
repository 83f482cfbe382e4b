//go:build slow && measure

package truthbench_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

// TestForecastTable prints, over the benchmark problems, the half width that a plan forecasts with
// parameters at their defaults, without and with a right guess of weights, and the mean one
// of the releases. The guess is taken from another log of 20,000 persons. It judges nothing.
func TestForecastTable(t *testing.T) {
	fmt.Println("| problem | method | persons | epsilon | effective | missing | without a guess | with it | released | with it / released |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	bare, guessed := map[string][]float64{}, map[string][]float64{}
	for _, p := range truthbench.Problems() {
		if !asked(t, p.Name) {
			continue
		}
		right := rightGuesses(t, p)
		for _, text := range strings.Split(*persons, ",") {
			for _, epsilon := range strings.Split(*epsilons, ",") {
				forecastRow(t, p, right, int(number(t, text)), number(t, epsilon), bare, guessed)
			}
		}
	}
	for _, method := range strings.Split(*methods, ",") {
		tellRatios(method+" without a guess", bare[method])
		tellRatios(method+" with it", guessed[method])
	}
}

func tellRatios(name string, all []float64) {
	slices.Sort(all)
	within := 0
	for _, r := range all {
		if r <= 1.5 && r >= 1/1.5 {
			within++
		}
	}
	if n := len(all); n > 0 {
		fmt.Printf("%s: %d of %d cells within a factor of 1.5 (%.0f%%); least %.2f, median %.2f, largest %.2f\n", name, within, n, 100*float64(within)/float64(n), all[0], all[n/2], all[n-1])
	}
}

func forecastRow(t *testing.T, p truthbench.Problem, right map[bool]evaluate.WeightGuess, n int, epsilon float64, bare, guessed map[string][]float64) {
	public := p.Public(n, epsilon, dp.ReplaceOne)
	for _, method := range strings.Split(*methods, ",") {
		guess := right[method == "dp-pdis" || method == "dp-dr" && p.Horizon > 1 && p.Return == nil]
		plan := planned(t, method, nil, public)
		with := planned(t, method, map[string]any{"guess": guess}, public)
		src := noise.NewSeeded(uint64(n))
		half := 0.0
		for seed := range *draws {
			ready, err := plan.Check(context.Background(), p.Draw(n, uint64(seed)))
			check(t, err)
			r, err := ready.Run(context.Background(), receipt.None(), src)
			check(t, err)
			half += (r.Answers[0].Estimate.Interval[1] - r.Answers[0].Estimate.Interval[0]) / 2 / float64(*draws)
		}
		a, b := plan.Expected.HalfWidth, with.Expected.HalfWidth
		if a > 0 {
			bare[method] = append(bare[method], a/half)
		}
		guessed[method] = append(guessed[method], b/half)
		fmt.Printf("| %s | %s | %d | %g | %.2g | %.2g | %.3g | %.3g | %.3g | %.2f |\n", p.Name, method, n, epsilon, guess.Effective, math.Abs(guess.Missing), a, b, half, b/half)
	}
}
