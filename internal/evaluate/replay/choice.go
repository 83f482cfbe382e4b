package replay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/discreet-rl/discreet/dp/noise"
)

// chosen is one draw of permute-and-flip.
type chosen struct {
	scores []int64
	rate   *big.Rat
	drawn  int
}

// Choose implements hook.ChoiceTape.
func (k *keeper) Choose(scores []int64, rate *big.Rat, drawn int) int {
	k.holdChoice(scores, rate)
	k.choices = append(k.choices, chosen{slices.Clone(scores), new(big.Rat).Set(rate), drawn})
	return drawn
}

// Choose implements hook.ChoiceTape: it shows what was kept, and adds up by how much the
// likeliest and the unlikeliest candidate's probabilities differ between the two runs.
func (f *forcer) Choose(scores []int64, rate *big.Rat, drawn int) int {
	f.holdChoice(scores, rate)
	f.choices++
	if f.wrong != "" || f.choices > len(f.keptChoices) {
		return drawn
	}
	k := f.keptChoices[f.choices-1]
	if len(scores) != len(k.scores) || rate.Cmp(k.rate) != 0 {
		f.wrong = fmt.Sprintf("choice %d: %d candidates at the rate %v; of the neighbour %d, %v", f.choices, len(k.scores), k.rate, len(scores), rate)
		return drawn
	}
	if len(scores) > mostExact {
		f.loss += bound(k.scores, scores, rate)
	} else {
		f.loss += loss(chances(k.scores, rate), chances(scores, rate))
	}
	return k.drawn
}

// CheckChoice is [CheckRun] of a run that makes one choice by permute-and-flip and no
// noisy sum. Where the same candidate is drawn, the whole release must be the same; and
// the exact probabilities of all candidates, by the two totals of scores, must be within
// a factor of e^epsilon of each other. Result.Ratio is the largest logarithm of a ratio over epsilon.
func CheckChoice(ctx context.Context, run Run, epsilon float64, seed uint64) (Result, error) {
	shown, forced, want, got, err := run.twice(ctx, seed)
	if err != nil {
		return Result{}, err
	}
	result := Result{Releases: len(shown.choices), Ratio: forced.loss / epsilon}
	switch {
	case forced.wrong != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, forced.wrong)
	case shown.amiss+forced.amiss != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, cmp.Or(shown.amiss, forced.amiss))
	case len(shown.kept)+forced.next > 0:
		return result, fmt.Errorf("%w: a noisy sum beside the choice that is paid for", ErrBroken)
	case len(shown.choices) != 1 || forced.choices != 1:
		return result, fmt.Errorf("%w: %d choices of the dataset and %d of its neighbour, where one is paid for", ErrBroken, len(shown.choices), forced.choices)
	case !(forced.loss <= epsilon*(1+tolerance)):
		return result, fmt.Errorf("%w: the pair needs epsilon = %v and the plan pays for %v", ErrBroken, forced.loss, epsilon)
	case !bytes.Equal(want, got):
		return result, fmt.Errorf("%w: equal choices and different releases: %s", ErrBroken, firstDifference(want, got))
	}
	return result, nil
}

// chances are the logarithms of the probabilities with which permute-and-flip draws each
// candidate: of one whose coin falls with probability p it is p times the mean, over t
// uniform in [0, 1], of the product of 1 - t q over all others' q (docs/proofs/permuteflip.md).
// That is a polynomial, which Gauss's rule integrates without error but that of rounding,
// and all terms are positive.
func chances(scores []int64, rate *big.Rat) []float64 {
	best := slices.Max(scores)
	behind, falls := make([]float64, len(scores)), make([]float64, len(scores))
	for i, s := range scores {
		x := new(big.Rat).SetInt64(best - s)
		behind[i], _ = x.Mul(x, rate).Float64()
		falls[i] = math.Exp(-behind[i])
	}
	out := make([]float64, len(scores))
	for i := range out {
		mean := quad.Fixed(func(t float64) float64 {
			product := 1.0
			for j, q := range falls {
				if j != i {
					product *= 1 - t*q
				}
			}
			return product
		}, 0, 1, len(scores)/2+1, quad.Legendre{}, 0)
		out[i] = math.Log(mean) - behind[i]
	}
	return out
}

// mostExact candidates have their probabilities computed; of more there is a bound.
const mostExact = 256

// bound is what the loss is at most (docs/proofs/permuteflip.md): by how much the changes of totals
// differ, times the rate.
func bound(a, b []int64, rate *big.Rat) float64 {
	low, high := b[0]-a[0], b[0]-a[0]
	for i, s := range b {
		low, high = min(low, s-a[i]), max(high, s-a[i])
	}
	x := new(big.Rat).SetInt64(high - low)
	f, _ := x.Mul(x, rate).Float64()
	return f
}

// loss is the largest difference of the logarithms of probabilities.
func loss(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// Choices counts what many runs chose.
type Choices struct {
	// Counts are by candidate, and Chances the probabilities that were told.
	Counts  []int
	Chances []float64
	// Shift is by how much all chances together would differ at twice the rate: where it is
	// small, counts say little of the rate.
	Shift float64
}

// CountChoices runs a dataset, or its neighbour, once with each seed. A run must make one choice,
// of the same scores each time.
func CountChoices(ctx context.Context, run Run, neighbour bool, seeds []uint64) (Choices, error) {
	var out Choices
	var first chosen
	for i, seed := range seeds {
		shown := new(keeper)
		if _, err := run(ctx, neighbour, noise.NewTaped(seed, shown)); err != nil {
			return out, err
		}
		if len(shown.choices) != 1 {
			return out, fmt.Errorf("%w: %d choices, where one is paid for", ErrBroken, len(shown.choices))
		}
		c := shown.choices[0]
		if i == 0 {
			first = c
			out.tell(c)
		}
		if !slices.Equal(c.scores, first.scores) || c.rate.Cmp(first.rate) != 0 {
			return out, fmt.Errorf("%w: the scores or the rate of a choice differ between runs on the same data", ErrBroken)
		}
		out.Counts[c.drawn]++
	}
	return out, nil
}

// tell notes the probabilities of a choice.
func (c *Choices) tell(of chosen) {
	c.Counts, c.Chances = make([]int, len(of.scores)), chances(of.scores, of.rate)
	for i, twice := range chances(of.scores, new(big.Rat).Mul(of.rate, big.NewRat(2, 1))) {
		c.Chances[i] = math.Exp(c.Chances[i])
		c.Shift += math.Abs(c.Chances[i] - math.Exp(twice))
	}
}
