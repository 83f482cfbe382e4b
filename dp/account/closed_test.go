package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// within reports that b is narrow and touches [value-tol, value+tol].
func within(b account.Bracket, value, tol float64) bool {
	return b.Lower <= b.Upper && b.Upper-b.Lower <= tol && b.Lower <= value+tol && b.Upper >= value-tol
}

func TestClosedFormMatchesReference(t *testing.T) {
	tried := 0
	for _, c := range oracles(t) {
		if c.Query == "noise_multiplier" {
			continue
		}
		e, err := dp.ParseEvent(c.Event)
		if err != nil {
			t.Fatal(err)
		}
		a := account.NewClosedForm(c.Adjacency)
		if err := a.Compose(t.Context(), e, 1); err != nil {
			if !errors.Is(err, account.ErrUnsupported) {
				t.Errorf("%s: %v", c.ID, err)
			}
			continue
		}
		tried++
		var got account.Bracket
		if c.Query == "epsilon" {
			got, err = a.Epsilon(t.Context(), c.Delta)
		} else {
			got, err = a.Delta(t.Context(), c.Epsilon)
		}
		if err != nil || !within(got, c.Value, 1e-9*math.Max(c.Value, 1)) {
			t.Errorf("%s: %v, %v; want %v", c.ID, got, err, c.Value)
		}
	}
	if tried != 14 {
		t.Errorf("%d cases had a closed form; want 14", tried)
	}
}

// hockeyStick sums max(0, P - e^eps Q) over two finite laws.
func hockeyStick(p, q []float64, epsilon float64) float64 {
	sum := 0.0
	for i := range p {
		sum += math.Max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return sum
}

func TestDiscreteLaplaceAndResponseMatchTheirDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Float64Range(0.3, 8).Draw(t, "scale")
		norm := float64(rapid.IntRange(1, 6).Draw(t, "norm"))
		k := rapid.IntRange(2, 9).Draw(t, "buckets")
		noise := rapid.Float64Range(0.01, 1).Draw(t, "noise")
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		gap := adj.SumSensitivity(norm)
		epsilon := rapid.Float64Range(0, 1.1*gap/scale).Draw(t, "epsilon")
		var p, q []float64
		w := (1 - math.Exp(-1/scale)) / (1 + math.Exp(-1/scale))
		for x := -400.0; x <= 400; x++ {
			p = append(p, w*math.Exp(-math.Abs(x)/scale))
			q = append(q, w*math.Exp(-math.Abs(x-gap)/scale))
		}
		check := func(adj dp.Adjacency, e dp.Event, want float64) {
			a := account.NewClosedForm(adj)
			if err := a.Compose(t.Context(), e, 1); err != nil {
				t.Fatal(err)
			}
			got, err := a.Delta(t.Context(), epsilon)
			if err != nil || !within(got, want, 1e-12) {
				t.Fatalf("%v: delta %v, %v; want %v", e, got, err, want)
			}
			if want < 1e-12 {
				return
			}
			back, err := a.Epsilon(t.Context(), got.Upper)
			if err != nil || back.Lower > epsilon || back.Upper < back.Lower {
				t.Fatalf("%v: epsilon %v, %v; want at most %v", e, back, err, epsilon)
			}
			if again, err := a.Delta(t.Context(), back.Lower); err != nil || !within(again, want, 1e-12) {
				t.Fatalf("%v: delta at epsilon %v is %v, %v; want %v", e, back.Lower, again, err, want)
			}
		}
		check(adj, dp.DiscreteLaplace{Scale: scale, Norm: norm + 0.25}, hockeyStick(p, q, epsilon))
		one, two := make([]float64, k), make([]float64, k)
		for i := range one {
			one[i], two[i] = noise/float64(k), noise/float64(k)
		}
		one[0] += 1 - noise
		two[1] += 1 - noise
		check(dp.ReplaceOne, dp.RandomizedResponse{Buckets: k, NoiseParameter: noise}, hockeyStick(one, two, epsilon))
	})
}

func TestApproximateDPIsItsOwnWorstCase(t *testing.T) {
	a := account.NewClosedForm(dp.AddRemoveOne)
	compose(t, a, dp.ApproximateDP{Epsilon: 1, Delta: 1e-6}, 1)
	if b, err := a.Epsilon(t.Context(), 1e-6); err != nil || b.Upper != 1 || b.Lower > 1 || b.Lower < 1-1e-15 {
		t.Errorf("epsilon at its own delta: %v, %v; want 1", b, err)
	}
	if _, err := a.Epsilon(t.Context(), 1e-7); !errors.Is(err, dp.ErrBudget) {
		t.Errorf("epsilon below its own delta: %v; want ErrBudget", err)
	}
	// At epsilon 0: the total variation of randomised response, beside the leak.
	want := 1e-6 + (1-1e-6)*(math.E-1)/(math.E+1)
	if b, err := a.Delta(t.Context(), 0); err != nil || !within(b, want, 1e-13) {
		t.Errorf("delta at 0: %v, %v; want %v", b, err, want)
	}
}

