package mechanism

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Pairs releases several [Pair]s at the price of one, where of all weights x + z of a person, each
// in units of its own most, the sum is at most 1: what a person adds to one pair they
// do not add to another.
//
// The points of all triangles, each of height 1, are one vector. No two of them are more than a right
// angle apart, whether they lie in one triangle or in two, and none is longer than the
// corners of one. So the diameter is that of one pair under ReplaceOne, and the longest norm that of one
// under AddRemoveOne, where one coordinate counts persons for all pairs. docs/proofs/overlap.md has the
// proof.
//
// With Laplace noise ([NewLaplacePairs]) who moves from one pair to another is farther away, in l1, than
// who moves within one.
//
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half the diameter
// (ReplaceOne) or to the longest norm (AddRemoveOne); with Laplace noise it is dp.DiscreteLaplace, in lattice
// steps.
type Pairs struct {
	most       []float64
	multiplier float64
	adjacency  dp.Adjacency
	shape      triangle
	total      accumulator
	point      []int64
	shares     []float64
}

// NewPairs makes empty sums. The largest weights and the noise multiplier are public.
func NewPairs(most []float64, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Pairs, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	for _, m := range most {
		if !(m > 0) || math.IsInf(m, 0) {
			return nil, fmt.Errorf("%w: the largest sum is %v; want a finite number above 0", ErrParameter, m)
		}
	}
	shape := triangleFor(dp.AddRemoveOne)
	if adjacency == dp.ReplaceOne {
		shape.count = 0
	}
	dim := shape.of(len(most))
	sd := shape.norm(adjacency) * noiseMultiplier
	grid, err := newLattice(1, sd, dim)
	if err != nil {
		return nil, err
	}
	if grid.radius <= 2*slack {
		return nil, fmt.Errorf("%w: noise of %v times what a person adds leaves no resolution", ErrParameter, sd)
	}
	return &Pairs{most: most, multiplier: noiseMultiplier, adjacency: adjacency, shape: shape, total: newAccumulator(grid, dim, kind),
		point: make([]int64, dim), shares: make([]float64, 2*len(most))}, nil
}

// of is how many coordinates so many pairs have, with their common count.
func (s triangle) of(pairs int) int {
	dim := pairs * s.coordinates()
	if s.count > 0 {
		dim++
	}
	return dim
}

// flat is the height of triangles side by side with Laplace noise: a lower one makes the noise in x - z less and that
// in x + z more.
const flat = 0.7

// NewLaplacePairs makes empty sums with discrete Laplace noise, whose scale is the multiplier times the longest l1
// norm, which is at least half the diameter. The squares are upper limits that are exact where x + z is 0 or most.
func NewLaplacePairs(most []float64, multiplier float64, adjacency dp.Adjacency) (*Pairs, error) {
	p, err := NewPairs(most, multiplier, adjacency, Exact)
	if err != nil {
		return nil, err
	}
	p.shape = triangle{height: flat, product: 2, count: p.shape.count}
	p.total = newAccumulator(p.total.grid, p.shape.of(len(most)), Exact)
	p.point = p.point[:len(p.total.sum)]
	if err := p.total.byLaplace(1, multiplier, p.longest); err != nil {
		return nil, err
	}
	return p, nil
}

// longest is the norm of the event of Laplace noise, in lattice steps; truncation shortens what a person adds.
func (p *Pairs) longest() float64 {
	return p.radius()*(1+p.shape.height+p.shape.count) + slack
}

// Add adds one person: x and z of every pair, in turn. Numbers below 0 count as 0; where the weights, each in units of its
// largest, add up to more than 1, all shrink by the same factor; and a person with a number that is
// not finite counts as zeros.
func (p *Pairs) Add(xz []float64) error {
	total := 0.0
	for i, v := range xz {
		p.shares[i] = max(v, 0) / p.most[i/2]
		total += v - v + p.shares[i]
	}
	if math.IsNaN(total) || math.IsInf(total, 0) {
		clear(p.shares)
	}
	k := p.radius()
	for i := range p.most {
		x, z := p.shares[2*i], p.shares[2*i+1]
		if total > 1 {
			x, z = x/total, z/total
		}
		p.shape.place(p.point[p.shape.coordinates()*i:], min(x, 1), min(z, 1), k)
	}
	if p.shape.count > 0 {
		p.point[len(p.point)-1] = int64(p.shape.count * k)
	}
	return p.total.add(p.point)
}

// Merge adds the persons of o, which must be made alike and is used up.
func (p *Pairs) Merge(o *Pairs) error {
	if !slices.Equal(p.most, o.most) || p.multiplier != o.multiplier || p.adjacency != o.adjacency {
		return ErrMismatch
	}
	return p.total.merge(&o.total)
}

// radius is the largest weight in lattice steps, less the slack.
func (p *Pairs) radius() float64 { return float64(p.total.grid.radius) - slack }

// Event describes the release.
func (p *Pairs) Event() dp.Event {
	if p.total.laplace {
		return dp.DiscreteLaplace{Scale: p.total.grid.sigma, Norm: p.longest()}
	}
	return dp.Gaussian{NoiseMultiplier: p.multiplier}
}

// SD returns the standard deviations of the noise in a pair. They are public.
func (p *Pairs) SD(pair int) PairSD {
	unit := p.total.grid.sigma
	if p.total.laplace {
		unit = LaplaceSD(unit)
	}
	return p.shape.sd(unit/p.radius(), p.most[pair])
}

// Release draws the noise. It can be called once.
func (p *Pairs) Release(src *noise.Source) ([]NoisyPair, error) {
	noisy, err := p.total.shares(p.radius(), src)
	if err != nil {
		return nil, err
	}
	out := make([]NoisyPair, len(p.most))
	for i, m := range p.most {
		out[i] = p.shape.sums(noisy[p.shape.coordinates()*i:], m)
		out[i].Count, out[i].SD = float64(p.total.persons), p.SD(i)
		if p.shape.count > 0 {
			out[i].Count = noisy[len(noisy)-1] / p.shape.count
		}
	}
	return out, nil
}
