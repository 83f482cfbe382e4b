package account_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

// lattice is discrete Gaussian noise around two means, by plain enumeration of
// the points of a box: the probabilities under both, and nothing that the
// accountants use.
type lattice struct{ p, q []float64 }

func newLattice(sigma float64, shift ...float64) lattice {
	radius := math.Ceil(9*sigma) + 2
	l := lattice{p: []float64{1}, q: []float64{1}}
	for _, v := range shift {
		var p, q []float64
		sum := 0.0
		for x := -radius; x <= radius; x++ {
			sum += math.Exp(-x * x / (2 * sigma * sigma))
		}
		for i := range l.p {
			for x := -radius; x <= v+radius; x++ {
				p = append(p, l.p[i]*math.Exp(-(x-v)*(x-v)/(2*sigma*sigma))/sum)
				q = append(q, l.q[i]*math.Exp(-x*x/(2*sigma*sigma))/sum)
			}
		}
		l.p, l.q = p, q
	}
	return l
}

func (l lattice) delta(epsilon float64) float64 {
	sum := 0.0
	for i, p := range l.p {
		sum += max(p-math.Exp(epsilon)*l.q[i], 0)
	}
	return sum
}

func (l lattice) epsilon(delta float64) float64 {
	lo, hi := 0.0, 200.0
	for range 42 {
		if mid := (lo + hi) / 2; l.delta(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// TestVectorsOfDiscreteGaussianNoiseAreCovered: neighbours whose sums differ by 1
// in each of four coordinates are told apart better than those that differ by 2 in
// one. The bound for four coordinates, or for an unknown number, covers both.
func TestVectorsOfDiscreteGaussianNoiseAreCovered(t *testing.T) {
	spread, lumped := newLattice(.6, 1, 1, 1, 1).epsilon(1e-5), newLattice(.6, 2).epsilon(1e-5)
	if math.Abs(spread-19.27) > .01 || math.Abs(lumped-16.66) > .01 {
		t.Fatalf("by enumeration %v and %v; want 19.27 and 16.66", spread, lumped)
	}
	for _, c := range []struct {
		dimension int
		want      float64
	}{{1, lumped}, {4, spread}, {3, lumped}, {100, spread}, {0, spread}} {
		for name, fresh := range map[string]func(dp.Adjacency) account.Accountant{
			"new": func(a dp.Adjacency) account.Accountant { return account.New(a) }, "rdp": func(a dp.Adjacency) account.Accountant { return account.NewRDP(a) },
		} {
			a := fresh(dp.AddRemoveOne)
			compose(t, a, dp.DiscreteGaussian{Sigma: .6, Norm: 2, Dimension: c.dimension}, 1)
			b, err := a.Epsilon(t.Context(), 1e-5)
			if err != nil || !(b.Upper >= c.want*(1-1e-9)) || b.Lower > c.want*(1+1e-9) {
				t.Errorf("%s, dimension %d: %v, %v; want it to cover %v", name, c.dimension, b, err, c.want)
			}
		}
	}
}

// TestFiltersCoverVectorsOfDiscreteGaussianNoise: what a filter charges at its own
// delta covers every way to spread a difference, too.
func TestFiltersCoverVectorsOfDiscreteGaussianNoise(t *testing.T) {
	want := newLattice(.6, 1, 1, 1, 1).epsilon(1e-5)
	f, err := account.NewFilter(dp.AddRemoveOne, dp.Budget{Epsilon: 100, Delta: 1e-3}, account.Basic, account.FilterOptions{ChargeDelta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Charge(t.Context(), dp.DiscreteGaussian{Sigma: .6, Norm: 2}); err != nil {
		t.Fatal(err)
	}
	if spent, err := f.Spent(); err != nil || spent.Epsilon < want*(1-1e-9) {
		t.Errorf("charged %v, %v; want at least %v", spent, err, want)
	}
}

// TestShufflesOfDifferentRandomizersAreRefused: person i of n answers 2i or 2i+1,
// the truth with probability e/(e+1). Each answer is 1-locally private, and the
// order hides nothing: delta at epsilon 0 is (e-1)/(e+1) = .46, where the claim for
// 90000 persons at epsilon .1 is below 1e-6.
func TestShufflesOfDifferentRandomizersAreRefused(t *testing.T) {
	e := dp.Shuffled{Count: 90000, LocalEpsilon: 1, UniformSlots: true, OneRandomizer: true}
	b, err := shuffled(t, 90000, 1).Delta(t.Context(), .1)
	if err != nil || b.Upper > 1e-6 {
		t.Fatalf("one randomiser: %v, %v", b, err)
	}
	e.OneRandomizer = false
	for name, a := range map[string]account.Accountant{"new": account.New(dp.ReplaceOne), "closed": account.NewClosedForm(dp.ReplaceOne)} {
		if err := a.Compose(t.Context(), e, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%s: %v; want ErrUnsupported", name, err)
		}
	}
}

// differences lists, by trying all pairs of integer vectors within the norm, how
// two neighbouring sums can differ: the lengths of the coordinates, sorted.
func differences(adj dp.Adjacency, norm float64, dimension int) [][]float64 {
	var vectors [][]float64
	top := math.Floor(norm)
	var grow func(v []float64, square float64)
	grow = func(v []float64, square float64) {
		if square > norm*norm*(1+1e-12) {
			return
		}
		if len(v) == dimension {
			vectors = append(vectors, slices.Clone(v))
			return
		}
		for x := -top; x <= top; x++ {
			grow(append(v, x), square+x*x)
		}
	}
	grow(nil, 0)
	origin := [][]float64{make([]float64, dimension)}
	if adj == dp.ReplaceOne {
		origin = vectors
	}
	var out [][]float64
	seen := map[string]bool{}
	for _, u := range vectors {
		for _, w := range origin {
			d := make([]float64, dimension)
			key := ""
			for i := range d {
				d[i] = math.Abs(u[i] - w[i])
			}
			slices.Sort(d)
			for _, x := range d {
				key += string(rune('0' + int(x)))
			}
			if !seen[key] {
				seen[key] = true
				out = append(out, d)
			}
		}
	}
	return out
}

// TestVectorDiscreteGaussianIsTheWorstDifference holds one run in up to three
// dimensions against the enumeration of all neighbours and all outcomes.
func TestVectorDiscreteGaussianIsTheWorstDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		e := dp.DiscreteGaussian{
			Sigma:     rapid.Float64Range(.35, .9).Draw(t, "sigma"),
			Norm:      math.Sqrt(float64(rapid.IntRange(1, 5).Draw(t, "squared norm"))),
			Dimension: rapid.IntRange(1, 3).Draw(t, "dimension"),
		}
		epsilon := rapid.Float64Range(0, 30).Draw(t, "epsilon")
		want := 0.0
		for _, v := range differences(adj, e.Norm, e.Dimension) {
			want = max(want, newLattice(e.Sigma, v...).delta(epsilon))
		}
		a := account.New(adj)
		if err := a.Compose(t.Context(), e, 1); err != nil {
			t.Fatal(err)
		}
		b, err := a.Delta(t.Context(), epsilon)
		if err != nil || b.Lower > want*(1+1e-9)+1e-14 || b.Upper < want*(1-1e-9)-1e-14 || b.Upper > want*(1+1e-3)+1e-14 {
			t.Fatalf("%v, %+v, epsilon %v: %v, %v; want %v", adj, e, epsilon, b, err, want)
		}
	})
}

// TestTwoVectorsOfDiscreteGaussianNoise holds two runs in two dimensions against
// every choice of a difference for each run.
func TestTwoVectorsOfDiscreteGaussianNoise(t *testing.T) {
	e := dp.DiscreteGaussian{Sigma: .7, Norm: 1, Dimension: 2}
	all := differences(dp.ReplaceOne, e.Norm, e.Dimension)
	for _, epsilon := range []float64{0, 3, 8} {
		alike, mixed := 0.0, 0.0
		for _, v := range all {
			for _, w := range all {
				d := newLattice(e.Sigma, append(slices.Clone(v), w...)...).delta(epsilon)
				mixed = max(mixed, d)
				if slices.Equal(v, w) {
					alike = max(alike, d)
				}
			}
		}
		a := account.New(dp.ReplaceOne)
		compose(t, a, e, 2)
		b, err := a.Delta(t.Context(), epsilon)
		if err != nil || b.Upper < mixed*(1-1e-9) || b.Lower > mixed*(1+1e-9) || b.Lower < alike*.999 || b.Upper > mixed*1.5 {
			t.Errorf("epsilon %v: %v, %v; want %v to %v, not far above", epsilon, b, err, alike, mixed)
		}
	}
}

// TestLargeSigmaIsNearlyGaussian holds norms that are not enumerated against the
// sums of single differences, one long step and many short ones.
func TestLargeSigmaIsNearlyGaussian(t *testing.T) {
	for _, c := range []struct {
		e     dp.DiscreteGaussian
		shift []float64
	}{
		{dp.DiscreteGaussian{Sigma: 9, Norm: 20, Dimension: 2}, []float64{20, 0}},
		{dp.DiscreteGaussian{Sigma: 9, Norm: 20, Dimension: 2}, []float64{16, 12}},
		{dp.DiscreteGaussian{Sigma: 30, Norm: 25}, []float64{25}},
	} {
		l := newLattice(c.e.Sigma, c.shift...)
		a := account.New(dp.AddRemoveOne)
		compose(t, a, c.e, 1)
		for _, epsilon := range []float64{0, 1, 3, 6} {
			want := l.delta(epsilon)
			if b, err := a.Delta(t.Context(), epsilon); err != nil || b.Upper < want*(1-1e-9) || b.Upper > want*1.6 || b.Lower < want*.5 {
				t.Errorf("%+v by %v: delta(%v) in %v, %v; want %v covered", c.e, c.shift, epsilon, b, err, want)
			}
		}
	}
}

// TestHugeSigmaIsContinuous: at 10^6 steps nothing is left of the lattice.
func TestHugeSigmaIsContinuous(t *testing.T) {
	for _, dimension := range []int{0, 1, 20} {
		for _, event := range []dp.Event{
			dp.DiscreteGaussian{Sigma: 1e6, Norm: 1e5, Dimension: dimension},
			dp.PoissonSampled{Rate: .1, Event: dp.DiscreteGaussian{Sigma: 1e6, Norm: 1e5, Dimension: dimension}},
		} {
			var continuous dp.Event = dp.Gaussian{NoiseMultiplier: 10}
			if _, sampled := event.(dp.PoissonSampled); sampled {
				continuous = dp.PoissonSampled{Rate: .1, Event: continuous}
			}
			want := ask(t, dp.AddRemoveOne, continuous, 20, "epsilon", 0, 1e-6)
			got := ask(t, dp.AddRemoveOne, event, 20, "epsilon", 0, 1e-6)
			if got.Upper < want.Lower || got.Lower > want.Upper || got.Upper > want.Upper*1.001 {
				t.Errorf("%+v: %v; continuous noise has %v", event, got, want)
			}
		}
	}
}
