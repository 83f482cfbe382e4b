package scalar

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

var half = Cells{
	Public: facts.Public{Persons: 1000, Adjacency: dp.ReplaceOne, Returns: facts.Range{Min: 0, Max: 1}},
	Range:  facts.Range{Min: 0, Max: 1}, Cells: 2, Actions: 2, Noise: 1e-3,
}

// TestCellsAreStandardised: of exact sums the answers are the means of strata, standardised by
// hand: 600 and 400 persons in two cells gain (.2, .5) and (.9, .4) by action.
func TestCellsAreStandardised(t *testing.T) {
	s := &CellSums{Gained: [][]float64{{60, 150}, {90, 120}}, Missed: [][]float64{{240, 150}, {10, 180}}}
	logged := (60 + 150 + 90 + 120) / 1000.0
	for _, c := range []struct {
		of   Asked
		want float64
	}{
		{Asked{Weights: []float64{1, 0, 1, 0}}, 0.6*0.2 + 0.4*0.9},
		{Asked{Weights: []float64{0.5, 0.5, 0.25, 0.75}}, 0.6*0.35 + 0.4*(0.25*0.9+0.75*0.4)},
		{Asked{Logged: 1}, logged},
		{Asked{Weights: []float64{1, -1, 0, 0}, Difference: true}, 0.6 * -0.3},
		{Asked{Weights: []float64{0, 1, 0, 1}, Logged: -1, Difference: true}, 0.6*0.5 + 0.4*0.4 - logged},
	} {
		e, err := half.Estimate(s, c.of)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Value-c.want) > 1e-12 || e.Missing.Share > 1e-12 {
			t.Errorf("%+v: %v with %v missing; want %v with nothing missing", c.of, e.Value, e.Missing.Share, c.want)
		}
	}
}

