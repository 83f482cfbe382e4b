package account_test

import (
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// distinct is n sampled Gaussians, no two alike.
func distinct(n int) dp.Composed {
	var c dp.Composed
	for i := range n {
		x := float64(i) / float64(n)
		c.Events = append(c.Events, dp.PoissonSampled{Rate: .01 * (1 + x), Event: dp.Gaussian{NoiseMultiplier: 1 + .5*x}})
	}
	return c
}

// checkDistinct holds the bracket of n distinct parts to a tenth of a per cent, and
// within those of n parts that are all like the one of most or of least loss.
func checkDistinct(t *testing.T, n int) {
	t.Helper()
	all := ask(t, dp.AddRemoveOne, distinct(n), 1, "epsilon", 0, 1e-6)
	if !(all.Upper <= all.Lower*1.001) {
		t.Errorf("%d distinct parts: %v; want a bracket of .1%%", n, all)
	}
	least := ask(t, dp.AddRemoveOne, sgd(.01, 1.5), int64(n), "epsilon", 0, 1e-6)
	most := ask(t, dp.AddRemoveOne, sgd(.02, 1), int64(n), "epsilon", 0, 1e-6)
	if !(least.Lower < all.Upper && all.Lower < most.Upper) {
		t.Errorf("%d distinct parts: %v; want it between %v and %v", n, all, least, most)
	}
}

func TestDistinctPartsKeepANarrowBracket(t *testing.T) { checkDistinct(t, 40) }

// TestPartsThatHardlyDifferAreLikeEqualOnes: the answer is continuous in the
// parameters, so parts that differ by a billionth have that of equal ones, though
// one takes a product of many laws and the other a power of one.
func TestPartsThatHardlyDifferAreLikeEqualOnes(t *testing.T) {
	const n = 40
	var c dp.Composed
	for i := range n {
		c.Events = append(c.Events, sgd(.02, 1.1*(1+1e-11*float64(i))))
	}
	many := ask(t, dp.AddRemoveOne, c, 1, "epsilon", 0, 1e-7)
	equal := ask(t, dp.AddRemoveOne, sgd(.02, 1.1), n, "epsilon", 0, 1e-7)
	if many.Lower > equal.Upper*(1+1e-8) || equal.Lower > many.Upper*(1+1e-8) || many.Upper > equal.Upper*1.001 {
		t.Errorf("distinct %v, equal %v", many, equal)
	}
}

func BenchmarkDistinctParts(b *testing.B) {
	for _, n := range []int{50, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var width float64
			for b.Loop() {
				a := account.New(dp.AddRemoveOne)
				compose(b, a, distinct(n), 1)
				e, err := a.Epsilon(b.Context(), 1e-6)
				if err != nil {
					b.Fatal(err)
				}
				width = 100 * (e.Upper/e.Lower - 1)
			}
			b.ReportMetric(width, "%width")
		})
	}
}
