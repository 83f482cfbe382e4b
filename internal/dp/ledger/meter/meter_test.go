package meter_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/ledger/meter"
)

var rules = []account.Rule{account.Basic, account.GaussianDP, account.Renyi}

// anEvent draws an event of a size at which some tens of it fit the budget.
func anEvent(t *rapid.T, b dp.Budget, depth int) dp.Event {
	noise := math.Exp(rapid.Float64Range(0, 5).Draw(t, "ln noise")) / b.Epsilon
	kind := rapid.IntRange(0, 11).Draw(t, "kind")
	if depth > 2 && kind >= 6 && kind <= 8 {
		kind = 5
	}
	switch kind {
	case 9:
		return rapid.SampledFrom([]dp.Event{dp.PureDP{Epsilon: 1 / noise}, dp.Exponential{Epsilon: 1 / noise}, dp.PermuteAndFlip{Epsilon: 1 / noise},
			dp.ReportNoisyMax{Noise: "laplace", Scale: noise, Sensitivity: .5}}).Draw(t, "choice")
	case 10:
		if rapid.Bool().Draw(t, "best of some") {
			return dp.SelectBest{Runs: "geometric", Gamma: .2, Event: dp.Gaussian{NoiseMultiplier: noise}}
		}
		return dp.RenyiCurve{Orders: []float64{2, 60}, Values: []float64{1 / noise, 2 / noise}}
	case 11:
		return dp.PrivacyLoss{Losses: []float64{0, 1 / noise}, Masses: []float64{.5, .5 - b.Delta/100}, Infinity: b.Delta / 100}
	case 0:
		return dp.GaussianDP{Mu: 1 / noise}
	case 1:
		return dp.Gaussian{NoiseMultiplier: noise}
	case 2:
		return dp.Laplace{NoiseMultiplier: noise}
	case 3:
		return dp.ApproximateDP{Epsilon: 1 / noise, Delta: rapid.SampledFrom([]float64{0, b.Delta / 50}).Draw(t, "delta")}
	case 4:
		return dp.RandomizedResponse{Buckets: 2, NoiseParameter: rapid.Float64Range(0.5, 1).Draw(t, "noise parameter")}
	case 5:
		return dp.DiscreteLaplace{Scale: noise, Norm: 1}
	case 6:
		return dp.SelfComposed{Count: rapid.Int64Range(1, 5).Draw(t, "count"), Event: anEvent(t, b, depth+1)}
	case 7:
		return dp.PoissonSampled{Rate: rapid.SampledFrom([]float64{0.1, 1}).Draw(t, "rate"), Event: dp.Gaussian{NoiseMultiplier: noise}}
	}
	return dp.Composed{Events: []dp.Event{anEvent(t, b, depth+1), anEvent(t, b, depth+1)}}
}

