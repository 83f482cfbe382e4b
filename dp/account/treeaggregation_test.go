package account_test

import (
	"errors"
	"math"
	"math/bits"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// mostNodeSquares tries every set of at most p of all steps: the largest sum over complete
// nodes of the square of how many of the steps are below.
func mostNodeSquares(steps, trees, p int) int {
	most := 0
	for set := range 1 << (steps * trees) {
		if bits.OnesCount(uint(set)) > p {
			continue
		}
		sum := 0
		for tree := range trees {
			part := set >> (tree * steps) & (1<<steps - 1)
			for width := 1; width <= steps; width *= 2 {
				for from := 0; from+width <= steps; from += width {
					c := bits.OnesCount(uint(part >> from & (1<<width - 1)))
					sum += c * c
				}
			}
		}
		most = max(most, sum)
	}
	return most
}

// The sensitivity of a tree is that of the worst set of steps, found by trying them all:
// exactly in one tree, within the bracket in several.
func TestTreeAggregationIsTheWorstSetOfSteps(t *testing.T) {
	const delta = 1e-5
	for _, c := range []struct{ steps, trees int }{{1, 1}, {2, 1}, {3, 1}, {5, 1}, {7, 1}, {8, 1}, {11, 1}, {3, 2}, {5, 2}, {4, 3}} {
		for p := 1; p <= c.steps*c.trees; p++ {
			for adj, gap := range map[dp.Adjacency]float64{dp.AddRemoveOne: 1, dp.ReplaceOne: 2} {
				e := dp.TreeAggregation{NoiseMultiplier: 7, Steps: int64(c.steps), Restarts: int64(c.trees - 1), Participations: int64(p)}
				a := account.New(adj)
				compose(t, a, e, 1)
				got, err := a.Epsilon(t.Context(), delta)
				if err != nil || a.String() != "closed_form" {
					t.Fatal(a, err)
				}
				want, err := account.GaussianEpsilon(gap/7*math.Sqrt(float64(mostNodeSquares(c.steps, c.trees, p))), delta)
				if err != nil || got.Lower > want.Upper*(1+1e-12) || got.Upper < want.Lower*(1-1e-12) {
					t.Errorf("%+v, %v: %v; every set tried: %v, %v", e, adj, got, want, err)
				}
				if (c.trees == 1 || p == 1) && got.Upper > got.Lower*(1+1e-11) {
					t.Errorf("%+v: %v is not exact", e, got)
				}
			}
		}
	}
}

// One participation costs as many Gaussian sums as a step has nodes, in every accountant, in
// compositions and under every rule of a filter.
func TestTreeAggregationIsGaussian(t *testing.T) {
	tree := dp.TreeAggregation{NoiseMultiplier: 9, Steps: 1000, Restarts: 3, Participations: 1}
	if tree.Depth() != 10 {
		t.Fatal(tree.Depth())
	}
	alike := dp.SelfComposed{Count: 10, Event: dp.Gaussian{NoiseMultiplier: 9}}
	sampled := dp.PoissonSampled{Rate: .1, Event: dp.Gaussian{NoiseMultiplier: 3}}
	for name, fresh := range map[string]func() account.Accountant{
		"closed form": func() account.Accountant { return account.NewClosedForm(dp.ReplaceOne) },
		"pld":         func() account.Accountant { return account.NewPLD(dp.ReplaceOne) },
		"rdp":         func() account.Accountant { return account.NewRDP(dp.ReplaceOne) },
	} {
		a, b := fresh(), fresh()
		compose(t, a, tree, 2)
		compose(t, b, alike, 2)
		if name != "closed form" {
			compose(t, a, sampled, 5)
			compose(t, b, sampled, 5)
		}
		got, err := a.Epsilon(t.Context(), 1e-6)
		want, err2 := b.Epsilon(t.Context(), 1e-6)
		if err != nil || err2 != nil || math.Abs(got.Upper/want.Upper-1) > 1e-9 {
			t.Errorf("%s: %v, %v; ten Gaussian sums: %v, %v", name, got, err, want, err2)
		}
	}
	for _, rule := range []account.Rule{account.GaussianDP, account.Renyi} {
		var spent [2]dp.Budget
		for i, e := range []dp.Event{tree, alike} {
			f, err := account.NewFilter(dp.ReplaceOne, dp.Budget{Epsilon: 8, Delta: 1e-6}, rule, account.FilterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Charge(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			if spent[i], err = f.Spent(); err != nil {
				t.Fatal(err)
			}
		}
		if math.Abs(spent[0].Epsilon/spent[1].Epsilon-1) > 1e-9 {
			t.Errorf("%v rule: %v; ten Gaussian sums: %v", rule, spent[0], spent[1])
		}
	}
}

// A tree on a sample is refused, and so are shapes that make no sense.
func TestTreeAggregationRefuses(t *testing.T) {
	tree := dp.TreeAggregation{NoiseMultiplier: 1, Steps: 8, Participations: 1}
	for _, a := range []account.Accountant{account.New(dp.AddRemoveOne), account.NewRDP(dp.AddRemoveOne)} {
		if err := a.Compose(t.Context(), dp.PoissonSampled{Rate: .1, Event: tree}, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%v, of a tree on a sample: %v; want a refusal", a, err)
		}
	}
	for _, e := range []dp.TreeAggregation{
		{NoiseMultiplier: 1, Steps: 0, Restarts: 0, Participations: 1},
		{NoiseMultiplier: 1, Steps: 8, Restarts: -1, Participations: 1},
		{NoiseMultiplier: 1, Steps: 8, Restarts: 0, Participations: 0},
		{NoiseMultiplier: 1, Steps: 8, Restarts: 0, Participations: 9},
		{NoiseMultiplier: 0, Steps: 8, Restarts: 0, Participations: 1},
		{NoiseMultiplier: 1, Steps: 1 << 41, Restarts: 0, Participations: 1},
		{NoiseMultiplier: 1, Steps: 1 << 39, Restarts: 2, Participations: 1},
		{NoiseMultiplier: 1, Steps: 8, Restarts: math.MaxInt64, Participations: 1},
	} {
		if err := e.Validate(); !errors.Is(err, dp.ErrEvent) {
			t.Errorf("%+v is valid", e)
		}
	}
}
