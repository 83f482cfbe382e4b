package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

// TestPureEventsAreRandomisedResponse: what is known by its largest loss is answered
// by the worst mechanism of that loss, randomised response (Kairouz, Oh, Viswanath
// 2015), whose delta is (e^e0 - e^eps)/(1 + e^e0); a choice has no lower end.
func TestPureEventsAreRandomisedResponse(t *testing.T) {
	const loss, eps = .8, .3
	want := (math.Exp(loss) - math.Exp(eps)) / (1 + math.Exp(loss))
	for _, c := range []struct {
		adj   dp.Adjacency
		event dp.Event
		class bool
	}{
		{dp.ReplaceOne, dp.PureDP{Epsilon: loss}, true},
		{dp.AddRemoveOne, dp.PermuteAndFlip{Epsilon: loss}, false},
		{dp.ReplaceOne, dp.ReportNoisyMax{Noise: "laplace", Scale: 5, Sensitivity: 2}, false},
		{dp.AddRemoveOne, dp.ReportNoisyMax{Noise: "exponential", Scale: 5, Sensitivity: 4, Monotone: true}, false},
	} {
		for name, a := range map[string]account.Accountant{"closed": account.NewClosedForm(c.adj), "pld": account.NewPLD(c.adj), "rdp": account.NewRDP(c.adj)} {
			compose(t, a, c.event, 1)
			d, err := a.Delta(t.Context(), eps)
			if err != nil || d.Upper < want*(1-1e-12) || name != "rdp" && d.Upper > want*(1+1e-9) {
				t.Errorf("%s, %+v: delta %v, %v; want %v", name, c.event, d, err, want)
			}
			if exact := c.class && name != "rdp"; exact != (d.Lower > want*(1-1e-9)) || !exact && d.Lower != 0 {
				t.Errorf("%s, %+v: delta %v; want a lower end: %v", name, c.event, d, exact)
			}
		}
		for _, query := range []string{"epsilon", "delta"} {
			b := ask(t, c.adj, c.event, 7, query, 2.5, 1e-5)
			rr := ask(t, c.adj, dp.ApproximateDP{Epsilon: loss}, 7, query, 2.5, 1e-5)
			if math.Abs(b.Upper/rr.Upper-1) > 1e-9 || c.class && b.Lower != rr.Lower || !c.class && b.Lower != 0 {
				t.Errorf("7 of %+v: %s %v; randomised response has %v", c.event, query, b, rr)
			}
		}
		f, err := account.NewFilter(c.adj, dp.Budget{Epsilon: 2 * loss, Delta: 1e-9}, account.Basic, account.FilterOptions{})
		if err != nil || f.Charge(t.Context(), c.event) != nil || f.Charge(t.Context(), c.event) != nil || !errors.Is(f.Charge(t.Context(), c.event), account.ErrExhausted) {
			t.Errorf("%+v: a basic filter of twice its epsilon should hold it twice", c.event)
		}
	}
}

// noisyMax is the probability that the first candidate wins, by a sum over its noise;
// survival is the tail of the noise of scale 1, density its density.
func noisyMax(scores []float64, scale float64, survival, density func(x float64) float64) float64 {
	const step = 1e-3
	total := 0.0
	for x := -40 + step/2; x < 40; x += step {
		p := density(x) * step
		for _, s := range scores[1:] {
			p *= 1 - survival(x+(scores[0]-s)/scale)
		}
		total += p
	}
	return total
}

// TestNoisyMaxKeepsItsLoss integrates the choice among three candidates on pairs of
// neighbours: no probability changes by more than the event's epsilon, and some pair
// comes near it, so no smaller one holds.
func TestNoisyMaxKeepsItsLoss(t *testing.T) {
	laws := map[string][2]func(x float64) float64{
		"laplace": {
			func(x float64) float64 {
				if x < 0 {
					return 1 - math.Exp(x)/2
				}
				return math.Exp(-x) / 2
			},
			func(x float64) float64 { return math.Exp(-math.Abs(x)) / 2 },
		},
		"exponential": {
			func(x float64) float64 { return math.Exp(-max(x, 0)) },
			func(x float64) float64 {
				if x < 0 {
					return 0
				}
				return math.Exp(-x)
			},
		},
	}
	for noise, law := range laws {
		for _, monotone := range []bool{false, true} {
			adj := dp.AddRemoveOne
			e := dp.ReportNoisyMax{Noise: noise, Scale: 1.5, Sensitivity: .5, Monotone: monotone}
			b := ask(t, adj, e, 1, "epsilon", 0, 0)
			worst := 0.0
			for _, gap := range []float64{-9, -2, 0, 2} {
				for _, up := range []float64{-1, 0, 1} {
					for _, other := range []float64{-1, 0, 1} {
						if monotone && up*other < 0 {
							continue
						}
						old := []float64{gap, 0, -1}
						now := []float64{gap + up*e.Sensitivity, other * e.Sensitivity, -1 + other*e.Sensitivity}
						p, q := noisyMax(old, e.Scale, law[0], law[1]), noisyMax(now, e.Scale, law[0], law[1])
						worst = max(worst, math.Abs(math.Log(p/q)))
					}
				}
			}
			if worst > b.Upper*(1+1e-6) || worst < b.Upper*.99 {
				t.Errorf("%+v: a loss of %v among neighbours; claimed is %v", e, worst, b.Upper)
			}
		}
	}
	err := account.New(dp.ReplaceOne).Compose(t.Context(), dp.ReportNoisyMax{Noise: "laplace", Scale: 1, Sensitivity: 1, Monotone: true}, 1)
	if !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("monotone under replace_one: %v; want ErrUnsupported", err)
	}
}

