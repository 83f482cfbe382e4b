package account_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// TestRefusalsNameTheirReason: what New refuses says what is in the way, and does not point back to New.
func TestRefusalsNameTheirReason(t *testing.T) {
	gaussian := dp.Gaussian{NoiseMultiplier: 1}
	const delta = 1e-6
	for _, c := range []struct {
		adj   dp.Adjacency
		event dp.Event
		delta float64
		want  error
		text  string
	}{
		{dp.ReplaceOne, dp.Shuffled{Count: 10, LocalEpsilon: 1, UniformSlots: true}, delta, account.ErrUnsupported, "does not declare one_randomizer"},
		{dp.AddRemoveOne, dp.PoissonSampled{Rate: .1, Event: dp.Laplace{NoiseMultiplier: 1}}, 0, account.ErrUnsupported, "ask at a delta above 0"},
		{dp.ReplaceOne, dp.DiscreteGaussian{Sigma: 2, Norm: 1, Dimension: 1}, 0, account.ErrUnsupported, "ask at a delta above 0"},
		{dp.AddRemoveOne, dp.PoissonSampled{Rate: .1, Event: dp.ZeroConcentratedDP{Rho: 1}}, delta, account.ErrUnsupported, "account for it without the sampling"},
		{
			dp.AddRemoveOne, dp.PoissonSampled{Rate: 1e-200, Event: dp.PoissonSampled{Rate: 1e-200, Event: gaussian}},
			delta, account.ErrUncertified, "rate 1e-200 of one at rate 1e-200",
		},
		{dp.ReplaceOne, dp.TruncatedPoissonSampled{Population: 1<<32 + 1, Rate: .5, Batch: 9, Event: gaussian}, delta, account.ErrUncertified, "population is 4294967297; at most 2^32 are summed up"},
	} {
		a := account.New(c.adj)
		err := a.Compose(t.Context(), c.event, 1)
		if err == nil {
			_, err = a.Epsilon(t.Context(), c.delta)
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "New turns") || strings.Contains(err.Error(), "add noise") {
			t.Errorf("%v, %#v at delta %v: %v; want %v that says %q", c.adj, c.event, c.delta, err, c.want, c.text)
		}
	}
}

// TestDeltaDoesNotRiseFarOut: not where losses on a grid that reaches as far as epsilon have lost their digits either.
func TestDeltaDoesNotRiseFarOut(t *testing.T) {
	for _, e := range []dp.Event{
		dp.Composed{Events: []dp.Event{dp.GaussianDP{Mu: 3.38}, dp.DiscreteLaplace{Scale: 1e9, Norm: 1e-300}}},
		dp.SampledWithoutReplacement{Population: 1000, Sample: 10, Event: dp.Gaussian{NoiseMultiplier: .7}},
		dp.Composed{Events: []dp.Event{dp.GaussianDP{Mu: 3.38}, dp.PrivacyLoss{Losses: []float64{3}, Masses: []float64{.9}, Infinity: .1}}},
		dp.DiscreteGaussian{Sigma: 18.9, Norm: 100, Dimension: 1},
	} {
		least := 1.0
		for _, epsilon := range []float64{1, 300, 1e4, 1e14, 1e16, 1e100, 1e308, math.MaxFloat64} {
			b := ask(t, dp.ReplaceOne, e, 1, "delta", epsilon, 0)
			if b.Upper > least*1.02 || b.Lower > b.Upper {
				t.Errorf("%s: delta %v at epsilon %v, %v before", e.Kind(), b, epsilon, least)
			}
			least = min(least, b.Upper)
		}
		if c, ok := e.(dp.Composed); ok {
			if p, ok := c.Events[1].(dp.PrivacyLoss); ok && least < p.Infinity {
				t.Errorf("delta %v far out; a loss without bound has probability %v", least, p.Infinity)
			}
		}
	}
}

// TestResponseHasNoDeltaBeyondItsLoss: from ln(1 + k(1-p)/p) on delta is 0, and just below it is not.
func TestResponseHasNoDeltaBeyondItsLoss(t *testing.T) {
	for _, e := range []dp.RandomizedResponse{{Buckets: 2, NoiseParameter: .0286}, {Buckets: 3, NoiseParameter: .5}, {Buckets: 100, NoiseParameter: .0007}} {
		a := account.New(dp.ReplaceOne)
		compose(t, a, e, 1)
		most := math.Log1p(float64(e.Buckets) * (1 - e.NoiseParameter) / e.NoiseParameter)
		at, err := a.Epsilon(t.Context(), 0)
		if err != nil || at.Upper < most*(1-1e-15) || at.Upper > most*(1+1e-14) {
			t.Errorf("%#v: epsilon %v at delta 0, %v; want %v", e, at, err, most)
		}
		if b, err := a.Delta(t.Context(), at.Upper); err != nil || b.Upper != 0 {
			t.Errorf("%#v: delta %v at epsilon %v, %v; want 0", e, b, at.Upper, err)
		}
		if b, err := a.Delta(t.Context(), most*(1-1e-9)); err != nil || !(b.Lower > 0) {
			t.Errorf("%#v: delta %v just below its largest loss, %v; want it above 0", e, b, err)
		}
	}
}

// TestGroupsOfApproximateDP: k persons of (epsilon, delta) are (k epsilon, delta (1 + ... + e^((k-1) epsilon)))-private.
func TestGroupsOfApproximateDP(t *testing.T) {
	const epsilon, delta = .3, 1e-9
	for persons := 2; persons <= 5; persons++ {
		sum := 0.0
		for i := range persons {
			sum += delta * math.Exp(float64(i)*epsilon)
		}
		k := float64(persons)
		b := grouped(t, dp.AddRemoveOne, dp.ApproximateDP{Epsilon: epsilon, Delta: delta}, persons, "epsilon", 0, 1.01*sum)
		if b.Upper < k*epsilon*(1-1e-6) || b.Upper > k*epsilon*1.005 {
			t.Errorf("%d persons: epsilon %v at delta %v; want %v", persons, b, 1.01*sum, k*epsilon)
		}
		g := account.ForGroup(account.New(dp.AddRemoveOne), persons)
		compose(t, g, dp.ApproximateDP{Epsilon: epsilon, Delta: delta}, 1)
		if b, err := g.Epsilon(t.Context(), delta); !errors.Is(err, account.ErrUncertified) {
			t.Errorf("%d persons at the delta of one: %v, %v; want ErrUncertified", persons, b, err)
		}
	}
}
