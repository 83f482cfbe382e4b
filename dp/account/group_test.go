package account_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

func grouped(t *testing.T, adj dp.Adjacency, e dp.Event, persons int, query string, epsilon, delta float64) account.Bracket {
	t.Helper()
	g := account.ForGroup(account.New(adj), persons)
	compose(t, g, e, 1)
	b, err := g.Epsilon(t.Context(), delta)
	if query == "delta" {
		b, err = g.Delta(t.Context(), epsilon)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGroupsMoveASumAsFarAsTheirPersons: a group moves a clipped sum by its persons'
// clips together, and for noise of a log-concave law iterating the trade-off function
// is exactly that: the noise of a sum of as many clips.
func TestGroupsMoveASumAsFarAsTheirPersons(t *testing.T) {
	for _, c := range []struct {
		one, all dp.Event
		persons  int
		wide     float64
	}{
		{dp.Gaussian{NoiseMultiplier: 8}, dp.Gaussian{NoiseMultiplier: 2}, 4, 1e-9},
		{dp.GaussianDP{Mu: .25}, dp.GaussianDP{Mu: 1}, 4, 1e-9},
		{dp.PureDP{Epsilon: .2}, nil, 5, 1e-9},
		{dp.Laplace{NoiseMultiplier: 4}, dp.Laplace{NoiseMultiplier: 2}, 2, 2e-3},
		{dp.Laplace{NoiseMultiplier: 10}, dp.Laplace{NoiseMultiplier: 2}, 5, 2e-3},
		{dp.DiscreteGaussian{Sigma: 3, Norm: 1, Dimension: 1}, dp.DiscreteGaussian{Sigma: 3, Norm: 3, Dimension: 1}, 3, 1e-2},
	} {
		for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
			got := grouped(t, dp.AddRemoveOne, c.one, c.persons, "epsilon", 0, delta)
			if c.all == nil {
				if got.Upper > 1+1e-9 || got.Upper < 1-3*delta*math.E {
					t.Errorf("%d of %+v at delta %v: %v; want nearly 1", c.persons, c.one, delta, got)
				}
				continue
			}
			want := ask(t, dp.AddRemoveOne, c.all, 1, "epsilon", 0, delta)
			if got.Upper < want.Lower || got.Upper > want.Upper*(1+c.wide)+delta || got.Lower > want.Upper {
				t.Errorf("%d of %+v at delta %v: epsilon %v; the sum has %v", c.persons, c.one, delta, got, want)
			}
			at := .7 * want.Upper
			d, truth := grouped(t, dp.AddRemoveOne, c.one, c.persons, "delta", at, 0), ask(t, dp.AddRemoveOne, c.all, 1, "delta", at, 0)
			if d.Upper < truth.Lower || d.Upper > truth.Upper*1.1 || d.Lower > truth.Upper {
				t.Errorf("%d of %+v at epsilon %v: delta %v; the sum has %v", c.persons, c.one, at, d, truth)
			}
		}
	}
}

// TestGroupsArePureTimesTheirPersons: at delta 0, k epsilon; below it, the power of
// randomised response's best test, iterated.
func TestGroupsArePureTimesTheirPersons(t *testing.T) {
	const epsilon, persons = .4, 3
	e := dp.PureDP{Epsilon: epsilon}
	if b := grouped(t, dp.ReplaceOne, e, persons, "epsilon", 0, 0); math.Abs(b.Upper-persons*epsilon) > 1e-12 {
		t.Errorf("delta 0: %v; want %v", b, persons*epsilon)
	}
	power := func(x float64) float64 {
		for range persons {
			x = min(math.Exp(epsilon)*x, 1-math.Exp(-epsilon)*(1-x))
		}
		return x
	}
	for _, at := range []float64{0, .3, .6, 1} {
		want := 0.0
		for x := 0.0; x < 1; x += 1e-5 {
			want = max(want, power(x)-math.Exp(at)*x)
		}
		if b := grouped(t, dp.ReplaceOne, e, persons, "delta", at, 0); b.Upper < want*(1-1e-9) || b.Upper > want*1.02+1e-4 {
			t.Errorf("at epsilon %v: delta %v; the iterated test has %v", at, b, want)
		}
	}
}

// TestGroupsCostMoreThanOneAndLessThanApart: a group of a sampled mechanism costs at
// least one person, at most what the simple conversion says (k epsilon, and delta times
// the sum of e^(i epsilon)), and one person is answered as ever.
func TestGroupsCostMoreThanOneAndLessThanApart(t *testing.T) {
	e := dp.SelfComposed{Count: 300, Event: sgd(.01, 1)}
	one := ask(t, dp.AddRemoveOne, e, 1, "epsilon", 0, 1e-8)
	if b := grouped(t, dp.AddRemoveOne, e, 1, "epsilon", 0, 1e-8); b != one {
		t.Errorf("a group of one: %v; want %v", b, one)
	}
	const persons = 3
	simple := 1e-8 * (1 + math.Exp(one.Upper) + math.Exp(2*one.Upper))
	b := grouped(t, dp.AddRemoveOne, e, persons, "epsilon", 0, simple)
	if b.Upper < one.Lower || b.Upper > persons*one.Upper*(1+1e-9) {
		t.Errorf("a group of %d: %v; want between %v and %v", persons, b, one, persons*one.Upper)
	}
	g := account.ForGroup(account.NewRDP(dp.AddRemoveOne), persons)
	compose(t, g, e, 1)
	r, err := g.Epsilon(t.Context(), simple)
	if err != nil || r.Upper < b.Upper*.99 {
		t.Errorf("by Renyi divergences %v, %v; by loss distributions %v", r, err, b)
	}
}

// TestAGroupThatNeedsNoEpsilon: where delta exceeds the total variation of all steps, epsilon is 0.
func TestAGroupThatNeedsNoEpsilon(t *testing.T) {
	e := dp.PoissonSampled{Rate: .05, Event: dp.Laplace{NoiseMultiplier: 1}}
	if b := grouped(t, dp.AddRemoveOne, e, 3, "epsilon", 0, .5); b.Upper > 1e-6 {
		t.Errorf("delta .5: epsilon %v; want 0", b)
	}
}
