package evaluate

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestForecastsSupposeTheLawOfAllPaths lists all courses of three decisions in two states that are as frequent: mean squares of weights, of
// their difference and of what a reward of +-1 a decision makes of them are those of the list, and so is, nearly, what a cap cuts off.
func TestForecastsSupposeTheLawOfAllPaths(t *testing.T) {
	const decisions, gamma = 3, 0.9
	a, b, drawn := []float64{0.9, 0.1, 0.35, 0.65}, []float64{0.6, 0.4, 0.5, 0.5}, []float64{0.5, 0.5, 0.7, 0.3}
	table := func(probs []float64) policy.Policy {
		p, err := policy.NewTable(probs, 2, "s")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	bound, _ := policy.BoundDifference(table(a), table(b), table(drawn))
	distance := func(s int) float64 { return math.Abs(a[2*s] - b[2*s]) }
	for _, stepwise := range []bool{true, false} {
		p := Public{Horizon: decisions, EpisodeHorizon: decisions, Gamma: gamma, Persons: 100, Reward: Range{0, 1}, Design: NewDesign(table(drawn), true, table(a)), Privacy: &Privacy{Adjacency: dp.ReplaceOne}}
		of := vouched{stepwise: stepwise}
		of.weights = p.weightsOf(stepwise)
		var cut [3]float64 // of weights, at a cap
		var weight, both, differ, signed, apart float64
		var walk func(k int, probability, wa, wb, sum float64, weights, ones []float64)
		walk = func(k int, probability, wa, wb, sum float64, weights, ones []float64) {
			if k == decisions {
				all, later, scale := total(decisions, gamma), scalar.Later(decisions, gamma), 2*bound.Distance
				meanA, meanB, m, squareA, squareD := wa, wb, sum/decisions, wa*wa*p.scatter(), (wa-wb)*(wa-wb)*p.scatter()
				if stepwise {
					meanA, meanB, m, squareA, squareD = 0, 0, 0, 0, 0
					for i := range decisions {
						discount := math.Pow(gamma, float64(i))
						x, y := weights[2*i], weights[2*i+1]
						meanA, meanB, m = meanA+discount*x/all, meanB+discount*y/all, m+discount*ones[i]/later
						squareA, squareD = squareA+discount*discount*x*x/(all*all), squareD+discount*discount*(x-y)*(x-y)
					}
				} else {
					later = decisions
				}
				weight += probability * meanA * meanA
				signed += probability * squareA
				both += probability * (meanA + meanB) * (meanA + meanB) / 4
				differ += probability * m * m
				apart += probability * squareD / (scale * scale * later * later)
				for i := range cut {
					cut[i] += probability * max(meanA-float64(i+1)/2, 0)
				}
				return
			}
			for s := range 2 {
				for act := range 2 {
					at := 2*s + act
					ra, rb := a[at]/drawn[at], b[at]/drawn[at]
					d := math.Abs(ra-rb)/(2*bound.Distance) + 1 - distance(s)/bound.Distance
					next := sum*rb + wa*d
					walk(k+1, probability*drawn[at]/2, wa*ra, wb*rb, next, append(slices.Clone(weights), wa*ra, wb*rb), append(slices.Clone(ones), next))
				}
			}
		}
		walk(0, 1, 1, 1, 0, nil, nil)
		near := func(what string, got, want, within float64) {
			if math.Abs(got-want) > within*want {
				t.Errorf("stepwise %v: %s is %v; all courses make %v", stepwise, what, got, want)
			}
		}
		w := of.weights
		near("the mean square of weights", squareOf(w.law), weight, 2e-3)
		near("that of weights with signs", w.scatter*squareOf(w.law), signed, 2e-3)
		for i, want := range cut {
			got := 0.0
			for _, x := range w.law {
				got += x.Share * max(x.Weight-float64(i+1)/2, 0)
			}
			near("what a cap cuts off", got, want, 0.12)
		}
		mean, far := p.ofBoth(of, bound)
		near("the mean square of both weights", mean, both, 1e-9)
		near("that of half their difference", far*4, apart*4*bound.Distance*bound.Distance*later(stepwise, gamma, decisions), 1e-9)
		law, scatter := p.differingLaw(of, bound, 50)
		near("the mean square of a difference", squareOf(law), differ, 1e-6)
		near("that of a difference with signs", scatter*squareOf(law), apart, 1e-6)
	}
}

// later is how much more a difference by decisions is divided by than weights are.
func later(stepwise bool, gamma float64, decisions int64) float64 {
	if !stepwise {
		return float64(decisions * decisions)
	}
	return math.Pow(scalar.Later(float64(decisions), gamma)/total(decisions, gamma), 2)
}
