package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

// responseLoss is the loss of randomised response of loss eps, as its own table.
func responseLoss(eps float64) dp.PrivacyLoss {
	p := 1 / (1 + math.Exp(-eps))
	return dp.PrivacyLoss{Losses: []float64{-eps, eps}, Masses: []float64{1 - p, p}}
}

// TestPrivacyLossIsWhatItStates: a table of the loss of a known mechanism has the
// answers of that mechanism, alone, composed, and beside others.
func TestPrivacyLossIsWhatItStates(t *testing.T) {
	for _, eps := range []float64{.01, .5, 3} {
		for _, n := range []int64{1, 20} {
			for _, beside := range []dp.Event{nil, dp.Gaussian{NoiseMultiplier: 2}} {
				both := func(e dp.Event) dp.Event {
					if beside == nil {
						return e
					}
					return dp.Composed{Events: []dp.Event{e, beside}}
				}
				got := ask(t, dp.AddRemoveOne, both(responseLoss(eps)), n, "epsilon", 0, 1e-6)
				want := ask(t, dp.AddRemoveOne, both(dp.PureDP{Epsilon: eps}), n, "epsilon", 0, 1e-6)
				if math.Abs(got.Upper/want.Upper-1) > 1e-6 || got.Lower > want.Upper || got.Upper < want.Lower {
					t.Errorf("%d of loss %v beside %v: %v; want %v", n, eps, beside, got, want)
				}
			}
		}
	}
	if b := ask(t, dp.ReplaceOne, responseLoss(.5), 3, "epsilon", 0, 0); math.Abs(b.Upper-1.5) > 1e-9 || math.Abs(b.Lower-1.5) > 1e-9 {
		t.Errorf("largest loss of three: %v; want 1.5", b)
	}
	rdp := account.NewRDP(dp.ReplaceOne)
	compose(t, rdp, responseLoss(.5), 1)
	pure := account.NewRDP(dp.ReplaceOne)
	compose(t, pure, dp.PureDP{Epsilon: .5}, 1)
	for _, order := range []float64{1.1, 2, 50} {
		if a, b := rdp.Renyi(order), pure.Renyi(order); math.Abs(a/b-1) > 1e-9 {
			t.Errorf("order %v: %v; randomised response has %v", order, a, b)
		}
	}
}

// TestPrivacyLossKeepsWhatIsInfinite: an infinite loss is a delta that no epsilon
// undoes, and so is what the masses lack of 1.
func TestPrivacyLossKeepsWhatIsInfinite(t *testing.T) {
	for _, e := range []dp.PrivacyLoss{
		{Losses: []float64{0}, Masses: []float64{1 - 1e-10}},
		{Losses: []float64{0}, Masses: []float64{1 - 1e-10}, Infinity: 1e-10},
	} {
		const lost = 1e-10
		a := account.New(dp.ReplaceOne)
		compose(t, a, e, 10)
		d, err := a.Delta(t.Context(), 3)
		if want := -math.Expm1(10 * math.Log1p(-lost)); err != nil || math.Abs(d.Upper/want-1) > 1e-5 || math.Abs(d.Lower/want-1) > 1e-5 {
			t.Errorf("%+v: delta %v, %v; want %v", e, d, err, want)
		}
		if _, err := a.Epsilon(t.Context(), 5e-10); !errors.Is(err, account.ErrUncertified) {
			t.Errorf("%+v: epsilon below its own delta: %v; want ErrUncertified", e, err)
		}
		if err := account.NewRDP(dp.ReplaceOne).Compose(t.Context(), e, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%+v has no Renyi curve: %v; want ErrUnsupported", e, err)
		}
	}
	if err := account.New(dp.AddRemoveOne).Compose(t.Context(), dp.PoissonSampled{Rate: .1, Event: responseLoss(1)}, 1); !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("a sampled privacy_loss: %v; want ErrUnsupported", err)
	}
	// Masses that sum to 1 but for their rounding lack nothing.
	tenths := dp.PrivacyLoss{}
	for i := range 10 {
		tenths.Losses, tenths.Masses = append(tenths.Losses, .1*float64(i)), append(tenths.Masses, .1)
	}
	if b := ask(t, dp.ReplaceOne, tenths, 2, "epsilon", 0, 0); math.Abs(b.Upper-1.8) > 1e-9 {
		t.Errorf("tenths: %v; want 1.8", b)
	}
}

