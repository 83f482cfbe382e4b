package scalar

import (
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// weighed are bounds of so many persons on weights up to cap.
func weighed(persons int64, adjacency dp.Adjacency, cap, multiplier float64) Bounds {
	return Bounds{Public: facts.Public{Persons: persons, Adjacency: adjacency, Returns: facts.Range{Max: 1}}, Range: facts.Range{Max: 1},
		Caps: ClipRanges{Above: cap}, Noise: Stages{Main: multiplier}}
}

// TestRightProbabilitiesAreNotRefuted: weights are w with probability 1/w and else 0, of
// mean 1, next to 1 so that the data may show none that is 0, or far from it; noise is
// nothing or much. A release refutes with probability 1e-4 at most; of 400 in each of 48
// cases more than 2 do so with probability below 1.1e-5, in any case below 6e-4, and in
// all, 19,200, more than 10 below 1e-5.
func TestRightProbabilitiesAreNotRefuted(t *testing.T) {
	const draws = 400
	src, chance, all := noise.NewSeeded(3), rand.New(rand.NewPCG(3, 4)), 0
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, persons := range []int64{20, 300} {
			for _, w := range []float64{1, 1.01, 1.04, 1.2, 2, 8} {
				for _, multiplier := range []float64{0.01, 10} {
					b, found := weighed(persons, adjacency, w*1.001, multiplier), 0
					x, z := make([]float64, persons), make([]float64, persons)
					for range draws {
						for i := range x {
							x[i], z[i] = 0, 0
							if chance.Float64() < 1/w {
								x[i], z[i] = w/4, w*3/4
							}
						}
						e, err := b.Run(Numbers{x}, Numbers{z}, src)
						if err != nil {
							t.Fatal(err)
						}
						if e.Missing.Refuted {
							found++
						}
					}
					if all += found; found > 2 {
						t.Errorf("%v, %d persons, weight %v, noise %v: %d of %d refuted", adjacency, persons, w, multiplier, found, draws)
					}
				}
			}
		}
	}
	if all > 10 {
		t.Errorf("%d of 19,200 releases refute probabilities that are right", all)
	}
}

// TestNoiseOfFewPersonsRefutesNothing: a mean weight below 0 is noise, however few persons.
func TestNoiseOfFewPersonsRefutesNothing(t *testing.T) {
	for _, persons := range []float64{1, 2, 9, 11} {
		if Refuted(-8, 0.1, persons) || Refuted(30, 0.1, min(persons, 10)) {
			t.Errorf("of %v persons a noisy mean refutes the probabilities", persons)
		}
	}
}

// TestWrongProbabilitiesAreRefuted: an arm that half of all persons have, and that is
// told as drawn at each of three decisions, has weight 8, and mean weight 4. The
// interval is all of the public range, and made again from the sums.
func TestWrongProbabilitiesAreRefuted(t *testing.T) {
	src, chance := noise.NewSeeded(5), rand.New(rand.NewPCG(5, 6))
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, selfNormalised := range []bool{false, true} {
			b := weighed(500, adjacency, 8, 3)
			b.SelfNormalised = selfNormalised
			for range 20 {
				x, z := make([]float64, 500), make([]float64, 500)
				for i := range x {
					if chance.Float64() < 0.5 {
						x[i], z[i] = 7, 1
					}
				}
				e, err := b.Run(Numbers{x}, Numbers{z}, src)
				if err != nil {
					t.Fatal(err)
				}
				again, err := b.Again(e)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range []*Estimate{e, again} {
					if !e.Missing.Refuted || e.Interval != [2]float64{0, 1} || e.Missing.MeanWeight < 3 || e.Missing.MeanWeight > 5 {
						t.Fatalf("%v: interval %v, %+v", adjacency, e.Interval, e.Missing)
					}
				}
				if doubt := b.Doubt(e); doubt.Interval != e.Interval || doubt.Value != e.Value {
					t.Errorf("%v: doubt of %v is %v", adjacency, e, doubt)
				}
			}
		}
	}
}
