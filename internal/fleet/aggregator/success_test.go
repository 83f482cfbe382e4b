package aggregator_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
)

// distribution is that of the number of yes among devices that say yes with the
// probabilities, by convolution.
func distribution(p []float64) []float64 {
	d := []float64{1}
	for _, q := range p {
		next := make([]float64, len(d)+1)
		for k, v := range d {
			next[k] += v * (1 - q)
			next[k+1] += v * q
		}
		d = next
	}
	return d
}

// TestSuccessCovers, by exact sums over all answers and no simulation: at every share,
// when devices are drawn anew (binomial) and when they are what they are (reached or
// not, so that yes has one of two probabilities), an interval misses with probability
// at most .05/looks.
func TestSuccessCovers(t *testing.T) {
	for _, epsilon := range []float64{.5, 1, 4} {
		gain := math.Tanh(epsilon / 2)
		for _, looks := range []uint64{1, 10} {
			for _, n := range []int{5, 40, 101} {
				all := make([]aggregator.Success, n+1)
				for k := range all {
					all[k] = aggregator.NewSuccess(uint64(k), uint64(n), epsilon, looks)
				}
				misses := func(share float64, p []float64) float64 {
					missed := 0.0
					for k, prob := range distribution(p) {
						if s := all[k]; s.Share < s.Low || s.Share > s.High {
							t.Errorf("epsilon %v, %d of %d: the estimate %v is outside its interval [%v, %v]", epsilon, k, n, s.Share, s.Low, s.High)
						}
						if share < all[k].Low-1e-12 || share > all[k].High+1e-12 {
							missed += prob
						}
					}
					return missed
				}
				for reached := 0; reached <= n; reached += 1 + n/20 {
					share := float64(reached) / float64(n)
					drawn, fixed := make([]float64, n), make([]float64, n)
					for i := range fixed {
						drawn[i] = .5 + gain*(share-.5)
						fixed[i] = .5 - gain/2
						if i < reached {
							fixed[i] = .5 + gain/2
						}
					}
					for who, p := range map[string][]float64{"drawn": drawn, "fixed": fixed} {
						if m := misses(share, p); m > .05/float64(looks)+1e-9 {
							t.Errorf("epsilon %v, %d looks, %d of %d devices reach it, %s: missed with probability %v", epsilon, looks, reached, n, who, m)
						}
					}
				}
			}
		}
	}
}

// TestSuccessOfNobody is unknown, and so is what no look was announced for.
func TestSuccessOfNobody(t *testing.T) {
	for name, s := range map[string]aggregator.Success{"nobody": aggregator.NewSuccess(0, 0, 1, 3), "no look": aggregator.NewSuccess(5, 9, 1, 0)} {
		if s.Low != 0 || s.High != 1 {
			t.Errorf("%s: [%v, %v]", name, s.Low, s.High)
		}
	}
	// A bound of the spread: never below the exact one at share 1/2.
	s := aggregator.NewSuccess(50, 100, 1, 1)
	if exact := .5 / math.Sqrt(100) / math.Tanh(.5); math.Abs(s.StdError-exact) > 1e-12 {
		t.Errorf("standard error %v; want %v", s.StdError, exact)
	}
	// As Clopper and Pearson (1934) have it for 3 of 10 at 95%: .0667 to .6525.
	if s := aggregator.NewSuccess(3, 10, 100, 1); math.Abs(s.Low-.06674) > 1e-4 || math.Abs(s.High-.65245) > 1e-4 {
		t.Errorf("[%v, %v]", s.Low, s.High)
	}
}

// TestWhatFiftyDevicesTell, by exact sums over all answers: how often an interval of a policy with which a share of the devices
// succeeds begins above a half, and how wide it is on average. Needed is the first number of devices from which that is so on average.
func TestWhatFiftyDevicesTell(t *testing.T) {
	for _, epsilon := range []float64{.5, 1, 2} {
		gain := math.Tanh(epsilon / 2)
		for _, looks := range []uint64{1, 4} {
			needed := aggregator.Needed(epsilon, looks)
			for _, n := range []uint64{8, 10, 50, needed} {
				for _, share := range []float64{1, .9, .5} {
					p := make([]float64, n)
					for i := range p {
						p[i] = .5 + gain*(share-.5)
					}
					above, width := 0., 0.
					for k, prob := range distribution(p) {
						s := aggregator.NewSuccess(uint64(k), n, epsilon, looks)
						if s.Low >= .5 {
							above += prob
						}
						width += prob * (s.High - s.Low)
					}
					t.Logf("epsilon %v, %d evaluations (%d needed), %d answers, share %v: begins at a half or above with %.2f, width %.2f", epsilon, looks, needed, n, share, above, width)
					if n == needed && share == 1 && (above < .35 || above > .75) {
						t.Errorf("epsilon %v, %d evaluations: of %d answers %v tell it", epsilon, looks, n, above)
					}
				}
			}
		}
	}
	for _, epsilon := range []float64{0, 1e-4, math.NaN()} {
		if n := aggregator.Needed(epsilon, 1); n != 0 {
			t.Errorf("epsilon %v: %d", epsilon, n)
		}
	}
}
