package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
)

// PermuteAndFlip releases which of a public number of candidates has a large total
// score, and nothing else. Every person adds one score for each candidate. In a uniform
// order the candidates toss a coin each, which falls with probability
// exp(-rate (largest total - own total)), and the first whose coin falls is released.
// Coins are exact: totals are integers, and the rate is a rational number.
//
// Only differences of scores count. Those of one person are clipped to an interval of
// length Spread, so that between neighbours the difference of two totals changes by at
// most Spread under AddRemoveOne and 2 Spread under ReplaceOne; the rate is Epsilon over
// that.
//
// Unit: a person. Adjacency: either. The event is dp.PermuteAndFlip, which is pure.
// Source: McKenna and Sheldon 2020. Proof: docs/proofs/permuteflip.md. The number of coins
// depends on the scores, and so does the time.
type PermuteAndFlip struct {
	epsilon   float64
	adjacency dp.Adjacency
	total     accumulator
	scratch   []int64
}

// NewPermuteAndFlip makes an empty choice. All arguments are public: the number of
// candidates, the clip of the differences between one person's scores, and epsilon, which
// is taken as the exact dyadic rational that the float64 is.
func NewPermuteAndFlip(candidates int, spread, epsilon float64, adjacency dp.Adjacency) (*PermuteAndFlip, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	if candidates < 1 {
		return nil, fmt.Errorf("%w: %d candidates; want at least 1", ErrParameter, candidates)
	}
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return nil, fmt.Errorf("%w: epsilon is %v; want a finite number above 0", ErrParameter, epsilon)
	}
	if !(spread > 0) || math.IsInf(spread, 0) {
		return nil, fmt.Errorf("%w: spread is %v; want a finite number above 0", ErrParameter, spread)
	}
	step := powerBelow(math.Ldexp(spread, -resolution))
	if step < 0x1p-1000 {
		return nil, fmt.Errorf("%w: a spread of %v leaves no resolution", ErrParameter, spread)
	}
	grid := lattice{step: step, radius: uint64(spread / step)}
	return &PermuteAndFlip{epsilon, adjacency, newAccumulator(grid, candidates, Exact), make([]int64, candidates)}, nil
}

// Capacity is the number of persons that can be added at most.
func (p *PermuteAndFlip) Capacity() int64 { return p.total.grid.capacity() }

// Step is the lattice step of scores, a public power of two.
func (p *PermuteAndFlip) Step() float64 { return p.total.grid.step }

// Rate is what a difference of two totals, in lattice steps, is multiplied by in the
// exponent of a coin.
func (p *PermuteAndFlip) Rate() *big.Rat {
	moves := new(big.Int).SetUint64(p.total.grid.radius)
	if p.adjacency == dp.ReplaceOne {
		moves.Lsh(moves, 1)
	}
	rate := new(big.Rat).SetFloat64(p.epsilon)
	return rate.Quo(rate, new(big.Rat).SetInt(moves))
}

// Add adds one person's scores, one for each candidate. They are taken from the smallest
// on, and scaled down alike where the largest is further from it than the spread. Scores
// of which one, or a difference of two, is not finite count as equal.
func (p *PermuteAndFlip) Add(scores []float64) error {
	if len(scores) != len(p.scratch) {
		panic(fmt.Sprintf("mechanism: %d scores added to a choice among %d candidates", len(scores), len(p.scratch)))
	}
	p.round(scores)
	return p.total.add(p.scratch)
}

// round writes the scores in steps, between 0 and the radius.
func (p *PermuteAndFlip) round(scores []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range scores {
		low, high = min(low, s), max(high, s)
	}
	if far := high - low; !(far > 0) || math.IsInf(far, 0) { // NaN among them makes both ends NaN
		clear(p.scratch)
		return
	}
	grid := p.total.grid
	most := float64(grid.radius) // at most 2^31
	shrink := min(1, most*grid.step/(high-low))
	for i, s := range scores {
		// The last clip is against the rounding of the others.
		p.scratch[i] = int64(min((s-low)*shrink/grid.step, most))
	}
}

// Steps writes one person's numbers, whose absolute values add up to the spread at most, in lattice
// steps: scaled down alike where they are larger, and zeros where one is not finite. They are for
// totals that are made elsewhere, each a sum of some persons' steps: see ReleaseOf.
func (p *PermuteAndFlip) Steps(dst []int64, x []float64) {
	grid, size := p.total.grid, 0.0
	for _, v := range x {
		size += math.Abs(v)
	}
	if math.IsNaN(size) || math.IsInf(size, 0) {
		clear(dst)
		return
	}
	left := int64(grid.radius)
	scale := min(1, float64(grid.radius)*grid.step/max(size, math.SmallestNonzeroFloat64)) / grid.step
	for i, v := range x {
		k := min(int64(math.Abs(v)*scale), left)
		left -= k
		if dst[i] = k; v < 0 {
			dst[i] = -k
		}
	}
}

// ReleaseOf is Release by totals that were made elsewhere of so many persons: in that of a candidate
// each of a person's steps is counted once or not at all.
func (p *PermuteAndFlip) ReleaseOf(totals []int64, persons int, src *noise.Source) (candidate int, event dp.Event, err error) {
	if int64(persons) > p.Capacity() {
		return 0, nil, fmt.Errorf("%w: at most %d fit", ErrCapacity, p.Capacity())
	}
	copy(p.total.sum, totals)
	return p.Release(src)
}

// Merge adds the persons of o, which must be made alike and is used up.
func (p *PermuteAndFlip) Merge(o *PermuteAndFlip) error {
	if p.epsilon != o.epsilon || p.adjacency != o.adjacency {
		return ErrMismatch
	}
	return p.total.merge(&o.total)
}

// Event describes the release.
func (p *PermuteAndFlip) Event() dp.Event { return dp.PermuteAndFlip{Epsilon: p.epsilon} }

// Release draws a candidate. It can be called once; the totals are erased.
func (p *PermuteAndFlip) Release(src *noise.Source) (candidate int, event dp.Event, err error) {
	if p.total.released {
		return 0, nil, ErrReleased
	}
	p.total.released = true
	totals := p.total.sum
	defer clear(totals)
	if src.Sums() != nil {
		return 0, nil, fmt.Errorf("%w: permute-and-flip", ErrNotJoint)
	}
	rate := p.Rate()
	candidate = flip(totals, rate, src)
	if t, ok := src.Tape().(hook.ChoiceTape); ok {
		candidate = t.Choose(totals, rate, candidate)
	}
	return candidate, p.Event(), nil
}

// flip draws without replacement until a coin falls. That of the largest total always
// does.
func flip(totals []int64, rate *big.Rat, src *noise.Source) int {
	best := slices.Max(totals)
	near, _ := rate.Float64()
	left := make([]int, len(totals))
	for i := range left {
		left[i] = i
	}
	for {
		k := src.Uint64n(uint64(len(left)))
		i := left[k]
		if src.BernoulliExpTimes(best-totals[i], rate, near) {
			return i
		}
		left[k] = left[len(left)-1]
		left = left[:len(left)-1]
	}
}
