package chain_test

import (
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

func BenchmarkSimulate(b *testing.B) {
	steps := 0
	for b.Loop() {
		d, err := chain.Simulate(chain.Options{Episodes: 100_000, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		steps += d.Rows()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}

func BenchmarkSimulateOneWorker(b *testing.B) {
	steps := 0
	for b.Loop() {
		d, err := chain.Simulate(chain.Options{Episodes: 100_000, Seed: 1, Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		steps += d.Rows()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}
