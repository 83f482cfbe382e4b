package account_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// gaussians is a list of n Gaussian events, no two of the same noise.
func gaussians(n int) dp.Composed {
	var all dp.Composed
	for i := range n {
		all.Events = append(all.Events, dp.Gaussian{NoiseMultiplier: 300 + float64(i)/float64(n)})
	}
	return all
}

// TestManyEventsCostLinearTime holds the time of 16 times as many events against
// 16 times the time, with room for a noisy machine; in quadratic time it is 256.
func TestManyEventsCostLinearTime(t *testing.T) {
	for _, name := range everyAccountant {
		cost := func(n int) time.Duration {
			events := gaussians(n)
			best := time.Hour
			for range 3 {
				start := time.Now()
				a := fresh(name, dp.ReplaceOne)
				for _, e := range events.Events[:n/2] {
					if err := a.Compose(t.Context(), e, 1); err != nil {
						t.Fatal(err)
					}
				}
				if err := a.Compose(t.Context(), events, 1); err != nil {
					t.Fatal(err)
				}
				for range 10 {
					if _, err := a.Epsilon(t.Context(), 1e-5); err != nil {
						t.Fatal(err)
					}
				}
				best = min(best, time.Since(start))
			}
			return best
		}
		few, many := cost(2000), cost(32000)
		for attempt := 0; many > 100*few && attempt < 5; attempt++ { // a busy machine may hit one of them alone
			few, many = cost(2000), min(many, cost(32000))
		}
		if ratio := float64(many) / float64(few); ratio > 100 {
			t.Errorf("%s: 32000 events take %v, 2000 take %v: %.0f times as long; want about 16", name, many, few, ratio)
		}
	}
}

// TestEqualEventsAreOneCurve holds a list of equal events against their count.
func TestEqualEventsAreOneCurve(t *testing.T) {
	for _, event := range []dp.Event{
		dp.Gaussian{NoiseMultiplier: 20},
		dp.Laplace{NoiseMultiplier: 20},
		dp.DiscreteGaussian{Sigma: 20, Norm: 1.5},
		dp.ApproximateDP{Epsilon: 0.01, Delta: 1e-9},
		dp.SampledWithoutReplacement{Population: 50, Sample: 5, Event: dp.Gaussian{NoiseMultiplier: 3}},
		dp.SampledWithoutReplacement{Population: 50, Sample: 5, Event: dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 3}}}},
	} {
		list, count := account.NewRDP(dp.ReplaceOne), account.NewRDP(dp.ReplaceOne)
		for range 7 {
			if err := list.Compose(t.Context(), dp.Composed{Events: []dp.Event{event, event}}, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := count.Compose(t.Context(), event, 14); err != nil {
			t.Fatal(err)
		}
		a, err := list.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		b, err := count.Epsilon(t.Context(), 1e-5)
		if err != nil || a.Upper > b.Upper*(1+1e-13) || b.Upper > a.Upper*(1+1e-13) {
			t.Errorf("%#v: 14 in a list %v, counted %v, %v", event, a, b, err)
		}
	}
}

func TestRefusedListChangesNothing(t *testing.T) {
	for _, name := range everyAccountant {
		a := fresh(name, dp.ReplaceOne)
		if err := a.Compose(t.Context(), dp.Gaussian{NoiseMultiplier: 2}, 1); err != nil {
			t.Fatal(err)
		}
		before, err := a.Epsilon(t.Context(), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		list := dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 1}, dp.SmoothGaussian{Alpha: 1, Beta: 0.1, Dimension: 1}}}
		if a.Compose(t.Context(), list, 1) == nil {
			t.Fatalf("%s takes %#v; the test needs a list it refuses", name, list)
		}
		if after, err := a.Epsilon(t.Context(), 1e-5); err != nil || after != before {
			t.Errorf("%s: epsilon %v, after a refusal %v, %v", name, before, after, err)
		}
	}
}

// TestSmoothGaussianIsRefusedWithAWayOut: every refusal names what does work, and
// it does.
func TestSmoothGaussianIsRefusedWithAWayOut(t *testing.T) {
	smooth := dp.SmoothGaussian{Alpha: 8, Beta: 0.01, Dimension: 5}
	list := dp.Composed{Events: []dp.Event{smooth, dp.Gaussian{NoiseMultiplier: 2}}}
	for _, name := range []string{"new", "closed", "pld", "rdp"} {
		for _, event := range []dp.Event{smooth, list} {
			err := fresh(name, dp.ReplaceOne).Compose(t.Context(), event, 1)
			if name == "new" || name == "closed" {
				if event.Kind() == smooth.Kind() {
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
			}
			if !errors.Is(err, account.ErrUnsupported) || !strings.Contains(err.Error(), "approximate_dp") || strings.Contains(err.Error(), "use the") {
				t.Errorf("%s, %s: %v; want ErrUnsupported that names approximate_dp and no other accountant that refuses it", name, event.Kind(), err)
			}
		}
	}
	alone, err := account.SmoothGaussianEpsilon(t.Context(), smooth.Alpha, smooth.Beta, smooth.Dimension, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	charged := dp.Composed{Events: []dp.Event{dp.ApproximateDP{Epsilon: alone.Upper, Delta: 1e-6}, dp.Gaussian{NoiseMultiplier: 2}}}
	for _, name := range []string{"new", "pld", "rdp"} {
		a := fresh(name, dp.ReplaceOne)
		if err := a.Compose(t.Context(), charged, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if b, err := a.Epsilon(t.Context(), 1e-5); err != nil || !(b.Upper > 0) {
			t.Errorf("%s: epsilon %v, %v", name, b, err)
		}
	}
}

func BenchmarkEpsilonOfManyEvents(b *testing.B) {
	for _, name := range everyAccountant {
		for _, n := range []int{1000, 100000} {
			events := gaussians(n)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					a := fresh(name, dp.ReplaceOne)
					if err := a.Compose(b.Context(), events, 1); err != nil {
						b.Fatal(err)
					}
					if _, err := a.Epsilon(b.Context(), 1e-5); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
