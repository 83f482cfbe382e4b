//go:build slow

package truthbench_test

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

// TestValueFunctionsOnTheBench: on every problem dp-refine errs less than dp-lsw at
// exact constants, and its bands hold at least 70% of the values, 90% over all
// problems. Seeds are fixed; over 100 other logs the shares are 85% to 99%, 96% over all.
func TestValueFunctionsOnTheBench(t *testing.T) {
	const logs, persons = 20, 3000
	held, states := 0, 0
	for _, f := range truthbench.Functions() {
		src := noise.NewSeeded(7)
		var square [2]float64
		in, of := 0, 0
		var plans []*evaluate.Plan
		for _, method := range []evaluate.Estimator{evaluate.DPRefine{}, evaluate.DPLSW{}} {
			plan, err := method.Plan(f.Public(persons, 1, dp.ReplaceOne))
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, plan)
		}
		for seed := range logs {
			d := f.Draw(persons, uint64(5000+seed))
			for i, plan := range plans {
				ready, err := plan.Check(context.Background(), d)
				if err != nil {
					t.Fatal(err)
				}
				r, err := ready.Run(context.Background(), receipt.None(), src)
				if err != nil {
					t.Fatal(err)
				}
				for s, v := range r.Values {
					square[i] += (v - f.V[s]) * (v - f.V[s])
					if r.Bands != nil {
						of++
						if r.Bands.Lower[s] <= f.V[s] && f.V[s] <= r.Bands.Upper[s] {
							in++
						}
					}
				}
			}
		}
		held, states = held+in, states+of
		t.Logf("%s: bands hold %.1f%%; error %.2f of that of dp-lsw", f.Name, 100*float64(in)/float64(of), math.Sqrt(square[0]/square[1]))
		if float64(in) < 0.7*float64(of) || square[0] > square[1] {
			t.Errorf("%s: bands hold %d of %d values; the error is %.2f of that of dp-lsw", f.Name, in, of, math.Sqrt(square[0]/square[1]))
		}
	}
	if float64(held) < 0.9*float64(states) {
		t.Errorf("bands hold %d of %d values", held, states)
	}
}