func TestReplaceOneDoublesTheSensitivity(t *testing.T) {
	for _, pair := range [][2]dp.Event{
		{dp.Gaussian{NoiseMultiplier: 3}, dp.Gaussian{NoiseMultiplier: 1.5}},
		{dp.Laplace{NoiseMultiplier: 3}, dp.Laplace{NoiseMultiplier: 1.5}},
		{dp.DiscreteLaplace{Scale: 4, Norm: 3}, dp.DiscreteLaplace{Scale: 4, Norm: 6}},
		{dp.DiscreteGaussian{Sigma: 4, Norm: 3}, dp.DiscreteGaussian{Sigma: 4, Norm: 6}},
	} {
		for name, fresh := range accountants {
			one, two := fresh(dp.ReplaceOne), fresh(dp.AddRemoveOne)
			if err := one.Compose(t.Context(), pair[0], 1); errors.Is(err, account.ErrUnsupported) {
				continue
			}
			compose(t, two, pair[1], 1)
			a, err1 := one.Epsilon(t.Context(), 1e-5)
			b, err2 := two.Epsilon(t.Context(), 1e-5)
			if err1 != nil || err2 != nil || a != b {
				t.Errorf("%s: replace_one %v %v (%v), add_remove_one %v %v (%v)", name, pair[0], a, err1, pair[1], b, err2)
			}
		}
	}
}

var accountants = map[string]func(dp.Adjacency) account.Accountant{
	"closed": func(a dp.Adjacency) account.Accountant { return account.NewClosedForm(a) },
	"rdp":    func(a dp.Adjacency) account.Accountant { return account.NewRDP(a) },
}

func TestRefusalChangesNothing(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	for name, c := range map[string]struct {
		a     account.Accountant
		event dp.Event
		want  error
	}{
		"closed, two Laplace":      {account.NewClosedForm(dp.ReplaceOne), dp.SelfComposed{Count: 2, Event: dp.Laplace{NoiseMultiplier: 9}}, account.ErrUnsupported},
		"closed, half a tree":      {account.NewClosedForm(dp.ReplaceOne), dp.Composed{Events: []dp.Event{g, dp.Laplace{NoiseMultiplier: 9}}}, account.ErrUnsupported},
		"closed, sampled":          {account.NewClosedForm(dp.ReplaceOne), dp.PoissonSampled{Rate: 0.5, Event: g}, account.ErrUnsupported},
		"rdp, smooth":              {account.NewRDP(dp.ReplaceOne), dp.SmoothGaussian{Alpha: 1, Beta: 1, Dimension: 1}, account.ErrUnsupported},
		"rdp, half a tree":         {account.NewRDP(dp.ReplaceOne), dp.Composed{Events: []dp.Event{g, dp.SmoothGaussian{Alpha: 1, Beta: 1, Dimension: 1}}}, account.ErrUnsupported},
		"rdp, sampled Laplace":     {account.NewRDP(dp.ReplaceOne), dp.PoissonSampled{Rate: 0.5, Event: dp.Laplace{NoiseMultiplier: 1}}, account.ErrUnsupported},
		"rdp, response":            {account.NewRDP(dp.AddRemoveOne), dp.RandomizedResponse{Buckets: 2, NoiseParameter: 0.5}, account.ErrUnsupported},
		"closed, response":         {account.NewClosedForm(dp.AddRemoveOne), dp.RandomizedResponse{Buckets: 2, NoiseParameter: 0.5}, account.ErrUnsupported},
		"rdp, without replacement": {account.NewRDP(dp.AddRemoveOne), dp.SampledWithoutReplacement{Population: 9, Sample: 1, Event: g}, account.ErrUnsupported},
		"rdp, invalid":             {account.NewRDP(dp.ReplaceOne), dp.Gaussian{}, dp.ErrEvent},
		"closed, no adjacency":     {account.NewClosedForm(0), g, dp.ErrAdjacency},
		"closed, too many":         {account.NewClosedForm(dp.ReplaceOne), dp.SelfComposed{Count: math.MaxInt64, Event: dp.SelfComposed{Count: 2, Event: g}}, dp.ErrEvent},
		"rdp, nil":                 {account.NewRDP(dp.ReplaceOne), nil, dp.ErrEvent},
	} {
		if err := c.a.Compose(t.Context(), c.event, 1); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
		if b, err := c.a.Epsilon(t.Context(), 1e-6); err != nil || b != (account.Bracket{}) {
			t.Errorf("%s: after the refusal epsilon is %v, %v; want 0", name, b, err)
		}
	}
}

// drawGaussians builds a random tree of Gaussian events and its mu^2 under
// add_remove_one.
func drawGaussians(t *rapid.T, depth int) (dp.Event, float64) {
	switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); {
	case depth == 0 || kind == 0:
		s := rapid.Float64Range(0.5, 50).Draw(t, "multiplier")
		return dp.Gaussian{NoiseMultiplier: s}, 1 / (s * s)
	case kind == 1:
		n := rapid.Int64Range(1, 20).Draw(t, "count")
		e, square := drawGaussians(t, depth-1)
		return dp.SelfComposed{Count: n, Event: e}, float64(n) * square
	}
	var c dp.Composed
	total := 0.0
	for range rapid.IntRange(1, 3).Draw(t, "children") {
		e, square := drawGaussians(t, depth-1)
		c.Events = append(c.Events, e)
		total += square
	}
	return c, total
}

