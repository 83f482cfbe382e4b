package gpope

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func chainOf(t testing.TB, episodes int) *trajectory.Dataset {
	t.Helper()
	d, err := chain.Simulate(chain.Options{Episodes: episodes, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tabular40(t testing.TB) feature.Finite {
	t.Helper()
	f, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// benchSteps reports steps a second of a walk of b.N steps.
func benchSteps(b *testing.B, r *Walk, make func() run) {
	r.Iterations = int64(b.N)
	run := make()
	src, err := noise.NewSource()
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if _, err := run(context.Background(), src); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// straightforward is Algorithm 1 as one would write it down: the person's
// matrices from the rows, dense vectors, a normal for every coordinate.
func straightforward(r *Walk, s *value.Sample) run {
	return func(_ context.Context, src *noise.Source) ([]float64, error) {
		n := r.N
		normal, err := noise.NewFastGaussian(r.Multiplier * r.Clip)
		if err != nil {
			return nil, err
		}
		theta, w, g := make([]float64, n), make([]float64, n), make([]float64, 2*n)
		moments := value.NewMoments(n)
		for range r.Iterations {
			moments.Reset()
			moments.AddPerson(s, int(src.Uint64n(uint64(s.Data.Persons()))), r.Weighting)
			square := 0.0
			for i := range n {
				g[i], g[n+i] = 0, -moments.B[i]
				for j := range n {
					g[i] -= moments.A[j*n+i] * w[j]
					g[n+i] += moments.A[i*n+j]*theta[j] + moments.C[i*n+j]*w[j]
				}
				square += g[i]*g[i] + g[n+i]*g[n+i]
			}
			scale := min(1, r.Clip/math.Sqrt(square))
			for i := range n {
				theta[i] -= r.StepTheta * (g[i]*scale + normal.Sample(src))
				w[i] -= r.StepW * (g[n+i]*scale + normal.Sample(src))
			}
		}
		return theta, nil
	}
}

func BenchmarkGPOPETabular(b *testing.B) {
	d := chainOf(b, 20_000)
	for _, c := range []struct {
		name string
		kind mechanism.Noise
		walk func(*Walk, *value.Sample) run
	}{
		{"fast-lazy", mechanism.Fast, (*Walk).lazy},
		{"fast-eager", mechanism.Fast, (*Walk).eager},
		{"exact", mechanism.Exact, (*Walk).eager},
		{"straightforward", mechanism.Fast, straightforward},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, s := algorithm1(b, d, tabular40(b), c.kind)
			benchSteps(b, r, func() run { return c.walk(r, s) })
		})
	}
}

func BenchmarkGPOPEDense36(b *testing.B) {
	d := chainOf(b, 5_000)
	for _, c := range []struct {
		name string
		kind mechanism.Noise
		walk func(*Walk, *value.Sample) run
	}{
		{"fast", mechanism.Fast, (*Walk).eager},
		{"exact", mechanism.Exact, (*Walk).eager},
		{"straightforward", mechanism.Fast, straightforward},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, s := algorithm1(b, d, ramps(36), c.kind)
			benchSteps(b, r, func() run { return c.walk(r, s) })
		})
	}
}

// The cost of a mini-batch step, by person picked.
func BenchmarkGPOPEMiniBatch(b *testing.B) {
	d := chainOf(b, 20_000)
	for _, kind := range []mechanism.Noise{mechanism.Fast, mechanism.Exact} {
		b.Run(fmt.Sprint(kind), func(b *testing.B) {
			r, s := miniBatch(b, d, tabular40(b), kind, 200)
			benchSteps(b, r, func() run { return r.eager(s) })
			b.ReportMetric(200*float64(b.N)/b.Elapsed().Seconds(), "persons/s")
		})
	}
}
