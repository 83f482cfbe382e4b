package evaluate

import (
	"context"
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/rl/feature"
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

// BenchmarkRefineDense is a whole run of dp-refine with 16 dense features, on one
// worker, check left out.
func BenchmarkRefineDense(b *testing.B) {
	const persons, features = 2e4, 16
	d := *chainData(persons, 1)
	names, ranges := make([]string, features), make([]feature.Range, features)
	d.Obs, d.Final, d.HasFinal = make([]float64, features*d.Rows()), nil, nil
	for i := range names {
		names[i], ranges[i] = fmt.Sprint("x", i), feature.Range{Low: 0, High: 1}
		for row := range d.Rows() {
			d.Obs[row*features+i] = float64(row*(2*i+7)%101) / 101
		}
	}
	d.Columns = names
	p := chainPublic(persons, 1, policy.Logged{})
	p.Features = must(feature.NewColumns(names, ranges, feature.ColumnsOptions{}))
	plan := must(DPRefine{workers: 1}.Plan(p))
	src := noise.NewSeeded(1)
	for b.Loop() {
		b.StopTimer()
		ready := must(plan.Check(context.Background(), &d))
		b.StartTimer()
		must(ready.Run(context.Background(), receipt.None(), src))
	}
	b.ReportMetric(float64(d.Rows())*float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