func TestGaussianTreesCollapseToOneMu(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, square := drawGaussians(t, 3)
		delta := math.Exp(rapid.Float64Range(-40, -1).Draw(t, "ln delta"))
		want, err := account.GaussianEpsilon(math.Sqrt(square), delta)
		if err != nil {
			t.Fatal(err)
		}
		a := account.NewClosedForm(dp.AddRemoveOne)
		if err := a.Compose(t.Context(), e, 1); err != nil {
			t.Fatal(err)
		}
		got, err := a.Epsilon(t.Context(), delta)
		if err != nil || !within(got, want.Upper, 1e-11*(1+want.Upper)) {
			t.Fatalf("%v: %v, %v; want %v", e, got, err, want)
		}
		// The Renyi bound lies above, and replacing costs more than adding.
		r := account.NewRDP(dp.AddRemoveOne)
		replace := account.NewClosedForm(dp.ReplaceOne)
		if err := errors.Join(r.Compose(t.Context(), e, 1), replace.Compose(t.Context(), e, 1)); err != nil {
			t.Fatal(err)
		}
		above, err1 := r.Epsilon(t.Context(), delta)
		more, err2 := replace.Epsilon(t.Context(), delta)
		if err1 != nil || err2 != nil || above.Upper < got.Lower || more.Upper < got.Lower {
			t.Fatalf("%v: add_remove_one %v, Renyi %v (%v), replace_one %v (%v)", e, got, above, err1, more, err2)
		}
	})
}

func TestEpsilonIsMonotone(t *testing.T) {
	leaf := func(kind int, noise float64) dp.Event {
		return []dp.Event{
			dp.Gaussian{NoiseMultiplier: noise},
			dp.Laplace{NoiseMultiplier: noise},
			dp.DiscreteGaussian{Sigma: 2 * noise, Norm: 2},
			dp.DiscreteLaplace{Scale: 2 * noise, Norm: 2},
			dp.PoissonSampled{Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: noise}},
		}[kind]
	}
	few(t, func(t *rapid.T) {
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		noise := rapid.Float64Range(0.7, 20).Draw(t, "noise")
		count := rapid.Int64Range(1, 1000).Draw(t, "count")
		delta := math.Exp(rapid.Float64Range(-30, -2).Draw(t, "ln delta"))
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		epsilon := func(adj dp.Adjacency, noise float64, count int64, delta float64) float64 {
			a := account.NewRDP(adj)
			if err := a.Compose(t.Context(), leaf(kind, noise), count); err != nil {
				t.Fatal(err)
			}
			b, err := a.Epsilon(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			return b.Upper
		}
		base := epsilon(adj, noise, count, delta)
		for name, other := range map[string]float64{
			"less noise":    epsilon(adj, noise*0.9, count, delta),
			"one more":      epsilon(adj, noise, count+1, delta),
			"smaller delta": epsilon(adj, noise, count, delta*0.9),
			"replace one":   epsilon(dp.ReplaceOne, noise, count, delta),
		} {
			if other < base*(1-1e-9)-1e-12 {
				t.Fatalf("%s: epsilon fell from %v to %v", name, base, other)
			}
		}
	})
}

func TestDeltaAndEpsilonOfRDPAgree(t *testing.T) {
	a := account.NewRDP(dp.AddRemoveOne)
	compose(t, a, dp.PoissonSampled{Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: 1}}, 1000)
	e, err := a.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	d, err := a.Delta(t.Context(), e.Upper)
	if err != nil || math.Abs(d.Upper/1e-5-1) > 1e-6 {
		t.Errorf("delta at epsilon(1e-5) is %v, %v", d, err)
	}
}

func TestCompositionIsCommutative(t *testing.T) {
	parts := []dp.Event{
		dp.Gaussian{NoiseMultiplier: 5},
		dp.Laplace{NoiseMultiplier: 20},
		dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: 2}},
	}
	forward, backward, nested := account.NewRDP(dp.AddRemoveOne), account.NewRDP(dp.AddRemoveOne), account.NewRDP(dp.AddRemoveOne)
	for i := range parts {
		compose(t, forward, parts[i], 3)
		compose(t, backward, parts[len(parts)-1-i], 3)
	}
	compose(t, nested, dp.SelfComposed{Count: 3, Event: dp.Composed{Events: parts}}, 1)
	var got []float64
	for _, a := range []*account.RDP{forward, backward, nested} {
		b, err := a.Epsilon(t.Context(), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, math.Round(b.Upper*1e12)/1e12)
	}
	if d := cmp.Diff(got, []float64{got[0], got[0], got[0]}); d != "" {
		t.Error(d)
	}
}
