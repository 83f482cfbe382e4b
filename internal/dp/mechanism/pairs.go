package mechanism

import (
	"fmt"
	"math"

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
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half the diameter
// (ReplaceOne) or to the longest norm (AddRemoveOne).
type Pairs struct {
	most       []float64
	multiplier float64
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
	dim := inTriangle*len(most) + 1
	if adjacency == dp.ReplaceOne {
		shape.count = 0
		dim--
	}
	sd := shape.norm(adjacency) * noiseMultiplier
	grid, err := newLattice(1, sd, dim)
	if err != nil {
		return nil, err
	}
	if grid.radius <= 2*slack {
		return nil, fmt.Errorf("%w: noise of %v times what a person adds leaves no resolution", ErrParameter, sd)
	}
	return &Pairs{most: most, multiplier: noiseMultiplier, shape: shape, total: newAccumulator(grid, dim, kind),
		point: make([]int64, dim), shares: make([]float64, 2*len(most))}, nil
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
		p.shape.place(p.point[inTriangle*i:], min(x, 1), min(z, 1), k)
	}
	if p.shape.count > 0 {
		p.point[len(p.point)-1] = int64(p.shape.count * k)
	}
	return p.total.add(p.point)
}

// radius is the largest weight in lattice steps, less the slack.
func (p *Pairs) radius() float64 { return float64(p.total.grid.radius) - slack }

// Event describes the release.
func (p *Pairs) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: p.multiplier} }

// SD returns the standard deviations of the noise in a pair. They are public.
func (p *Pairs) SD(pair int) PairSD {
	return p.shape.sd(p.total.grid.sigma/p.radius(), p.most[pair])
}

// Release draws the noise. It can be called once.
func (p *Pairs) Release(src *noise.Source) ([]NoisyPair, error) {
	noisy, err := p.total.shares(p.radius(), src)
	if err != nil {
		return nil, err
	}
	out := make([]NoisyPair, len(p.most))
	for i, m := range p.most {
		out[i] = p.shape.sums(noisy[inTriangle*i:], m)
		out[i].Count, out[i].SD = float64(p.total.persons), p.SD(i)
		if p.shape.count > 0 {
			out[i].Count = noisy[len(noisy)-1] / p.shape.count
		}
	}
	return out, nil
}
