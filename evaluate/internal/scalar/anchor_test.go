package scalar

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// trialOf is a trial of two arms, drawn with 1/10 and 8/10, the rest being in a third: what everybody adds to the
// values of both, for successes of these probabilities.
func trialOf(rng *rand.Rand, persons int, a, b float64) (xa, za, xb, zb []float64) {
	xa, za = make([]float64, persons), make([]float64, persons)
	xb, zb = make([]float64, persons), make([]float64, persons)
	for i := range persons {
		switch u := rng.Float64(); {
		case u < 0.1 && rng.Float64() < a:
			xa[i] = 10
		case u < 0.1:
			za[i] = 10
		case u < 0.9 && rng.Float64() < b:
			xb[i] = 1.25
		case u < 0.9:
			zb[i] = 1.25
		}
	}
	return xa, za, xb, zb
}

// TestAnchorsNarrowRareOutcomes: with successes of 3 and 2% at next to no noise the interval of the
// difference holds .01 and is narrower at the anchor than at the middle of the range by what the
// standard deviations say: sqrt(E w^2 p(1-p)) in place of sqrt(E w^2)/2. It is made
// again from its sums, and the anchor is about the mean of both.
func TestAnchorsNarrowRareOutcomes(t *testing.T) {
	const persons, draws = 20_000, 100
	rng := rand.New(rand.NewPCG(3, 1))
	public := facts.Public{Persons: persons, Adjacency: dp.ReplaceOne, Returns: facts.Range{Min: -1, Max: 1}}
	b := Bounds{Public: public, Range: public.Returns, Caps: ClipRanges{Above: 5}, Noise: Stages{Anchor: 0.1, Spread: 0.1, Main: 0.01}, Uncut: &Uncut{Square: 2.8}}
	middle := b
	middle.Noise.Anchor, middle.Noise.Spread = 0, 0
	held, width, wide := 0, 0.0, 0.0
	for seed := range uint64(draws) {
		xa, za, xb, zb := trialOf(rng, persons, 0.03, 0.02)
		from := func(s Span) (p, q Numbers) {
			ma, na := s.Measured(Numbers{xa}, Numbers{za})
			mb, nb := s.Measured(Numbers{xb}, Numbers{zb})
			return Combine(Term{ma, na, 1}, Term{mb, nb, -1})
		}
		var level [2]Numbers
		level[0], level[1] = Combine(Term{Numbers{xa}, Numbers{za}, 1}, Term{Numbers{xb}, Numbers{zb}, 1})
		e, err := b.RunFrom(level, from, noise.NewSeeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(*e.Anchor-0.025) > 0.01 {
			t.Errorf("an anchor at %v of outcomes of .03 and .02", *e.Anchor)
		}
		again, err := b.Again(e)
		if err != nil || math.Abs(again.Interval[0]-e.Interval[0])+math.Abs(again.Interval[1]-e.Interval[1]) > 1e-12 {
			t.Fatalf("%v and again %v: %v", e.Interval, again.Interval, err)
		}
		plain, err := middle.RunFrom(level, from, noise.NewSeeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		width, wide = width+e.Interval[1]-e.Interval[0], wide+plain.Interval[1]-plain.Interval[0]
		if e.Interval[0] <= 0.01 && 0.01 <= e.Interval[1] {
			held++
		}
	}
	if held < 88 { // 95 expected of 100; below 88 with probability 2e-3
		t.Errorf("%d of %d intervals hold the difference", held, draws)
	}
	if !(width < 0.5*wide) { // sqrt(.025 .975) is .31 of .5
		t.Errorf("mean widths %v at the anchor and %v at the middle", width/draws, wide/draws)
	}
	for _, a := range []float64{0, 0.25, 0.5, 0.9, 1} {
		if s := spanOf(a); !(s.Min <= 0 && s.Max >= 1) {
			t.Errorf("the span %v around %v does not hold the range", s, a)
		}
	}
}