// TestPrivacyLossMatchesEnumeration enumerates all outcomes of three runs of a table
// drawn at random.
func TestPrivacyLossMatchesEnumeration(t *testing.T) {
	few(t, func(t *rapid.T) {
		var e dp.PrivacyLoss
		var p, q [4]float64
		sp, sq := 0.0, 0.0
		for i := range p {
			p[i] = rapid.Float64Range(.05, 1).Draw(t, "p")
			q[i] = p[i] * math.Exp(-.7*(float64(i)-1.5)-rapid.Float64Range(0, .6).Draw(t, "step"))
			sp, sq = sp+p[i], sq+q[i]
		}
		for i := range p {
			e.Losses, e.Masses = append(e.Losses, math.Log(p[i]/sp/(q[i]/sq))), append(e.Masses, p[i]/sp)
		}
		if e.Validate() != nil {
			t.Skip("not a pair")
		}
		at, want := rapid.Float64Range(0, 2).Draw(t, "epsilon"), 0.0
		for i, a := range e.Masses {
			for j, b := range e.Masses {
				for k, c := range e.Masses {
					want += a * b * c * max(0, -math.Expm1(at-e.Losses[i]-e.Losses[j]-e.Losses[k]))
				}
			}
		}
		acc := account.New(dp.ReplaceOne)
		if err := acc.Compose(t.Context(), e, 3); err != nil {
			t.Fatal(err)
		}
		d, err := acc.Delta(t.Context(), at)
		if err != nil || d.Lower > want*(1+1e-9) || d.Upper < want*(1-1e-9) || d.Upper > want*1.01+1e-9 {
			t.Fatalf("%+v at %v: %v, %v; want %v", e, at, d, err, want)
		}
	})
}

// TestRenyiCurveHoldsBetweenItsOrders: a curve stated at some orders lies, between them,
// above the mechanism that it was read from, and at them is equal; beyond the last nothing
// is known.
func TestRenyiCurveHoldsBetweenItsOrders(t *testing.T) {
	laplace := account.NewRDP(dp.AddRemoveOne)
	compose(t, laplace, dp.Laplace{NoiseMultiplier: .7}, 1)
	var e dp.RenyiCurve
	for _, order := range []float64{1.25, 2, 3, 8, 64} {
		e.Orders, e.Values = append(e.Orders, order), append(e.Values, laplace.Renyi(order))
	}
	stated := account.NewRDP(dp.AddRemoveOne)
	compose(t, stated, e, 1)
	for order := 1.01; order < 64; order *= 1.03 {
		got, truth := stated.Renyi(order), laplace.Renyi(order)
		if got < truth*(1-1e-12) || got > truth*1.25 && order > 1.25 {
			t.Errorf("order %v: %v; the mechanism has %v", order, got, truth)
		}
	}
	for i, order := range e.Orders {
		if got := stated.Renyi(order); math.Abs(got/e.Values[i]-1) > 1e-12 {
			t.Errorf("order %v: %v; stated is %v", order, got, e.Values[i])
		}
	}
	if got := stated.Renyi(65); !math.IsInf(got, 1) {
		t.Errorf("beyond the last order: %v; want +Inf", got)
	}
	// A single order is found, wherever it is: the conversion of Canonne, Kamath, Steinke (2020).
	for _, order := range []float64{1.0003, 1.7, 5, 3e6} {
		a := account.New(dp.ReplaceOne)
		compose(t, a, dp.RenyiCurve{Orders: []float64{order}, Values: []float64{.25}}, 4)
		b, err := a.Epsilon(t.Context(), 1e-6)
		if want := 1 + math.Log1p(-1/order) - (math.Log(1e-6)+math.Log(order))/(order-1); err != nil || b.Upper > want*(1+1e-9) || b.Upper < want*(1-1e-6) || a.String() != "rdp" {
			t.Errorf("order %v: %v by %v, %v; want %v", order, b, a, err, want)
		}
	}
	if err := account.New(dp.AddRemoveOne).Compose(t.Context(), dp.PoissonSampled{Rate: .1, Event: e}, 1); !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("a sampled curve: %v; want ErrUnsupported", err)
	}
}
