package mechanism

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Split releases the sums of x and of z, numbers of each person with x, z >= 0 and x + z <= 1,
// of what is left of 1, and of the product x z.
//
// A person is the point (x, z, r, b x z), r = 1 - x - z and b = 2.8, below sqrt 8. It is no longer than
// 1, and no coordinate is negative, so that no two are farther apart than sqrt 2: the product
// costs nothing. docs/proofs/experiment.md has the proof, rounding included.
//
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half of sqrt 2
// (ReplaceOne) or to 1 (AddRemoveOne).
type Split struct {
	multiplier float64
	adjacency  dp.Adjacency
	total      accumulator
	point      [4]int64
}

// splitProduct is the weight of the product.
const splitProduct = 2.8

// NewSplit makes an empty release. The noise multiplier is public.
func NewSplit(noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Split, error) {
	if !adjacency.Valid() {
		return nil, dp.ErrAdjacency
	}
	sd := halfWidth(adjacency, math.Nextafter(math.Sqrt2, 2), 1) * (1 + 0x1p-50) * noiseMultiplier
	grid, err := newLattice(1, sd, 4)
	if err != nil {
		return nil, err
	}
	return &Split{multiplier: noiseMultiplier, adjacency: adjacency, total: newAccumulator(grid, 4, kind)}, nil
}

// Capacity is the number of persons that can be added at most.
func (s *Split) Capacity() int64 { return s.total.grid.capacity() }

// Add adds one person. Numbers below 0 count as 0, and where x + z exceeds 1 both shrink by the
// same factor; a person with a number that is not finite counts as (0, 0).
func (s *Split) Add(x, z float64) error {
	if math.IsNaN(x+z) || math.IsInf(x+z, 0) {
		x, z = 0, 0
	}
	x, z = max(x, 0), max(z, 0)
	if both := x + z; both > 1 {
		x, z = x/both, z/both
	}
	whole := int64(s.total.grid.radius)
	k := float64(whole)
	a := min(int64(x*k), whole)
	b := min(int64(z*k), whole-a)
	s.point = [4]int64{a, b, whole - a - b, int64(splitProduct * float64(a) / k * float64(b))}
	return s.total.add(s.point[:])
}

// Merge adds the persons of o, which must be made alike and is used up.
func (s *Split) Merge(o *Split) error {
	if s.multiplier != o.multiplier || s.adjacency != o.adjacency {
		return ErrMismatch
	}
	return s.total.merge(&o.total)
}

// Event describes the release.
func (s *Split) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: s.multiplier} }

// NoisySplit holds the released sums.
type NoisySplit struct{ X, Z, Rest, Product float64 }

// SD returns the standard deviations of the noise in each of the first three sums, and in that
// of products. They are public.
func (s *Split) SD() (part, product float64) {
	part = s.total.grid.sigma / float64(s.total.grid.radius)
	return part, part / splitProduct
}

// Release draws the noise. It can be called once.
func (s *Split) Release(src *noise.Source) (NoisySplit, dp.Event, error) {
	noisy, err := s.total.release(src)
	if err != nil {
		return NoisySplit{}, nil, err
	}
	unit := float64(s.total.grid.radius) * s.total.grid.step
	return NoisySplit{noisy[0] / unit, noisy[1] / unit, noisy[2] / unit, noisy[3] / unit / splitProduct}, s.Event(), nil
}
