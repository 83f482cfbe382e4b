package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// lattice is discrete Gaussian noise around two means, by plain enumeration of
// the points of a box: the probabilities under both, and nothing that the
// accountants use.
type lattice struct{ p, q []float64 }

func newLattice(sigma float64, shift ...float64) lattice {
	reach := math.Ceil(9*sigma) + 2
	l := lattice{p: []float64{1}, q: []float64{1}}
	for _, v := range shift {
		var p, q []float64
		sum := 0.0
		for x := -reach; x <= reach; x++ {
			sum += math.Exp(-x * x / (2 * sigma * sigma))
		}
		for i := range l.p {
			for x := -reach; x <= v+reach; x++ {
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
	for range 60 {
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
	}{{1, lumped}, {4, spread}, {100, spread}, {0, spread}} {
		for name, fresh := range map[string]func(dp.Adjacency) account.Accountant{
			"new": account.New, "rdp": func(a dp.Adjacency) account.Accountant { return account.NewRDP(a) },
		} {
			a := fresh(dp.AddRemoveOne)
			compose(t, a, dp.DiscreteGaussian{Sigma: .6, Norm: 2, Dimension: c.dimension}, 1)
			b, err := a.Epsilon(1e-5)
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
	if err := f.Charge(dp.DiscreteGaussian{Sigma: .6, Norm: 2}); err != nil {
		t.Fatal(err)
	}
	if spent, err := f.Spent(); err != nil || spent.Epsilon < want {
		t.Errorf("charged %v, %v; want at least %v", spent, err, want)
	}
}

// TestShufflesOfDifferentRandomizersAreRefused: person i of n answers 2i or 2i+1,
// the truth with probability e/(e+1). Each answer is 1-locally private, and the
// order hides nothing: delta at epsilon 0 is (e-1)/(e+1) = .46, where the claim for
// 90000 persons at epsilon .1 is below 1e-6.
func TestShufflesOfDifferentRandomizersAreRefused(t *testing.T) {
	e := dp.Shuffled{Count: 90000, LocalEpsilon: 1, UniformSlots: true, OneRandomizer: true}
	b, err := shuffled(t, 90000, 1).Delta(.1)
	if err != nil || b.Upper > 1e-6 {
		t.Fatalf("one randomiser: %v, %v", b, err)
	}
	e.OneRandomizer = false
	for name, a := range map[string]account.Accountant{"new": account.New(dp.ReplaceOne), "closed": account.NewClosedForm(dp.ReplaceOne)} {
		if err := a.Compose(e, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%s: %v; want ErrUnsupported", name, err)
		}
	}
}
