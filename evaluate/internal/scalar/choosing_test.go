package scalar_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// TestForecastsOfAChoiceAreTheirClosedForms: two normal errors; and permute-and-flip
// where sampling has no error, of which the probability is a polynomial's integral.
func TestForecastsOfAChoiceAreTheirClosedForms(t *testing.T) {
	for _, gap := range []float64{0, 0.001, 0.02, 0.1} {
		c := scalar.Choosing{Candidates: 2, Persons: 400, Gap: gap, Value: 0.3, Square: 2}
		sampling := math.Sqrt((2*0.3 - 0.09) / 400)
		want := xmath.NormCDF(gap / math.Hypot(sampling, 0.01) / math.Sqrt2)
		if got := c.ByNormal(0.01); math.Abs(got-want) > 1e-9 {
			t.Errorf("gap %v: the largest of two normal estimates is right with %v; want %v", gap, got, want)
		}
		for _, n := range []int{2, 5, 100} {
			// Of value 0 every score is 0 but for nobody.
			c := scalar.Choosing{Candidates: n, Persons: 400, Gap: gap, Square: 2}
			q := math.Exp(-gap * 400 * 0.8 / (2 * 3)) // a coin of any other
			want := -math.Expm1(float64(n)*math.Log1p(-min(q, 1-1e-16))) / (float64(n) * q)
			if got := c.ByFlip(3, 0.8, dp.ReplaceOne); math.Abs(got-want) > 2e-4 {
				t.Errorf("gap %v, %d candidates: permute-and-flip is right with %v; want %v", gap, n, got, want)
			}
		}
	}
}

// TestForecastOfAChoiceIsWhatSimulationShows draws scores as the forecast supposes them,
// and flips.
func TestForecastOfAChoiceIsWhatSimulationShows(t *testing.T) {
	const runs = 20000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []scalar.Choosing{
		{Candidates: 3, Persons: 500, Gap: 0.05, Value: 0.4, Square: 3},
		{Candidates: 6, Persons: 100, Gap: 0.2, Value: 0.5, Center: 0.5, Square: 2},
	} {
		const epsilon, spread = 1, 2.
		up, down := 1-c.Center, -c.Center
		mean := c.Value - c.Center
		sd := math.Sqrt((c.Square*(c.Value*up*up+(1-c.Value)*down*down) - mean*mean) / float64(c.Persons))
		right := 0
		for range runs {
			scores, best := make([]float64, c.Candidates), math.Inf(-1)
			for i := range scores {
				if scores[i] = sd * rng.NormFloat64(); i == 0 {
					scores[i] += c.Gap
				}
				best = max(best, scores[i])
			}
			for _, i := range rng.Perm(c.Candidates) {
				if rng.Float64() < math.Exp((scores[i]-best)*float64(c.Persons)*epsilon/(2*spread)) {
					if i == 0 {
						right++
					}
					break
				}
			}
		}
		got, want := c.ByFlip(spread, epsilon, dp.ReplaceOne), float64(right)/runs
		// Five standard deviations: a false alarm has a probability below 1e-6.
		if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/runs) {
			t.Errorf("%+v: forecast %.4f, seen %.4f of %d", c, got, want, runs)
		}
	}
}

func TestScoresShrinkWithTheirWeights(t *testing.T) {
	for _, c := range []struct{ x, z, cap, center, want float64 }{
		{1, 1, 4, 0, 1}, {1, 1, 4, 0.5, 0}, {6, 2, 4, 0, 3}, {6, 2, 4, 0.5, 1}, {0, 8, 2, 0.25, -0.5}, {0, 0, 1, 0.5, 0},
	} {
		if got := scalar.Score(c.x, c.z, c.cap, c.center); got != c.want {
			t.Errorf("score of (%v, %v) under %v about %v is %v; want %v", c.x, c.z, c.cap, c.center, got, c.want)
		}
	}
}
