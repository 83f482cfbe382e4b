package evaluate

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// ramps are n dense features of the chain's state: cosines of rising frequency.
type ramps int

func (f ramps) Dim() int                             { return int(f) }
func (f ramps) Columns() []string                    { return []string{chain.Column} }
func (f ramps) NormBound() float64                   { return math.Sqrt(float64(f)) }
func (f ramps) Bind([]string) (feature.Bound, error) { return f, nil }
func (f ramps) Apply(dst, obs []float64) bool {
	for i := range dst {
		dst[i] = math.Cos(math.Pi * float64(i) * obs[0] / chain.States)
	}
	return true
}

// gpopeOn resolves a gpope on chain data, with a noise multiplier of 1.
func gpopeOn(t testing.TB, m GPOPE, d *trajectory.Dataset, features feature.Map, kind mechanism.Noise) (*gpope, *value.Sample) {
	t.Helper()
	p := Public{
		Persons: int64(d.Persons()), Gamma: 0.99, Reward: Range{0, 1}, Return: &Range{0, 1}, Horizon: 1000,
		Features: features, Target: policy.Logged{},
		Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Noise: kind},
	}
	r, err := m.resolve(p)
	if err != nil {
		t.Fatal(err)
	}
	r.multiplier = 1
	s, err := sampleFor(d, p)
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

func chainOf(t testing.TB, episodes int) *trajectory.Dataset {
	t.Helper()
	d, err := chain.Simulate(chain.Options{Episodes: episodes, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tabular40(t testing.TB) feature.Tabular {
	t.Helper()
	f, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// benchSteps reports steps a second of a walk of b.N steps.
func benchSteps(b *testing.B, r *gpope, make func() walk) {
	r.iterations = int64(b.N)
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
func straightforward(r *gpope, s *value.Sample) walk {
	return func(_ context.Context, src *noise.Source) ([]float64, error) {
		n := r.n
		normal, err := noise.NewFastGaussian(r.multiplier * r.clip)
		if err != nil {
			return nil, err
		}
		theta, w, g := make([]float64, n), make([]float64, n), make([]float64, 2*n)
		moments := value.NewMoments(n)
		for range r.iterations {
			moments.Reset()
			moments.AddPerson(s, int(src.Uint64n(uint64(s.Data.Persons()))), r.weighting)
			square := 0.0
			for i := range n {
				g[i], g[n+i] = 0, -moments.B[i]
				for j := range n {
					g[i] -= moments.A[j*n+i] * w[j]
					g[n+i] += moments.A[i*n+j]*theta[j] + moments.C[i*n+j]*w[j]
				}
				square += g[i]*g[i] + g[n+i]*g[n+i]
			}
			scale := min(1, r.clip/math.Sqrt(square))
			for i := range n {
				theta[i] -= r.stepTheta * (g[i]*scale + normal.Sample(src))
				w[i] -= r.stepW * (g[n+i]*scale + normal.Sample(src))
			}
		}
		return theta, nil
	}
}

func BenchmarkGPOPETabular(b *testing.B) {
	d := chainOf(b, 20_000)
	one := GPOPE{Batch: 1}
	for _, c := range []struct {
		name string
		kind mechanism.Noise
		walk func(*gpope, *value.Sample) walk
	}{
		{"fast-lazy", mechanism.Fast, (*gpope).lazy},
		{"fast-eager", mechanism.Fast, (*gpope).eager},
		{"exact", mechanism.Exact, (*gpope).eager},
		{"straightforward", mechanism.Fast, straightforward},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, s := gpopeOn(b, one, d, tabular40(b), c.kind)
			benchSteps(b, r, func() walk { return c.walk(r, s) })
		})
	}
}

func BenchmarkGPOPEDense36(b *testing.B) {
	d := chainOf(b, 5_000)
	one := GPOPE{Batch: 1}
	for _, c := range []struct {
		name string
		kind mechanism.Noise
		walk func(*gpope, *value.Sample) walk
	}{
		{"fast", mechanism.Fast, (*gpope).eager},
		{"exact", mechanism.Exact, (*gpope).eager},
		{"straightforward", mechanism.Fast, straightforward},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, s := gpopeOn(b, one, d, ramps(36), c.kind)
			benchSteps(b, r, func() walk { return c.walk(r, s) })
		})
	}
}

// The cost of a mini-batch step, by person picked.
func BenchmarkGPOPEMiniBatch(b *testing.B) {
	d := chainOf(b, 20_000)
	for _, kind := range []mechanism.Noise{mechanism.Fast, mechanism.Exact} {
		b.Run(fmt.Sprint(kind), func(b *testing.B) {
			r, s := gpopeOn(b, GPOPE{Batch: 200}, d, tabular40(b), kind)
			benchSteps(b, r, func() walk { return r.eager(s) })
			b.ReportMetric(200*float64(b.N)/b.Elapsed().Seconds(), "persons/s")
		})
	}
}