// odds is the two-point pair of losses top and top-epsilon: its mass at top.
func odds(epsilon, top float64) float64 { return math.Expm1(top-epsilon) / math.Expm1(-epsilon) }

// fixedOdds is the largest delta of k choices of bounded range with one pair of losses
// for all, as Dong, Durfee and Rogers (2020) state it: a binomial sum, maximised over the pair.
func fixedOdds(epsilon float64, k int, at float64) float64 {
	best := 0.0
	for i := 1; i < 4000; i++ {
		top := epsilon * float64(i) / 4000
		p, sum, choose := odds(epsilon, top), 0.0, 1.0
		for j := 0; j <= k; j++ { // j times the lower loss
			mass := choose * math.Pow(p, float64(k-j)) * math.Pow(1-p, float64(j))
			sum += mass * max(0, -math.Expm1(at-float64(k)*top+float64(j)*epsilon))
			choose *= float64(k-j) / float64(j+1)
		}
		best = max(best, sum)
	}
	return best
}

func TestExponentialMechanismHasBoundedRange(t *testing.T) {
	for _, e0 := range []float64{1e-3, .1, 1, 5} {
		e := dp.Exponential{Epsilon: e0}
		for _, share := range []float64{0, .3, .9} {
			want := fixedOdds(e0, 1, share*e0)
			b := ask(t, dp.ReplaceOne, e, 1, "delta", share*e0, 0)
			if b.Lower > b.Upper || math.Abs(b.Upper/want-1) > 1e-6 || math.Abs(b.Lower/b.Upper-1) > 1e-12 {
				t.Errorf("epsilon %v at %v of it: delta %v; the worst pair has %v", e0, share, b, want)
			}
		}
		for _, k := range []int{2, 10, 40} {
			for _, at := range []float64{0, .1, .4} {
				at *= float64(k) * e0
				want := fixedOdds(e0, k, at)
				b := ask(t, dp.AddRemoveOne, e, int64(k), "delta", at, 0)
				response := ask(t, dp.AddRemoveOne, dp.PureDP{Epsilon: e0}, int64(k), "delta", at, 0)
				if b.Upper < want*(1-1e-9) || b.Lower > want*(1+1e-9) {
					t.Errorf("%d of epsilon %v at %v: delta %v; one pair for all runs has %v", k, e0, at, b, want)
				}
				if want > 1e-12 && (b.Upper > response.Upper*1.001 || b.Lower < want/2) {
					t.Errorf("%d of epsilon %v at %v: delta %v; one pair for all runs %v, pure %v", k, e0, at, b, want, response)
				}
			}
		}
	}
	// Half of the range is lost to no one: 100 choices of .1 cost half as much as 100 pure mechanisms.
	range100, pure100 := ask(t, dp.ReplaceOne, dp.Exponential{Epsilon: .1}, 100, "epsilon", 0, 1e-6), ask(t, dp.ReplaceOne, dp.PureDP{Epsilon: .1}, 100, "epsilon", 0, 1e-6)
	if !(range100.Upper < .56*pure100.Lower) {
		t.Errorf("100 choices cost %v, 100 pure mechanisms %v", range100, pure100)
	}
}

// TestBoundedRangeRenyiIsTheLargestOfTwoPoints holds the closed form against a search
// over the pairs of two losses.
func TestBoundedRangeRenyiIsTheLargestOfTwoPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e0 := math.Exp(rapid.Float64Range(-4, 3).Draw(t, "ln epsilon"))
		order := 1 + math.Exp(rapid.Float64Range(-4, 4).Draw(t, "ln(order-1)"))
		r := account.NewRDP(dp.ReplaceOne)
		if err := r.Compose(t.Context(), dp.Exponential{Epsilon: e0}, 1); err != nil {
			t.Fatal(err)
		}
		best := 0.0
		for i := 1; i < 2000; i++ {
			top := e0 * float64(i) / 2000
			p := odds(e0, top)
			best = max(best, top+math.Log(p+(1-p)*math.Exp(-(order-1)*e0))/(order-1))
		}
		if got := r.Renyi(order); got < best*(1-1e-9) || got > best*(1+1e-4)+1e-12 || got > order*e0*e0/8*(1+1e-9) {
			t.Fatalf("epsilon %v, order %v: %v; the worst pair has %v, Hoeffding's lemma %v", e0, order, got, best, order*e0*e0/8)
		}
	})
}

// TestSampledChoices: a sample amplifies as it does for (epsilon, delta)-private mechanisms.
func TestSampledChoices(t *testing.T) {
	for _, e := range []dp.Event{dp.PureDP{Epsilon: 1}, dp.PermuteAndFlip{Epsilon: 1}, dp.Exponential{Epsilon: 1}} {
		b := ask(t, dp.AddRemoveOne, dp.PoissonSampled{Rate: .1, Event: e}, 1, "epsilon", 0, 1e-12)
		if want := math.Log1p(.1 * math.Expm1(1)); b.Upper > want*(1+1e-6) || b.Upper < want*.95 {
			t.Errorf("sampled %+v: %v; want about %v", e, b, want)
		}
		if err := account.New(dp.ReplaceOne).Compose(t.Context(), dp.PoissonSampled{Rate: .1, Event: e}, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("sampled %+v under replace_one: %v; want ErrUnsupported", e, err)
		}
	}
}
