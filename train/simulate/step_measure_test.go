//go:build measure

package simulate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// TestStepTable prints how the length of a step trades speed for safety: the linear
// policy, sign-PRS, one episode a report, 20 trials of 8000 reports.
func TestStepTable(t *testing.T) {
	fmt.Println("epsilon  step  success  first success (median)  last tenth (lowest, median)")
	for _, epsilon := range []float64{.5, 1} {
		for _, step := range []float64{.1, .2, .3} {
			const trials = 20
			firsts, lasts := make([]float64, trials), make([]float64, trials)
			var wg sync.WaitGroup
			slots := make(chan struct{}, 2)
			for trial := range trials {
				wg.Go(func() {
					slots <- struct{}{}
					defer func() { <-slots }()
					c := ours(uint64(trial+1), train.SignPRS, epsilon, 8000)
					c.Threads, c.Terms.Optimizer.Step = 1, step
					r, err := simulate.Run(context.Background(), c)
					if err != nil {
						t.Error(err)
						return
					}
					firsts[trial], lasts[trial] = float64(first(r.Scores)), simulate.Retention(r.Scores, .1)
				})
			}
			wg.Wait()
			succeeded := 0
			for i, n := range firsts {
				if n > 0 {
					succeeded++
				} else {
					firsts[i] = 1e9
				}
			}
			lowest := lasts[0]
			for _, v := range lasts {
				lowest = min(lowest, v)
			}
			fmt.Printf("%7g  %4g  %4d/%d  %22.0f  %.0f, %.0f\n", epsilon, step, succeeded, trials, median(firsts), lowest, median(lasts))
		}
	}
}
