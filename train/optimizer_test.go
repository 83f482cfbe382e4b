package train_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/train"
)

// Steps of the optimizers on a constant report of no noise, in closed form.
func TestOptimizersStepAsTheirFormulas(t *testing.T) {
	g := []float64{3, -4} // of norm 5
	bias := func(b float64, n int) float64 { return 1 - math.Pow(b, float64(n)) }
	for name, c := range map[string]struct {
		o    train.Optimizer
		want func(step int, x float64) float64 // change of a weight whose report is x
	}{
		"sgd":          {train.Optimizer{Kind: "sgd", Step: .5}, func(_ int, x float64) float64 { return -.5 * x }},
		"decaying sgd": {train.Optimizer{Kind: "sgd", Step: .5, Decay: 10}, func(n int, x float64) float64 { return -.5 * x / math.Sqrt(1+float64(n)/10) }},
		"momentum":     {train.Optimizer{Kind: "momentum", Step: .5}, func(_ int, x float64) float64 { return -.5 * x / 5 }},
		"adam": {train.Optimizer{Kind: "adam", Step: .5}, func(n int, x float64) float64 {
			m, v := x*bias(.9, n), x*x*bias(.999, n)
			return -.5 * (m / bias(.9, n)) / (math.Sqrt(v/bias(.999, n)) + 1e-8)
		}},
	} {
		terms := train.Terms{Dim: 2, Randomizer: train.Randomizer{Mechanism: train.NotPrivate}, Submissions: 10, Optimizer: c.o, Buffer: 1, Staleness: -1}
		agg := aggregator(t, terms, train.Options{})
		last, theta := make([]float64, 2), make([]float64, 2)
		for n := 1; n <= 5; n++ {
			submit(t, agg, plain(t, agg.Issue(0), g), train.Accepted)
			agg.Theta(theta)
			for i, x := range g {
				if got, want := theta[i]-last[i], c.want(n, x); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: step %d moves weight %d by %v; want %v", name, n, i, got, want)
				}
			}
			copy(last, theta)
		}
	}
}

func TestBufferGrows(t *testing.T) {
	terms := train.Terms{Dim: 1, Randomizer: train.Randomizer{Mechanism: train.NotPrivate}, Submissions: 1000,
		Optimizer: train.Optimizer{Kind: "sgd", Step: 1}, Buffer: 10, Growth: .1, Staleness: -1}
	agg := aggregator(t, terms, train.Options{})
	size, sum := 10.0, 0
	for version := uint64(1); version < 12; version++ {
		sum += int(size)
		for agg.Status().Accepted < uint64(sum) {
			if v := agg.Status().Version; v != version-1 {
				t.Fatalf("version %d after %d reports; want %d", v, agg.Status().Accepted, version-1)
			}
			submit(t, agg, plain(t, agg.Issue(0), []float64{1}), train.Accepted)
		}
		if v := agg.Status().Version; v != version {
			t.Fatalf("version %d after %d reports; want %d", v, sum, version)
		}
		size *= 1.1
	}
}

// TestEvolutionMovesTowardsWhatScored sends both possible bits and computes the
// perturbation from the task's seed.
func TestEvolutionMovesTowardsWhatScored(t *testing.T) {
	const step, dim = .25, 300 // more than one block of signs
	terms := train.Terms{Dim: dim, Randomizer: train.Randomizer{Mechanism: train.OneBit, Epsilon: 1, Clip: 200}, Submissions: 10,
		Optimizer: train.Optimizer{Kind: "sgd", Step: step}, Buffer: 1, Staleness: -1}
	agg := aggregator(t, terms, train.Options{})
	theta, last := make([]float64, dim), make([]float64, dim)
	baseline := 0.0 // the mean of earlier signs
	for n, sign := range []float64{1, -1, 1, 1, -1} {
		task := agg.Issue(0)
		bit := byte(0)
		if sign > 0 {
			bit = 1
		}
		r := train.Report{Slot: task.Slot, Version: task.Version, Token: task.Token, Body: []byte{0x12, bit}}
		submit(t, agg, must(r.AppendBinary(nil))(t), train.Accepted)
		agg.Theta(theta)
		for i := range theta {
			block := sha256.Sum256(binary.LittleEndian.AppendUint64(append([]byte(nil), task.Seed[:]...), uint64(i/256)))
			tried := 2*float64(block[i%256/8]>>(i%8)&1) - 1
			if want := step * (sign - baseline) * tried; math.Abs(theta[i]-last[i]-want) > 1e-12 {
				t.Fatalf("report %d moves weight %d by %v; want %v", n, i, theta[i]-last[i], want)
			}
		}
		baseline += (sign - baseline) / float64(n+1)
		copy(last, theta)
	}
}
