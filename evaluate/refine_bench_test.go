package evaluate

import (
	"context"
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/rl/policy"
)

// BenchmarkRefine is a whole run of dp-refine on the chain, check included, by
// the number of workers.
func BenchmarkRefine(b *testing.B) {
	for _, persons := range []int{1e4, 3e5} {
		d := chainData(persons, 1)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("persons=%d/workers=%d", persons, workers), func(b *testing.B) {
				plan := must(DPRefine{workers: workers}.Plan(chainPublic(int64(persons), 1, policy.Logged{})))
				src := noise.NewSeeded(1)
				for b.Loop() {
					b.StopTimer()
					ready := must(plan.Check(context.Background(), d))
					b.StartTimer()
					must(ready.Run(context.Background(), receipt.None(), src))
				}
				b.ReportMetric(float64(d.Rows())*float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			})
		}
	}
}
