package account_test

import (
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// A composition of what has no pair is worth at least each of its parts and at most the sums of
// epsilons and deltas (basic composition), and the deltas are in the event.
func TestFixDelta(t *testing.T) {
	smooth := dp.SmoothGaussian{Alpha: 20, Beta: .005, Dimension: 20}
	shuffled := dp.Shuffled{Count: 10000, LocalEpsilon: 1, UniformSlots: true, OneRandomizer: true}
	gaussian := dp.Gaussian{NoiseMultiplier: 20}
	alone := func(e dp.Event, delta float64) float64 {
		a := account.New(dp.ReplaceOne)
		compose(t, a, e, 1)
		b, err := a.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		return b.Upper
	}
	mixed := dp.Composed{Events: []dp.Event{smooth, dp.SelfComposed{Count: 3, Event: shuffled}, dp.PoissonSampled{Rate: 1, Event: smooth}, gaussian}}
	if err := account.New(dp.ReplaceOne).Compose(t.Context(), mixed, 1); !errors.Is(err, account.ErrUnsupported) {
		t.Fatalf("without a division of delta: %v", err)
	}
	fixed, err := account.FixDelta(t.Context(), dp.ReplaceOne, mixed, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	const part = 2e-7 // five runs
	want := 2*alone(smooth, part) + 3*alone(shuffled, part)
	events := fixed.(dp.Composed).Events
	first, each := events[0].(dp.ApproximateDP), events[1].(dp.SelfComposed).Event.(dp.ApproximateDP)
	if first != events[2] || events[3] != dp.Event(gaussian) {
		t.Fatal(fixed)
	}
	if sum := 2*first.Epsilon + 3*each.Epsilon; sum < want*(1-1e-9) || sum > want*(1+1e-9) || 2*first.Delta+3*each.Delta > 1e-6*(1+1e-15) {
		t.Errorf("%+v: epsilons sum to %v; want %v", fixed, sum, want)
	}
	total := alone(fixed, 3e-6)
	if sums := want + alone(gaussian, 1e-6); total > sums || total < alone(smooth, 3e-6) {
		t.Errorf("epsilon %v; want above one part's and at most %v", total, sums)
	}
	for _, e := range []dp.Event{gaussian, dp.PoissonSampled{Rate: .5, Event: dp.Gaussian{NoiseMultiplier: 1}}} {
		if same, err := account.FixDelta(t.Context(), dp.ReplaceOne, e, 1e-6); err != nil || same != e {
			t.Errorf("%v became %v, %v", e, same, err)
		}
	}
	if _, err := account.FixDelta(t.Context(), dp.ReplaceOne, mixed, 0); err == nil {
		t.Error("delta 0 is taken")
	}
}

// A filter charges such a composition at its own delta, with half of it for the parts, and the same
// whatever it was charged before.
func TestFilterFixesDeltas(t *testing.T) {
	smooth := dp.SmoothGaussian{Alpha: 20, Beta: .005, Dimension: 20}
	mixed := dp.Composed{Events: []dp.Event{smooth, dp.Gaussian{NoiseMultiplier: 20}}}
	f, err := account.NewFilter(dp.ReplaceOne, dp.Budget{Epsilon: 100, Delta: 1e-3}, account.Basic, account.FilterOptions{ChargeDelta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := account.FixDelta(t.Context(), dp.ReplaceOne, mixed, 5e-7)
	if err != nil {
		t.Fatal(err)
	}
	a := account.New(dp.ReplaceOne)
	compose(t, a, fixed, 1)
	one, err := a.Epsilon(t.Context(), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1.0; n <= 3; n++ {
		if err := f.Charge(t.Context(), mixed); err != nil {
			t.Fatal(err)
		}
		spent, err := f.Spent()
		if err != nil || spent.Epsilon < n*one.Upper || spent.Epsilon > n*one.Upper*(1+1e-12) || spent.Delta > n*1e-6*(1+1e-12) {
			t.Errorf("%v charges: %v, %v; want epsilon %v", n, spent, err, n*one.Upper)
		}
	}
}
