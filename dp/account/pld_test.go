package account_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

func sgd(rate, noise float64) dp.Event {
	return dp.PoissonSampled{Rate: rate, Event: dp.Gaussian{NoiseMultiplier: noise}}
}

func without(population, sample int64, noise float64) dp.Event {
	return dp.SampledWithoutReplacement{Population: population, Sample: sample, Event: dp.Gaussian{NoiseMultiplier: noise}}
}

// drawEvent is an event that leaves a sum of some size, and the adjacencies
// under which the PLD accountant takes it.
func drawEvent(t *rapid.T, adj dp.Adjacency) dp.Event {
	noise := math.Exp(rapid.Float64Range(math.Log(0.4), math.Log(20)).Draw(t, "noise"))
	rate := math.Exp(rapid.Float64Range(math.Log(1e-6), math.Log(0.9)).Draw(t, "rate"))
	kinds := []dp.Event{
		dp.Gaussian{NoiseMultiplier: noise}, dp.Laplace{NoiseMultiplier: noise}, sgd(rate, noise),
		dp.PoissonSampled{Rate: rate, Event: dp.Laplace{NoiseMultiplier: noise}},
		dp.DiscreteGaussian{Sigma: noise, Norm: 1, Dimension: 1}, dp.DiscreteLaplace{Scale: noise, Norm: 2},
		dp.ApproximateDP{Epsilon: 1 / noise, Delta: 1e-15}, dp.PureDP{Epsilon: 1 / noise}, dp.Exponential{Epsilon: 1 / noise},
		dp.PermuteAndFlip{Epsilon: 1 / noise}, dp.ReportNoisyMax{Noise: "exponential", Scale: noise, Sensitivity: 1}, responseLoss(1 / noise),
	}
	if adj == dp.ReplaceOne {
		kinds = append(kinds, without(1000, 1+int64(rate*999), noise), dp.RandomizedResponse{Buckets: 3, NoiseParameter: rate})
	}
	return rapid.SampledFrom(kinds).Draw(t, "event")
}

// few checks a property on the first draws of rapid's; one costs milliseconds.
func few(t *testing.T, property func(t *rapid.T)) {
	draws, passed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		// Once one has not passed, rapid needs all that follow to shrink it.
		if draws == passed && passed >= firstDraws {
			return
		}
		draws++
		property(t)
		if !t.Failed() {
			passed++
		}
	})
}

func drawAdjacency(t *rapid.T) dp.Adjacency {
	return rapid.SampledFrom([]dp.Adjacency{dp.AddRemoveOne, dp.ReplaceOne}).Draw(t, "adjacency")
}

func epsilon(t *rapid.T, adj dp.Adjacency, e dp.Event, count int64, delta float64) account.Bracket {
	t.Helper()
	p := account.NewPLD(adj)
	if err := p.Compose(t.Context(), e, count); err != nil {
		t.Fatal(err)
	}
	b, err := p.Epsilon(t.Context(), delta)
	if err != nil {
		t.Fatal(err)
	}
	if !(b.Lower >= 0 && b.Lower <= b.Upper) || math.IsInf(b.Upper, 1) {
		t.Fatalf("%v x %+v under %v: %v is no bracket", count, e, adj, b)
	}
	return b
}

// TestPLDMoreRunsCostMore also holds delta against epsilon: the delta at the
// upper epsilon may not certainly exceed the delta asked for.
func TestPLDMoreRunsCostMore(t *testing.T) {
	few(t, func(t *rapid.T) {
		adj := drawAdjacency(t)
		e := drawEvent(t, adj)
		n := rapid.Int64Range(1, 200).Draw(t, "runs")
		delta := math.Exp(rapid.Float64Range(math.Log(1e-10), math.Log(1e-2)).Draw(t, "ln delta"))
		once, more := epsilon(t, adj, e, n, delta), epsilon(t, adj, e, 2*n, delta)
		if more.Upper < once.Lower {
			t.Errorf("%d runs cost %v, %d runs %v", n, once, 2*n, more)
		}
		if less := epsilon(t, adj, e, n, delta/10); less.Upper < once.Lower {
			t.Errorf("delta %v costs %v, a tenth of it %v", delta, once, less)
		}
		p := account.NewPLD(adj)
		if err := p.Compose(t.Context(), e, n); err != nil {
			t.Fatal(err)
		}
		if d, err := p.Delta(t.Context(), once.Upper); err != nil || d.Lower > delta*(1+1e-6) {
			t.Errorf("epsilon %v at delta %v, but delta %v there (%v)", once, delta, d, err)
		}
		if d, err := p.Delta(t.Context(), once.Lower); err != nil || once.Lower > 0 && d.Upper < delta*(1-1e-6) {
			t.Errorf("epsilon %v at delta %v, but delta %v at its lower end (%v)", once, delta, d, err)
		}
	})
}

