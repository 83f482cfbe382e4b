package mechanism

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// VectorSum releases the sum over persons of a vector that each of them adds,
// clipped to l2 norm Clip, with Gaussian noise of standard deviation
// NoiseMultiplier*Clip in every coordinate.
//
// Unit: a person. Adjacency: either; the event is dp.Gaussian relative to the
// clip, and the accountant doubles the sensitivity under ReplaceOne. Source:
// Dwork and Roth 2014; rounding as in docs/proofs/lattice.md.
type VectorSum struct {
	clip       float64
	multiplier float64
	total      accumulator
	scratch    []int64
}

// NewVectorSum makes an empty sum of vectors of dim coordinates. All arguments
// are public: the l2 clip and the noise multiplier are positive and finite.
func NewVectorSum(dim int, clip, noiseMultiplier float64, kind Noise) (*VectorSum, error) {
	grid, err := newLattice(clip, clip*noiseMultiplier, dim)
	if err != nil {
		return nil, err
	}
	return &VectorSum{clip, noiseMultiplier, newAccumulator(grid, dim, kind), make([]int64, dim)}, nil
}

// Capacity is the number of persons that can be added at most.
func (s *VectorSum) Capacity() int64 { return s.total.grid.capacity() }

// Step is the lattice step, a public power of two. Rounding moves each
// coordinate of the sum toward zero by at most Step a person.
func (s *VectorSum) Step() float64 { return s.total.grid.step }

// Add adds one person's vector, of the sum's dimension. It is clipped here; a
// vector with a coordinate that is not finite counts as zero.
func (s *VectorSum) Add(x []float64) error {
	if len(x) != len(s.scratch) {
		panic(fmt.Sprintf("mechanism: vector of length %d added to a sum of dimension %d", len(x), len(s.scratch)))
	}
	s.total.grid.round(s.scratch, x)
	return s.total.add(s.scratch)
}

// Merge adds the persons of o, which must be made alike and is used up.
func (s *VectorSum) Merge(o *VectorSum) error {
	if s.multiplier != o.multiplier || s.clip != o.clip {
		return ErrMismatch
	}
	return s.total.merge(&o.total)
}

// Event describes the release: a Gaussian with the sum's noise multiplier.
func (s *VectorSum) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: s.multiplier} }

// Release draws the noise and returns the noisy sum. It can be called once.
func (s *VectorSum) Release(src *noise.Source) ([]float64, dp.Event, error) {
	out, err := s.total.release(src)
	if err != nil {
		return nil, nil, err
	}
	return out, s.Event(), nil
}