// A meter takes what a filter of package account takes: sequence by sequence the
// same answers, for every rule, adjacency and reserve.
func TestMeterDecidesAsTheFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := dp.Budget{Epsilon: math.Exp(rapid.Float64Range(-2, 2).Draw(t, "ln epsilon")), Delta: math.Exp(rapid.Float64Range(-20, -6).Draw(t, "ln delta"))}
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		rule := rapid.SampledFrom(rules).Draw(t, "rule")
		o := account.FilterOptions{}
		if rule != account.Basic && rapid.Bool().Draw(t, "reserve") {
			o.Reserve = dp.Budget{Epsilon: b.Epsilon / 4, Delta: b.Delta / 2}
		}
		f, err := account.NewFilter(adj, b, rule, o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := meter.New(adj, b, rule, o)
		if err != nil || m.Order() != f.Order() {
			t.Fatal(err)
		}
		limits, err := m.Limits(b, o.Reserve)
		if err != nil {
			t.Fatal(err)
		}
		var total account.Cost
		for range 25 {
			e := anEvent(t, b, 0)
			want := f.Charge(t.Context(), e)
			cost, err := m.Cost(t.Context(), e)
			got := err == nil && total.Plus(cost).Within(limits.Most)
			// Without a reserve the filter calls unsupported what the meter finds too
			// large for nothing.
			if (want == nil) != got || errors.Is(want, account.ErrExhausted) && err != nil {
				t.Fatalf("%v rule, %v: the filter says %v; the meter %v, %v of %v after %v", rule, e, want, err, cost, limits.Most, total)
			}
			if got {
				total = total.Plus(cost)
			}
		}
		spent, err := m.Spent(total, limits)
		exact, err2 := f.Spent()
		if err != nil || err2 != nil || !near(spent.Epsilon, exact.Epsilon) || !near(spent.Delta, exact.Delta) || spent.Epsilon > b.Epsilon || spent.Delta > b.Delta {
			t.Fatalf("spent %v, %v; the filter says %v, %v of %v", spent, err, exact, err2, b)
		}
		left, remaining := m.Left(total, limits), f.Remaining()
		if !near(left.Basic.Epsilon, remaining.Basic.Epsilon) || math.Abs(left.Mu-remaining.Mu) > 1e-6*b.Epsilon || math.Abs(left.Divergence-remaining.Divergence) > 1e-12*b.Epsilon {
			t.Fatalf("left %v; the filter says %v", left, remaining)
		}
	})
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestCostsAreThoseOfTheTheorems(t *testing.T) {
	b := dp.Budget{Epsilon: 2, Delta: 1e-6}
	for _, c := range []struct {
		rule  account.Rule
		event dp.Event
		want  account.Cost
	}{
		// mu = 2/8 under replace_one.
		{account.GaussianDP, dp.Gaussian{NoiseMultiplier: 8}, account.Cost{Sum: 1. / 16}},
		{account.GaussianDP, dp.SelfComposed{Count: 3, Event: dp.Gaussian{NoiseMultiplier: 8}}, account.Cost{Sum: 3. / 16}},
		{account.GaussianDP, dp.Laplace{NoiseMultiplier: 8}, account.Cost{Epsilon: 0.25}},
		{account.GaussianDP, dp.ApproximateDP{Epsilon: 0.5, Delta: 1e-9}, account.Cost{Epsilon: 0.5, Delta: 1e-9}},
		// One Gaussian among others does not make a tree Gaussian.
		{account.GaussianDP, dp.Composed{Events: []dp.Event{dp.Laplace{NoiseMultiplier: 8}, dp.ApproximateDP{Epsilon: 1}}}, account.Cost{Epsilon: 1.25}},
		// Renyi of order 8: a mu^2/2.
		{account.Renyi, dp.Gaussian{NoiseMultiplier: 8}, account.Cost{Sum: 8. / 32}},
		// A delta is seen by no divergence.
		{account.Renyi, dp.ApproximateDP{Epsilon: 0.5, Delta: 1e-9}, account.Cost{Epsilon: 0.5, Delta: 1e-9}},
		{account.Basic, dp.SelfComposed{Count: 4, Event: dp.Laplace{NoiseMultiplier: 8}}, account.Cost{Epsilon: 1}},
	} {
		m, err := meter.New(dp.ReplaceOne, b, c.rule, account.FilterOptions{Order: 8})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Cost(t.Context(), c.event)
		if err != nil || !near(got.Sum, c.want.Sum) || !near(got.Epsilon, c.want.Epsilon) || !near(got.Delta, c.want.Delta) {
			t.Errorf("%v rule: %v costs %v, %v; want %v", c.rule, c.event, got, err, c.want)
		}
		if got.Sum < c.want.Sum || got.Epsilon < c.want.Epsilon || got.Delta < c.want.Delta {
			t.Errorf("%v rule: %v costs %v, below %v", c.rule, c.event, got, c.want)
		}
	}
}

func BenchmarkCost(b *testing.B) {
	m, err := meter.New(dp.ReplaceOne, dp.Budget{Epsilon: 1, Delta: 1e-6}, account.GaussianDP, account.FilterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var e dp.Event = dp.SelfComposed{Count: 100, Event: dp.Gaussian{NoiseMultiplier: 8}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Cost(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}

// A conversion by an accountant of a slightly wider bracket stands; one of less than
// the event costs does not, such as that of a discrete Gaussian vector taken to be a
// number.
func TestConversionsOfOtherVersionsStandIfTheyCover(t *testing.T) {
	m, err := meter.New(dp.AddRemoveOne, dp.Budget{Epsilon: 100, Delta: 1e-3}, account.Basic, account.FilterOptions{ChargeDelta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	vector := dp.DiscreteGaussian{Sigma: .6, Norm: 2}
	twoSmooth := dp.SelfComposed{Count: 2, Event: dp.SmoothGaussian{Alpha: 9, Beta: .01, Dimension: 3}}
	sampled := dp.SelfComposed{Count: 100, Event: dp.PoissonSampled{Rate: .1, Event: dp.Gaussian{NoiseMultiplier: 2}}}
	for _, c := range []struct {
		event  dp.Event
		factor float64
		want   bool
	}{
		{sampled, 1.001, true}, {sampled, 1.2, true}, {sampled, 2, false}, {sampled, .9, false},
		{twoSmooth, 1.06, true}, {twoSmooth, .9, false},
		{vector, 1.06, true}, {vector, 16.66 / 19.27, false},
		{dp.Laplace{NoiseMultiplier: 1}, 1.1, false},
	} {
		cost, err := m.Cost(t.Context(), c.event)
		if err != nil {
			t.Fatal(err)
		}
		cost.Epsilon *= c.factor
		if ok, err := m.Converted(t.Context(), c.event, cost); err != nil || ok != c.want {
			t.Errorf("%v times %v: %v, %v; want %v", c.event, c.factor, ok, err, c.want)
		}
	}
}