// TestPLDSplittingNeverHelps composes the same runs in two parts, in a tree and
// in one.
func TestPLDSplittingNeverHelps(t *testing.T) {
	few(t, func(t *rapid.T) {
		adj := drawAdjacency(t)
		e, f := drawEvent(t, adj), drawEvent(t, adj)
		n := rapid.Int64Range(2, 60).Draw(t, "runs")
		k := rapid.Int64Range(1, n-1).Draw(t, "first")
		whole := epsilon(t, adj, dp.Composed{Events: []dp.Event{dp.SelfComposed{Count: n, Event: e}, f}}, 1, 1e-6)
		p := account.NewPLD(adj)
		for _, part := range []dp.Event{dp.SelfComposed{Count: k, Event: e}, f, dp.SelfComposed{Count: n - k, Event: e}} {
			if err := p.Compose(t.Context(), part, 1); err != nil {
				t.Fatal(err)
			}
		}
		parts, err := p.Epsilon(t.Context(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if parts.Upper < whole.Lower || whole.Upper < parts.Lower {
			t.Errorf("whole %v, in parts %v; want the same", whole, parts)
		}
	})
}

// TestPLDMoreNoiseAndRarerSamplesCostLess also holds the two adjacencies against
// each other: a person replaced is a person removed and one added, at most.
func TestPLDMoreNoiseAndRarerSamplesCostLess(t *testing.T) {
	few(t, func(t *rapid.T) {
		adj := drawAdjacency(t)
		rate := math.Exp(rapid.Float64Range(math.Log(1e-7), math.Log(0.5)).Draw(t, "ln rate"))
		noise := rapid.Float64Range(0.4, 10).Draw(t, "noise")
		n := rapid.Int64Range(1, 1e6).Draw(t, "runs")
		delta := math.Exp(rapid.Float64Range(math.Log(1e-14), math.Log(1e-3)).Draw(t, "ln delta"))
		b := epsilon(t, adj, sgd(rate, noise), n, delta)
		if less := epsilon(t, adj, sgd(rate, noise*1.1), n, delta); less.Lower > b.Upper {
			t.Errorf("noise %v costs %v, noise %v costs %v", noise, b, noise*1.1, less)
		}
		if less := epsilon(t, adj, sgd(rate*0.9, noise), n, delta); less.Lower > b.Upper {
			t.Errorf("rate %v costs %v, rate %v costs %v", rate, b, rate*0.9, less)
		}
		add, replace := epsilon(t, dp.AddRemoveOne, sgd(rate, noise), n, delta), epsilon(t, dp.ReplaceOne, sgd(rate, noise), n, delta)
		if add.Lower > replace.Upper {
			t.Errorf("add_remove_one %v, replace_one %v", add, replace)
		}
	})
}

// TestPLDNeverExceedsRenyi: the Renyi accountant's upper ends hold too, and are
// computed by other means altogether.
func TestPLDNeverExceedsRenyi(t *testing.T) {
	few(t, func(t *rapid.T) {
		noise := rapid.Float64Range(0.4, 10).Draw(t, "noise")
		e := rapid.SampledFrom([]dp.Event{
			sgd(math.Exp(rapid.Float64Range(math.Log(1e-8), math.Log(0.5)).Draw(t, "ln rate")), noise),
			dp.Laplace{NoiseMultiplier: noise}, dp.DiscreteGaussian{Sigma: noise, Norm: 1, Dimension: 1},
		}).Draw(t, "event")
		n := rapid.Int64Range(1, 1e5).Draw(t, "runs")
		delta := math.Exp(rapid.Float64Range(math.Log(1e-12), math.Log(1e-3)).Draw(t, "ln delta"))
		b := epsilon(t, dp.AddRemoveOne, e, n, delta)
		r := account.NewRDP(dp.AddRemoveOne)
		if err := r.Compose(t.Context(), e, n); err != nil {
			t.Fatal(err)
		}
		bound, err := r.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		if b.Lower > bound.Upper {
			t.Errorf("%d x %+v, delta %v: PLD %v, Renyi %v", n, e, delta, b, bound)
		}
	})
}

// TestPLDReducesEventsThatAreTheSame gives one mechanism in two ways.
func TestPLDReducesEventsThatAreTheSame(t *testing.T) {
	inner := dp.Gaussian{NoiseMultiplier: 1.5}
	for name, pair := range map[string][2]dp.Event{
		"rate 1":             {dp.PoissonSampled{Rate: 1, Event: inner}, inner},
		"whole population":   {without(50, 50, 1.5), inner},
		"sample of a sample": {dp.PoissonSampled{Rate: 0.25, Event: sgd(0.5, 1.5)}, sgd(0.125, 1.5)},
		"batch of a batch":   {dp.SampledWithoutReplacement{Population: 60, Sample: 30, Event: without(30, 3, 1.5)}, without(60, 3, 1.5)},
		"one run in a sample": {
			dp.PoissonSampled{Rate: 0.1, Event: dp.SelfComposed{Count: 1, Event: dp.Composed{Events: []dp.Event{inner}}}}, sgd(0.1, 1.5),
		},
	} {
		a, b := ask(t, dp.ReplaceOne, pair[0], 10, "epsilon", 0, 1e-5), ask(t, dp.ReplaceOne, pair[1], 10, "epsilon", 0, 1e-5)
		if a != b {
			t.Errorf("%s: %v; want %v", name, a, b)
		}
	}
}

// TestPLDRefusesByNameAndChangesNothing holds the refusals, and that what was
// composed before stays as it was.
func TestPLDRefusesByNameAndChangesNothing(t *testing.T) {
	laplace := dp.Laplace{NoiseMultiplier: 1}
	for _, c := range []struct {
		adj   dp.Adjacency
		event dp.Event
		want  error
		text  string
	}{
		{dp.AddRemoveOne, dp.RandomizedResponse{Buckets: 2, NoiseParameter: 0.5}, account.ErrUnsupported, "randomized_response"},
		{dp.AddRemoveOne, without(10, 2, 1), account.ErrUnsupported, "sampled_without_replacement"},
		{dp.ReplaceOne, dp.PoissonSampled{Rate: 0.1, Event: dp.SelfComposed{Count: 2, Event: laplace}}, account.ErrUnsupported, "poisson_sampled"},
		{dp.ReplaceOne, dp.PoissonSampled{Rate: 0.1, Event: dp.ApproximateDP{Epsilon: 1}}, account.ErrUnsupported, "approximate_dp"},
		{dp.ReplaceOne, dp.PoissonSampled{Rate: 0.1, Event: without(10, 2, 1)}, account.ErrUnsupported, "sampled_without_replacement"},
		{dp.AddRemoveOne, dp.DiscreteGaussian{Sigma: 1, Norm: 30}, account.ErrUncertified, "discrete_gaussian"},
		{dp.AddRemoveOne, dp.PoissonSampled{Rate: .1, Event: dp.DiscreteGaussian{Sigma: 1, Norm: 30}}, account.ErrUncertified, "add noise"},
		{dp.AddRemoveOne, sgd(0.1, 1e-3), account.ErrUncertified, "gaussian"},
		{dp.AddRemoveOne, dp.SelfComposed{Count: 1 << 50, Event: laplace}, account.ErrUncertified, "laplace"},
		{dp.AddRemoveOne, dp.SmoothGaussian{Alpha: 8, Beta: 0.01, Dimension: 5}, account.ErrUnsupported, "approximate_dp"},
		{dp.AddRemoveOne, dp.Laplace{}, dp.ErrEvent, "laplace"},
	} {
		p := account.NewPLD(c.adj)
		if err := p.Compose(t.Context(), laplace, 3); err != nil {
			t.Fatal(err)
		}
		before, err := p.Epsilon(t.Context(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Compose(t.Context(), dp.Composed{Events: []dp.Event{laplace, c.event}}, 1)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v under %v: %v; want %v that names %s", c.event, c.adj, err, c.want, c.text)
		}
		if after, err := p.Epsilon(t.Context(), 1e-6); err != nil || after != before {
			t.Errorf("%+v: refused, but epsilon went from %v to %v (%v)", c.event, before, after, err)
		}
	}
	if _, err := account.NewPLD(dp.AddRemoveOne).Epsilon(t.Context(), -1); !errors.Is(err, dp.ErrBudget) {
		t.Errorf("delta -1: %v; want ErrBudget", err)
	}
	spent := account.NewPLD(dp.AddRemoveOne)
	if err := spent.Compose(t.Context(), dp.ApproximateDP{Epsilon: 0.1, Delta: 1e-6}, 20); err != nil {
		t.Fatal(err)
	}
	if _, err := spent.Epsilon(t.Context(), 1e-5); !errors.Is(err, account.ErrUncertified) {
		t.Errorf("delta below the events' own: %v; want ErrUncertified", err)
	}
}

// TestPLDPureEventsAddUpAtDeltaZero: the largest losses of independent runs meet.
func TestPLDPureEventsAddUpAtDeltaZero(t *testing.T) {
	e := dp.Composed{Events: []dp.Event{
		dp.SelfComposed{Count: 3, Event: dp.Laplace{NoiseMultiplier: 2}}, dp.ApproximateDP{Epsilon: 0.25}, dp.DiscreteLaplace{Scale: 4, Norm: 1},
	}}
	for adj, want := range map[dp.Adjacency]float64{dp.AddRemoveOne: 2, dp.ReplaceOne: 3.75} {
		b := ask(t, adj, e, 1, "epsilon", 0, 0)
		if b.Lower > want || b.Upper < want || b.Upper > want*(1+1e-12) {
			t.Errorf("%v: epsilon %v at delta 0; want %v", adj, b, want)
		}
		if tiny := ask(t, adj, e, 1, "epsilon", 0, 1e-15); tiny.Upper > b.Upper*(1+1e-8) || tiny.Lower < b.Lower*(1-1e-6) {
			t.Errorf("%v: epsilon %v at delta 1e-15, %v at 0", adj, tiny, b)
		}
	}
	p := account.NewPLD(dp.AddRemoveOne)
	if err := p.Compose(t.Context(), sgd(0.1, 1), 3); err != nil {
		t.Fatal(err)
	}
	if b, err := p.Epsilon(t.Context(), 0); err == nil {
		t.Errorf("Gaussian noise at delta 0: %v; want an error", b)
	}
}

// TestPLDEventsWithoutLossCostNothing includes an answer that never looks at the
// data, and nothing at all.
func TestPLDEventsWithoutLossCostNothing(t *testing.T) {
	coin := dp.RandomizedResponse{Buckets: 2, NoiseParameter: 1}
	if b := ask(t, dp.ReplaceOne, coin, 1000, "epsilon", 0, 1e-6); b.Upper != 0 {
		t.Errorf("epsilon %v; want 0", b)
	}
	with := ask(t, dp.ReplaceOne, dp.Composed{Events: []dp.Event{coin, sgd(0.1, 1)}}, 5, "epsilon", 0, 1e-6)
	bare := ask(t, dp.ReplaceOne, sgd(0.1, 1), 5, "epsilon", 0, 1e-6)
	if with.Lower > bare.Upper || bare.Lower > with.Upper || with.Upper > bare.Upper*1.001 {
		t.Errorf("with a coin %v, without %v; want the same", with, bare)
	}
	if b, err := account.NewPLD(dp.ReplaceOne).Epsilon(t.Context(), 1e-6); err != nil || b != (account.Bracket{}) {
		t.Errorf("nothing composed: %v, %v; want 0", b, err)
	}
}

// TestPLDSaysWhyNoEpsilonIsCertain tells events that fail with more than delta
// from noise that is too small.
func TestPLDSaysWhyNoEpsilonIsCertain(t *testing.T) {
	leaky := dp.ApproximateDP{Epsilon: 0.1, Delta: 1e-6}
	for _, c := range []struct {
		event dp.Event
		count int64
		want  string
	}{
		{leaky, 20, "(epsilon, delta) events themselves"},
		{dp.PoissonSampled{Rate: 0.5, Event: leaky}, 40, "(epsilon, delta) events themselves"},
		{dp.DiscreteGaussian{Sigma: 0.09, Norm: 1}, 1, "add noise"},
	} {
		p := account.NewPLD(dp.AddRemoveOne)
		if err := p.Compose(t.Context(), c.event, c.count); err != nil {
			t.Fatal(err)
		}
		if b, err := p.Epsilon(t.Context(), 1e-5); !errors.Is(err, account.ErrUncertified) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d x %#v: %v, %v; want ErrUncertified with %q", c.count, c.event, b, err, c.want)
		}
	}
}

// TestPLDRefusesDiscreteNoiseBeyondItsNumerics: what would underflow or overflow
// must not pass for a loss of 0.
func TestPLDRefusesDiscreteNoiseBeyondItsNumerics(t *testing.T) {
	for _, event := range []dp.Event{
		dp.DiscreteGaussian{Sigma: 0.086, Norm: 1}, dp.DiscreteGaussian{Sigma: 0.03, Norm: 1},
		dp.DiscreteGaussian{Sigma: 1e-160, Norm: 1}, dp.DiscreteGaussian{Sigma: 1, Norm: 201, Dimension: 1},
		dp.DiscreteLaplace{Scale: 1e-3, Norm: 1}, dp.DiscreteLaplace{Scale: 1, Norm: 201},
		dp.DiscreteLaplace{Scale: 1, Norm: 1e308},
	} {
		for _, e := range []dp.Event{event, dp.PoissonSampled{Rate: 0.1, Event: event}} {
			if err := account.NewPLD(dp.AddRemoveOne).Compose(t.Context(), e, 1); !errors.Is(err, account.ErrUncertified) {
				t.Errorf("%#v: %v; want ErrUncertified", e, err)
			}
		}
	}
}

// TestPLDOfTheNarrowestDiscreteGaussian holds the smallest sigma that is taken
// against the sum over its lattice points, here with a spare digit of room: with
// a = exp(-1/(2 sigma^2)), P has mass a^(j^2)/(1+2a) at the centre plus j.
func TestPLDOfTheNarrowestDiscreteGaussian(t *testing.T) {
	const sigma = 0.087
	s := 1 / (2 * sigma * sigma)
	p := account.NewPLD(dp.AddRemoveOne)
	if err := p.Compose(t.Context(), dp.DiscreteGaussian{Sigma: sigma, Norm: 1}, 1); err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []float64{1, s * 0.99, s * 1.01, 2.99 * s, 3.01 * s, 4.9 * s, 5.1 * s} {
		want := 0.0
		for j := 3.0; j >= 0; j-- { // outcome 1+j has loss (2j+1) s
			if loss := (2*j + 1) * s; loss > epsilon {
				want += math.Exp(-j*j*s) * -math.Expm1(epsilon-loss)
			}
		}
		want /= 1 + 2*math.Exp(-s)
		b, err := p.Delta(t.Context(), epsilon)
		if err != nil || b.Lower > want*(1+1e-9) || b.Upper < want*(1-1e-9) {
			t.Errorf("epsilon %v: %v, %v; want around %v", epsilon, b, err, want)
		}
	}
}

// TestPLDDiscreteLaplaceOfNoDistanceCostsNothing: no integer vector has a norm
// in (0, 1), so the sums of neighbours are equal.
func TestPLDDiscreteLaplaceOfNoDistanceCostsNothing(t *testing.T) {
	nothing := dp.DiscreteLaplace{Scale: 3, Norm: 0.5}
	with := ask(t, dp.AddRemoveOne, dp.Composed{Events: []dp.Event{nothing, sgd(0.1, 1)}}, 5, "epsilon", 0, 1e-6)
	bare := ask(t, dp.AddRemoveOne, sgd(0.1, 1), 5, "epsilon", 0, 1e-6)
	if with.Lower > bare.Upper || bare.Lower > with.Upper || with.Upper > bare.Upper*1.001 {
		t.Errorf("with %v, without %v; want the same", with, bare)
	}
}

func ExampleNewPLD() {
	a := account.NewPLD(dp.AddRemoveOne)
	step := dp.PoissonSampled{Rate: 256.0 / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1}}
	if err := a.Compose(context.Background(), step, 14062); err != nil {
		fmt.Println(err)
		return
	}
	b, err := a.Epsilon(context.Background(), 1e-5)
	fmt.Printf("epsilon at most %.3f (%v)\n", b.Upper, err)
	// Output: epsilon at most 2.382 (<nil>)
}
