package scalar

import (
	"testing"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
)

func benchSample(b *testing.B) *value.Sample {
	b.Helper()
	d, err := chain.Simulate(chain.Options{Episodes: 5000, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	tabular, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		b.Fatal(err)
	}
	s, err := value.NewSample(d, value.Options{Gamma: 0.99, Features: tabular})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkContributions walks the doubly robust recursion; it must not allocate.
func BenchmarkContributions(b *testing.B) {
	s := benchSample(b)
	g, x := &Guess{State: chain.Values(0.6, 0.99)}, make([]float64, 5000)
	b.ReportAllocs()
	for b.Loop() {
		g.contributions(x, s)
	}
	b.ReportMetric(float64(s.Data.Rows())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkBaselineByState walks what a baseline by state is summed from.
func BenchmarkBaselineByState(b *testing.B) {
	s := benchSample(b)
	w, x := newWalker(s, facts.Range{Min: 0, Max: 1}, s.States), make([]float64, 2*chain.States+2)
	b.ReportAllocs()
	for b.Loop() {
		for p := range s.Data.Persons() {
			w.states(x, p)
		}
	}
	b.ReportMetric(float64(s.Data.Rows())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
