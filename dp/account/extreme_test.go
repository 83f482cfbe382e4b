// Events at the ends of what float64 holds: an accountant may refuse them, and answers none of them wrongly.

package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

// Squared norms beyond 2^53 are no longer exact, nor are their roots.
func TestDiscreteGaussianOfNormsBeyondExactIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := dp.DiscreteGaussian{Sigma: 45, Norm: math.Ceil(math.Exp2(rapid.Float64Range(24, 500).Draw(t, "log2 norm")))}
		accountant := account.NewClosedForm(dp.ReplaceOne)
		if err := accountant.Compose(t.Context(), e, 1); err != nil {
			t.Fatal(err)
		}
		delta, err := accountant.Delta(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Nextafter(1, 0); delta.Lower < want {
			t.Fatalf("%v: delta in %v; want at least %v", e, delta, want)
		}
	})
}

// A sigma of which a few standard deviations exceed every int64 is as any other.
func TestDiscreteGaussianOfEveryScale(t *testing.T) {
	for exponent := 10.0; exponent < 500; exponent += 0.25 {
		for _, norm := range []float64{1, 3} {
			q := question{name: "new", adj: dp.ReplaceOne, event: dp.DiscreteGaussian{Sigma: math.Exp2(exponent), Norm: norm}, count: 1, epsilon: 1, delta: 1e-12}
			if fault := q.fault(); fault != "" {
				t.Fatalf("%v: %s", q, fault)
			}
		}
	}
}

func TestOverflowingLossesAreNotCertified(t *testing.T) {
	for _, event := range []dp.Event{
		dp.DiscreteLaplace{Scale: 1, Norm: 1e308},    // the distance overflows
		dp.DiscreteLaplace{Scale: 1e-5, Norm: 1e305}, // the loss does
		dp.DiscreteLaplace{Scale: 5e-324, Norm: 1},
		dp.Laplace{NoiseMultiplier: 5e-324},
		dp.Gaussian{NoiseMultiplier: 1e-160},
		dp.Gaussian{NoiseMultiplier: 5e-324},
		dp.DiscreteGaussian{Sigma: 1e-200, Norm: 1},
		dp.DiscreteGaussian{Sigma: 1, Norm: 1.7e308},
		dp.RandomizedResponse{Buckets: 2, NoiseParameter: 5e-324},
	} {
		for _, name := range everyAccountant {
			q := question{name: name, adj: dp.ReplaceOne, event: event, count: 1, epsilon: 1, delta: 1e-5}
			a, ok := inTime(q)
			if !ok || a.panicked != nil {
				t.Errorf("%v: answered in time %v, panic %v", q, ok, a.panicked)
				continue
			}
			if errors.Is(a.epsilonErr, account.ErrUnsupported) {
				continue // the closed form of a discrete Gaussian
			}
			if !errors.Is(a.epsilonErr, account.ErrUncertified) {
				t.Errorf("%v: epsilon %v, %v; want ErrUncertified", q, a.epsilon, a.epsilonErr)
			}
			if a.deltaErr == nil && a.delta.Upper < 0.5 {
				t.Errorf("%v: delta %v; the neighbours are told apart", q, a.delta)
			}
		}
	}
}

func TestVanishingGaussianKeepsAPositiveBound(t *testing.T) {
	for exponent := 100.0; exponent <= 308; exponent++ {
		a := account.NewClosedForm(dp.ReplaceOne)
		if err := a.Compose(t.Context(), dp.Gaussian{NoiseMultiplier: math.Pow(10, exponent)}, 1); err != nil {
			t.Fatal(err)
		}
		// At epsilon 0 delta is 2 Phi(mu/2) - 1, near mu/sqrt(2 pi).
		truth := 2 * math.Pow(10, -exponent) / math.Sqrt(2*math.Pi)
		b, err := a.Delta(t.Context(), 0)
		if err != nil || !(0 <= b.Lower && b.Lower <= truth && truth <= b.Upper && b.Upper < 1e-90) {
			t.Errorf("multiplier 1e%v: delta %v, %v; want it around %v", exponent, b, err, truth)
		}
		if b, err = a.Delta(t.Context(), 1); err != nil || b.Lower != 0 || !(b.Upper > 0 && b.Upper < 1e-90) {
			t.Errorf("multiplier 1e%v: delta %v at epsilon 1, %v; want a small upper end above 0", exponent, b, err)
		}
		if b, err = a.Epsilon(t.Context(), 1e-9); err != nil || b != (account.Bracket{}) {
			t.Errorf("multiplier 1e%v: epsilon %v, %v; want 0", exponent, b, err)
		}
	}
}

func TestHugeMuHasAnEpsilonNearHalfItsSquare(t *testing.T) {
	for _, mu := range []float64{1e11, 2e12, 1e16, 1e50, 1e150} {
		b, err := account.GaussianEpsilon(mu, 1e-6)
		if err != nil || !(b.Lower <= b.Upper) {
			t.Errorf("mu %v: %v, %v", mu, b, err)
			continue
		}
		// delta 1e-6 is passed where x = epsilon/mu - mu/2 is near 4.75: the second
		// tail is at mu/2 + epsilon/mu and vanishes.
		if root := mu*mu/2 + 4.753424308822899*mu; root < b.Lower*(1-1e-15) || root > b.Upper*(1+1e-15) || b.Upper-b.Lower > 1e-9*root {
			t.Errorf("mu %v: epsilon %v; want %v", mu, b, root)
		}
		for _, epsilon := range []float64{0, 1, b.Lower / 2, b.Lower, b.Upper, 2 * b.Upper} {
			if d := account.GaussianDelta(mu, epsilon); !(0 <= d.Lower && d.Lower <= d.Upper && d.Upper <= 1) ||
				epsilon <= b.Lower && d.Upper < 1e-6 || epsilon >= b.Upper && d.Lower > 1e-6 {
				t.Errorf("GaussianDelta(%v, %v) = %v", mu, epsilon, d)
			}
		}
	}
}

