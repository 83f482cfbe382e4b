package mechanism

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// VectorSum releases a sum over persons of vectors that are clipped to an l2 norm, with Gaussian
// noise in every coordinate. The standard deviation of the noise is the noise multiplier times the
// clip.
//
// Unit: a person. Adjacency: either; the event is dp.Gaussian relative to the
// clip, and the accountant doubles the sensitivity under ReplaceOne. Source:
// Dwork and Roth 2014; rounding as in docs/proofs/lattice.md.
type VectorSum struct{ sum *mechanism.VectorSum }

// NewVectorSum makes an empty sum of vectors of dim coordinates. All arguments
// are public: the l2 clip and the noise multiplier are positive and finite.
func NewVectorSum(dim int, clip, noiseMultiplier float64) (*VectorSum, error) {
	sum, err := mechanism.NewVectorSum(dim, clip, noiseMultiplier, mechanism.Exact)
	if err != nil {
		return nil, err
	}
	return &VectorSum{sum}, nil
}

// Capacity is the number of persons that can be added at most.
func (s *VectorSum) Capacity() int64 { return s.sum.Capacity() }

// Step is the lattice step, a public power of two. Rounding moves each
// coordinate of the sum toward zero by at most Step a person.
func (s *VectorSum) Step() float64 { return s.sum.Step() }

// Add adds one person's vector. It panics where that is not of the sum's dimension. It is
// clipped here; a vector with a coordinate that is not finite counts as zero.
func (s *VectorSum) Add(x []float64) error { return s.sum.Add(x) }

// Merge adds the persons of o, which must have been made with the same arguments and cannot be used
// afterwards.
func (s *VectorSum) Merge(o *VectorSum) error { return s.sum.Merge(o.sum) }

// Event describes the release: a Gaussian with the sum's noise multiplier.
func (s *VectorSum) Event() dp.Event { return s.sum.Event() }

// Release draws the noise and returns the noisy sum. It can be called once.
func (s *VectorSum) Release(src *noise.Source) ([]float64, dp.Event, error) {
	return s.sum.Release(src)
}