// TestInfluencesAreDerivatives holds the sampling error of a policy against that of the sum of strata: the
// variance of a mean of standardised Bernoulli numbers, counts of cells multinomial.
func TestInfluencesAreDerivatives(t *testing.T) {
	s := &CellSums{Gained: [][]float64{{60, 150}, {90, 120}}, Missed: [][]float64{{240, 150}, {10, 180}}}
	e, err := half.Estimate(s, Asked{Weights: []float64{1, 0, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	within := 0.6*0.6*0.2*0.8/300 + 0.4*0.4*0.9*0.1/100
	between := (0.6*0.2*0.2 + 0.4*0.9*0.9 - 0.48*0.48) / 1000
	if want := math.Sqrt(within + between); math.Abs(e.StdSampling/want-1) > 1e-3 {
		t.Errorf("sampling error %v; want %v", e.StdSampling, want)
	}
}

// TestRareActionsAreMissing: an action that nobody takes in a cell may be worth anything there.
func TestRareActionsAreMissing(t *testing.T) {
	s := &CellSums{Gained: [][]float64{{60, 150}, {0, 220}}, Missed: [][]float64{{240, 150}, {0, 180}}}
	e, err := half.Estimate(s, Asked{Weights: []float64{1, 0, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if low, high := 0.12, 0.52; math.Abs(e.Missing.Share-0.4) > 1e-12 || e.Interval[0] > low || e.Interval[0] < low-0.1 || e.Interval[1] < high || e.Interval[1] > high+0.1 {
		t.Errorf("%v with %v missing; want a little more than [.12, .52], .4", e.Interval, e.Missing.Share)
	}
}

// TestBendOfARatio: whatever noise within its limits is in the counts of a cell, the error of
// dividing by them is linear in it but for what the margin allows: on random counts, of n persons
// of whom k take the action, with noise e in k and f in n - k.
func TestBendOfARatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 20000 {
		actions := 2 + rng.IntN(4)
		others := math.Sqrt(float64(actions - 1))
		most := 1 + 20*rng.Float64()
		e, f := most*(2*rng.Float64()-1), most*others*(2*rng.Float64()-1)
		k := rarest*most - e + 100*rng.Float64()*rng.Float64() // so that the noisy count is divided by
		n := k + 200*rng.Float64()*rng.Float64()
		if k < 0 {
			continue
		}
		count, in := k+e, n+e+f
		allowed := bend(most, count, in, others)
		if exact, linear := e*in/count, e*n/k; math.Abs(exact-linear) > allowed*(1+1e-9) {
			t.Fatalf("%v of %v with noise %v, %v of %v at most: %v for %v; want %v apart at most", k, n, e, f, most, exact, linear, allowed)
		}
	}
}

// TestLimitsOfCellsHoldWhoeverIsMissing: where those are missing who took one action in one cell with one outcome, all or
// a part of them, each end of an answer fails in 3% at most: of 300 more than 20 fail with probability below 1e-3.
func TestLimitsOfCellsHoldWhoeverIsMissing(t *testing.T) {
	const logs = 300
	drawn, worth := [][]float64{{0.15, 0.85}, {0.5, 0.5}}, [][]float64{{0.5, 0.7}, {0.2, 0.4}}
	asked := []Asked{{Weights: []float64{1, 0, 1, 0}}, {Weights: []float64{1, -1, 0, 0}, Difference: true}, {Weights: []float64{0, 1, 1, 0}, Logged: -1, Difference: true}}
	c := half
	c.Noise, c.Public.Persons = 4, 4000
	m, err := c.masses()
	if err != nil {
		t.Fatal(err)
	}
	sd, _ := m.SD()
	rng := rand.New(rand.NewPCG(8, 1))
	for bin := range 4 {
		for outcome := range 2 {
			for _, share := range []float64{0.2, 1} {
				above, below := make([]int, len(asked)), make([]int, len(asked))
				for range logs {
					s := &CellSums{Gained: [][]float64{make([]float64, 2), make([]float64, 2)}, Missed: [][]float64{make([]float64, 2), make([]float64, 2)}, Nowhere: sd * rng.NormFloat64()}
					for range c.Public.Persons {
						cell := rng.IntN(2)
						a, to, y := pick(rng, drawn[cell]), s.Missed, 0
						if rng.Float64() < worth[cell][a] {
							to, y = s.Gained, 1
						}
						if 2*cell+a == bin && y == outcome && rng.Float64() < share {
							s.Nowhere++
						} else {
							to[cell][a]++
						}
					}
					for k := range 4 {
						s.Gained[k/2][k%2] += sd * rng.NormFloat64()
						s.Missed[k/2][k%2] += sd * rng.NormFloat64()
					}
					for i, of := range asked {
						truth := 0.0
						for k, w := range of.Weights {
							truth += (w + of.Logged*drawn[k/2][k%2]) * worth[k/2][k%2] / 2
						}
						e, err := c.Estimate(s, of)
						if err != nil {
							t.Fatal(err)
						}
						if e.Interval[0] > truth {
							above[i]++
						}
						if e.Interval[1] < truth {
							below[i]++
						}
					}
				}
				for i := range asked {
					if above[i] > 20 || below[i] > 20 {
						t.Errorf("%v of bin %d with outcome %d are missing: the ends of answer %d fail %d and %d times of %d", share, bin, outcome, i, above[i], below[i], logs)
					}
				}
			}
		}
	}
}

// TestLimitsOfCellsHold counts how often intervals of three answers each hold what is drawn from, with few cells and many,
// and noise up to a fifth of a bin: of 300 at 95% fewer than 272 hold with probability below 1e-3.
// Noise is Gaussian, and Laplace where outcomes are rare; with many cells many means are then negative, and each end has to hold by itself.
func TestLimitsOfCellsHold(t *testing.T) {
	const logs = 300
	drawn := [][]float64{{0.1, 0.4, 0.5}, {0.3, 0.3, 0.4}, {0.6, 0.2, 0.2}}
	of := [][]float64{{1, 0, 0}, {0.5, 0.3, 0.2}, {1, -1, 0}}
	for _, cells := range []int{3, 30} {
		for _, worth := range []float64{0.004, 0.5, 0.99} {
			c := half
			c.Cells, c.Actions, c.Noise, c.Public.Persons = cells, 3, 4, 400*int64(cells)
			c.Laplace = worth != 0.5
			rng := rand.New(rand.NewPCG(uint64(1000*worth), uint64(cells)))
			m, err := c.masses()
			if err != nil {
				t.Fatal(err)
			}
			sd, _ := m.SD()
			draw := func() float64 {
				if c.Laplace {
					return sd / math.Sqrt2 * (rng.ExpFloat64() - rng.ExpFloat64())
				}
				return sd * rng.NormFloat64()
			}
			above, held := make([]int, len(of)), make([]int, len(of))
			for range logs {
				s := &CellSums{Nowhere: draw()}
				for range cells {
					s.Gained, s.Missed = append(s.Gained, make([]float64, 3)), append(s.Missed, make([]float64, 3))
				}
				for range c.Public.Persons {
					cell := rng.IntN(cells)
					to := s.Missed
					if rng.Float64() < worth {
						to = s.Gained
					}
					to[cell][pick(rng, drawn[cell%3])]++
				}
				for cell := range cells {
					for a := range 3 {
						s.Gained[cell][a] += draw()
						s.Missed[cell][a] += draw()
					}
				}
				for i, w := range of {
					truth := worth * (w[0] + w[1] + w[2])
					e, err := c.Estimate(s, Asked{Weights: slices.Repeat(w, cells), Difference: truth == 0})
					if err != nil {
						t.Fatal(err)
					}
					if e.Interval[0] <= truth {
						above[i]++
						if truth <= e.Interval[1] {
							held[i]++
						}
					}
				}
			}
			for i, k := range held {
				if k < 272 || above[i] < 282 {
					t.Errorf("%d cells, worth %v, answer %d: %d of %d hold, %d lower ends", cells, worth, i, k, logs, above[i])
				}
			}
		}
	}
}

func pick(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	for i, x := range p {
		if u -= x; u < 0 {
			return i
		}
	}
	return len(p) - 1
}