// TestDiscreteLaplaceTendsToLaplace: at a scale of k steps the lattice law is the
// continuous one up to 1/k, also where the steps are no longer counted exactly.
func TestDiscreteLaplaceTendsToLaplace(t *testing.T) {
	for _, scale := range []float64{1e12, 0x1p50, 0x1p52, 0x1p53, 1e17, 1e200, 1e300, 8e307} {
		q := question{name: "closed", adj: dp.ReplaceOne, event: dp.DiscreteLaplace{Scale: scale, Norm: scale}, count: 1, epsilon: 0.75, delta: 1e-3}
		got, ok := inTime(q)
		if !ok || got.panicked != nil || got.deltaErr != nil || got.epsilonErr != nil {
			t.Fatalf("%v: %+v, in time %v", q, got, ok)
		}
		if want := -math.Expm1((0.75 - 2) / 2); math.Abs(got.delta.Lower-want) > 1e-11 || math.Abs(got.delta.Upper-want) > 1e-11 {
			t.Errorf("scale %v: delta %v; want %v", scale, got.delta, want)
		}
		if want := 2 + 2*math.Log1p(-1e-3); math.Abs(got.epsilon.Lower-want) > 1e-10 || math.Abs(got.epsilon.Upper-want) > 1e-10 {
			t.Errorf("scale %v: epsilon %v; want %v", scale, got.epsilon, want)
		}
	}
}

// TestSamplesOfAFixedSizeNeedReplaceOne: also where the sample is everyone, and
// wherever in the tree it is.
func TestSamplesOfAFixedSizeNeedReplaceOne(t *testing.T) {
	everyone := dp.SampledWithoutReplacement{Population: 5, Sample: 5, Event: dp.Gaussian{NoiseMultiplier: 1}}
	for _, event := range []dp.Event{
		everyone,
		dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 1}, everyone}},
		dp.SelfComposed{Count: 2, Event: everyone},
		dp.PoissonSampled{Rate: 0.5, Event: everyone},
		dp.PoissonSampled{Rate: 1, Event: everyone},
	} {
		for _, name := range []string{"new", "closed", "pld", "rdp"} {
			if err := fresh(name, dp.AddRemoveOne).Compose(t.Context(), event, 1); !errors.Is(err, account.ErrUnsupported) {
				t.Errorf("%s: %#v under add_remove_one: %v; want ErrUnsupported", name, event, err)
			}
		}
		f, err := account.NewFilter(dp.AddRemoveOne, dp.Budget{Epsilon: 1, Delta: 1e-5}, account.Renyi, account.FilterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Fits(t.Context(), event); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("filter: %#v under add_remove_one: %v; want ErrUnsupported", event, err)
		}
	}
	for _, name := range []string{"new", "pld"} {
		if err := fresh(name, dp.ReplaceOne).Compose(t.Context(), everyone, 1); err != nil {
			t.Errorf("%s: replace_one: %v", name, err)
		}
	}
}

// TestExtremeParametersNeverGiveAWrongAnswer asks for what no one would: an
// accountant may refuse, but it may not hang, panic, or answer what a single set
// of outcomes refutes.
func TestExtremeParametersNeverGiveAWrongAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := anyQuestion(t)
		if fault := q.fault(); fault != "" {
			t.Fatalf("%v: %s", q, fault)
		}
	})
}

// TestASampleOfNearlyEveryoneCostsWhatEveryoneDoes: a sample is what a person who may be left out gains, so epsilon
// is at most that of rate 1, and as rate tends to 1 it tends to that. At rate 1-2^-53 the largest loss
// from a person's absence is 36.7, and what is certified of the others must not depend on it.
func TestASampleOfNearlyEveryoneCostsWhatEveryoneDoes(t *testing.T) {
	epsilon := func(adj dp.Adjacency, e dp.Event) account.Bracket {
		p := account.NewPLD(adj)
		compose(t, p, e, 35)
		b, err := p.Epsilon(t.Context(), 2e-11)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, adj := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, noise := range []dp.Event{
			dp.Gaussian{NoiseMultiplier: 1.0265677715921067}, dp.Gaussian{NoiseMultiplier: 3.07970331477632},
			dp.Laplace{NoiseMultiplier: 20}, dp.DiscreteGaussian{Sigma: 3, Norm: 1, Dimension: 1},
		} {
			everyone := epsilon(adj, noise)
			for _, left := range []float64{1e-12, 0x1p-53} {
				got := epsilon(adj, dp.PoissonSampled{Rate: 1 - left, Event: noise})
				if got.Upper > everyone.Upper*1.001 || got.Upper < everyone.Lower*(1-100*left)*.999 {
					t.Errorf("%v, rate 1-%v of %+v: %v; of everyone %v", adj, left, noise, got, everyone)
				}
			}
		}
	}
}
