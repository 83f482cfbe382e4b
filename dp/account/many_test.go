package account_test

import (
	"fmt"
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
					if err := a.Compose(e, 1); err != nil {
						t.Fatal(err)
					}
				}
				if err := a.Compose(events, 1); err != nil {
					t.Fatal(err)
				}
				for range 10 {
					if _, err := a.Epsilon(1e-5); err != nil {
						t.Fatal(err)
					}
				}
				best = min(best, time.Since(start))
			}
			return best
		}
		few, many := cost(4000), cost(64000)
		if ratio := float64(many) / float64(few); ratio > 100 {
			t.Errorf("%s: 64000 events take %v, 4000 take %v: %.0f times as long; want about 16", name, many, few, ratio)
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
			if err := list.Compose(dp.Composed{Events: []dp.Event{event, event}}, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := count.Compose(event, 14); err != nil {
			t.Fatal(err)
		}
		a, err := list.Epsilon(1e-5)
		if err != nil {
			t.Fatal(err)
		}
		b, err := count.Epsilon(1e-5)
		if err != nil || a.Upper > b.Upper*(1+1e-13) || b.Upper > a.Upper*(1+1e-13) {
			t.Errorf("%#v: 14 in a list %v, counted %v, %v", event, a, b, err)
		}
	}
}

func TestRefusedListChangesNothing(t *testing.T) {
	for _, name := range everyAccountant {
		a := fresh(name, dp.ReplaceOne)
		if err := a.Compose(dp.Gaussian{NoiseMultiplier: 2}, 1); err != nil {
			t.Fatal(err)
		}
		before, err := a.Epsilon(1e-5)
		if err != nil {
			t.Fatal(err)
		}
		list := dp.Composed{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 1}, dp.SmoothGaussian{Alpha: 1, Beta: 0.1, Dimension: 1}}}
		if a.Compose(list, 1) == nil {
			t.Fatalf("%s takes %#v; the test needs a list it refuses", name, list)
		}
		if after, err := a.Epsilon(1e-5); err != nil || after != before {
			t.Errorf("%s: epsilon %v, after a refusal %v, %v", name, before, after, err)
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
					if err := a.Compose(events, 1); err != nil {
						b.Fatal(err)
					}
					if _, err := a.Epsilon(1e-5); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
