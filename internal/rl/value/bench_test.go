package value_test

import (
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// report runs f and reports how many transitions it handled a second.
func report(b *testing.B, s *value.Sample, f func()) {
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(s.Data.Rows())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtransitions/s")
}

func benchSample(b *testing.B, pi policy.Policy) *value.Sample {
	return chainSample(b, chain.Options{Episodes: 20_000, Seed: 1}, pi)
}

func BenchmarkNewSampleTabular(b *testing.B) {
	d := simulate(b, chain.Options{Episodes: 20_000, Seed: 1})
	o := value.Options{Gamma: 0.99, Features: tabular(chain.States), Policy: advancing(0.6)}
	report(b, sample(b, d, o), func() { must(value.NewSample(d, o)) })
}

func BenchmarkLSTDTabular(b *testing.B) {
	s := benchSample(b, nil)
	report(b, s, func() { must(value.LSTD{}.Solve(s)) })
}

func BenchmarkLSTDTabularOffPolicy(b *testing.B) {
	s := benchSample(b, advancing(0.6))
	report(b, s, func() { must(value.LSTD{}.Solve(s)) })
}

func BenchmarkLSTDDense16(b *testing.B) {
	d := simulate(b, chain.Options{Episodes: 5_000, Seed: 1})
	wide := *d
	wide.Obs = make([]float64, 16*d.Rows())
	names, ranges := make([]string, 16), make([]feature.Range, 16)
	for i := range names {
		names[i], ranges[i] = string(rune('a'+i)), feature.Range{Low: 0, High: 1}
		for row := range d.Rows() {
			wide.Obs[row*16+i] = float64((row*(2*i+7))%101) / 101
		}
	}
	wide.Columns = names
	s := sample(b, &wide, value.Options{Gamma: 0.99, Features: must(feature.NewColumns(names, ranges, feature.ColumnsOptions{}))})
	report(b, s, func() { must(value.LSTD{Ridge: 1e-3}.Solve(s)) })
}

func BenchmarkMonteCarlo(b *testing.B) {
	s := benchSample(b, nil)
	report(b, s, func() { must2(value.MonteCarlo(s)) })
}

func BenchmarkIS(b *testing.B) {
	s := benchSample(b, advancing(0.6))
	num, den := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
	report(b, s, func() { value.ISContributions(num, den, s) })
}

func BenchmarkPDIS(b *testing.B) {
	s := benchSample(b, advancing(0.6))
	dst := make([]float64, s.Data.Persons())
	report(b, s, func() { value.PDISContributions(dst, s) })
}

func BenchmarkDR(b *testing.B) {
	s := benchSample(b, advancing(0.6))
	dst := make([]float64, s.Data.Persons())
	q := value.ActionValues{0.5, 0.5}
	report(b, s, func() {
		if err := value.DRContributions(dst, s, q); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkWISLSTDTabular(b *testing.B) {
	s := chainSample(b, chain.Options{Episodes: 1_000, Seed: 1}, advancing(0.6))
	report(b, s, func() { must(value.WISLSTD{Lambda: 0.5}.Solve(s)) })
}

func BenchmarkSaddleTabular(b *testing.B) {
	s := benchSample(b, nil)
	g, theta := value.NewSaddle(s, value.ByTrajectory), make([]float64, s.Dim)
	report(b, s, func() {
		for p := range s.Data.Persons() {
			g.Person(theta, theta, p)
		}
	})
}
