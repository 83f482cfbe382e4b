//go:build slow && measure

package truthbench_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

// TestBandsTable prints which share of values lie in the bands of dp-refine, and how often
// the value over first states does: in the worlds that break what bands suppose, and on the
// benchmark problems of value functions. It judges nothing.
func TestBandsTable(t *testing.T) {
	fmt.Println("| problem | persons | epsilon | values in their bands | last state in its band | mean width, of the range | value at the start in its band | its stated deviation by its error |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, f := range truthbench.Worlds() {
		for _, n := range []int{300, 5000} {
			for _, epsilon := range []float64{1, 10} {
				bandsRow(t, f, n, epsilon)
			}
		}
	}
	for _, f := range truthbench.Functions() {
		for _, n := range []int{300, 3000} {
			for _, epsilon := range []float64{1, 10} {
				bandsRow(t, f, n, epsilon)
			}
		}
	}
}

// bandsRow counts over so many logs.
func bandsRow(t *testing.T, f truthbench.Function, persons int, epsilon float64) {
	if !asked(t, f.Name) {
		return
	}
	public := f.Public(persons, epsilon, dp.ReplaceOne)
	public.Start = f.Start
	plan, err := evaluate.DPRefine{}.Plan(public)
	check(t, err)
	src := noise.NewSeeded(uint64(persons))
	held, last, started, width, stated, square := 0, 0, 0, 0.0, 0.0, 0.0
	for seed := range *draws {
		ready, err := plan.Check(context.Background(), f.Draw(persons, uint64(seed)))
		check(t, err)
		r, err := ready.Run(context.Background(), receipt.None(), src)
		check(t, err)
		if e := r.Start; e.Band[0] <= f.J && f.J <= e.Band[1] {
			started++
		}
		stated += r.Start.StdAtMost / float64(*draws)
		square += (r.Start.Value - f.J) * (r.Start.Value - f.J) / float64(*draws)
		for s, v := range f.V {
			width += r.Bands.Upper[s] - r.Bands.Lower[s]
			if r.Bands.Lower[s] <= v && v <= r.Bands.Upper[s] {
				held++
				if s == len(f.V)-1 {
					last++
				}
			}
		}
	}
	values := float64(*draws * len(f.V))
	fmt.Printf("| %s | %d | %g | %.1f%% | %.0f%% | %.3f | %.0f%% | %.2g |\n", f.Name, persons, epsilon, 100*float64(held)/values,
		100*float64(last)/float64(*draws), width/values/public.Returns().Width(), 100*float64(started)/float64(*draws), stated/math.Sqrt(square))
}
