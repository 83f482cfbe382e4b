package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// StepSum releases, step after step, the noisy sum of the vectors that persons
// add in that step, each clipped to l2 norm Clip, with Gaussian noise of standard
// deviation NoiseMultiplier*Clip in every coordinate: the inner loop of private
// stochastic descent (Song, Chaudhuri and Sarwate 2013; Abadi et al. 2016).
// Which persons are added in a step is the caller's sampling, which the caller
// puts around [StepSum.Event]. The number of steps is fixed in advance, and a
// further one is refused.
//
// Unit: a person, who may be added at most once a step. Adjacency: either; every
// step is a dp.Gaussian relative to the clip. With exact noise a step is a
// [VectorSum], docs/proofs/lattice.md; with fast noise it is float64 arithmetic.
// Proof of the composition: docs/proofs/gpope.md.
//
// A StepSum allocates nothing after it is made. It may not be shared by
// goroutines.
type StepSum struct {
	clip       float64
	multiplier float64
	grid       lattice
	exact      *noise.Gaussian     // nil with fast noise
	fast       *noise.FastGaussian // nil with exact noise
	sum        []int64
	total      []float64 // the sum with fast noise
	persons    int64
	left       int64 // steps
	scratch    []int64
	mark       []int64 // by coordinate: the last addition that used it
	additions  int64
}

// NewStepSum prepares steps releases of sums of vectors of dim coordinates. All
// arguments are public: the l2 clip and the noise multiplier are positive and
// finite, steps is at least 1.
func NewStepSum(dim int, clip, noiseMultiplier float64, steps int64, kind Noise) (*StepSum, error) {
	grid, err := newLattice(clip, clip*noiseMultiplier, dim)
	if err != nil {
		return nil, err
	}
	if steps < 1 {
		return nil, fmt.Errorf("%w: %d steps; want at least 1", ErrParameter, steps)
	}
	s := &StepSum{clip: clip, multiplier: noiseMultiplier, grid: grid, left: steps, mark: make([]int64, dim)}
	if kind == Fast {
		s.fast, err = noise.NewFastGaussian(math.Nextafter(clip*noiseMultiplier, math.Inf(1)))
		s.total = make([]float64, dim)
	} else {
		s.exact, err = noise.NewGaussian(grid.sigma)
		s.sum, s.scratch = make([]int64, dim), make([]int64, dim)
	}
	return s, err
}

// Capacity is the number of persons that can be added at most in one step.
func (s *StepSum) Capacity() int64 { return s.grid.capacity() }

// Event describes one step: a Gaussian with the sum's noise multiplier.
func (s *StepSum) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: s.multiplier} }

// Add adds one person's vector, of the sum's dimension. It is clipped here; a
// vector with a coordinate that is not finite counts as zero.
func (s *StepSum) Add(x []float64) error {
	if len(x) != len(s.mark) {
		panic(fmt.Sprintf("mechanism: vector of length %d added to a sum of dimension %d", len(x), len(s.mark)))
	}
	if err := s.count(); err != nil {
		return err
	}
	if s.fast != nil {
		if scale := clipFactor(x, s.clip); scale > 0 {
			for i, v := range x {
				s.total[i] += v * scale
			}
		}
		return nil
	}
	s.round(x)
	for i, k := range s.scratch {
		s.sum[i] += k
	}
	return nil
}

// AddAt adds one person's vector whose coordinate index[k] is x[k] and whose
// other coordinates are zero; it costs what len(x) costs. It panics when an
// index occurs twice, since the clip would not bound the sum of the two.
func (s *StepSum) AddAt(index []int32, x []float64) error {
	if len(x) != len(index) {
		panic(fmt.Sprintf("mechanism: %d coordinates for %d indices", len(x), len(index)))
	}
	if err := s.count(); err != nil {
		return err
	}
	s.additions++
	for _, i := range index {
		if s.mark[i] == s.additions {
			panic(fmt.Sprintf("mechanism: coordinate %d given twice", i))
		}
		s.mark[i] = s.additions
	}
	if s.fast != nil {
		if scale := clipFactor(x, s.clip); scale > 0 {
			for k, v := range x {
				s.total[index[k]] += v * scale
			}
		}
		return nil
	}
	s.round(x)
	for k, v := range s.scratch[:len(x)] {
		s.sum[index[k]] += v
	}
	return nil
}

// count makes room for one more person.
func (s *StepSum) count() error {
	if s.left == 0 {
		return ErrReleased
	}
	if s.persons >= s.grid.capacity() {
		return fmt.Errorf("%w: at most %d fit in a step; a smaller dimension or batch is needed", ErrCapacity, s.grid.capacity())
	}
	s.persons++
	return nil
}

// clipFactor is what x is multiplied by to have norm at most clip: 1 where it is
// inside, and 0 where x is not finite or its norm overflows. The norm comes out
// below the clip in spite of rounding for fewer than 2^12 coordinates.
func clipFactor(x []float64, clip float64) float64 {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	norm := math.Sqrt(square)
	if math.IsNaN(norm) || math.IsInf(norm, 1) {
		return 0
	}
	return min(1, clip*(1-0x1p-40)/norm) // clip/0 is +Inf
}

// round writes x, clipped and in lattice steps, to scratch. The norm is enforced
// by lattice.within; how the factor is computed does not matter to the bound.
func (s *StepSum) round(x []float64) {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	k := s.scratch[:len(x)]
	// Where the square neither overflows nor drowns, it gives the factor faster
	// than the general rule.
	if !(square > 1e-280 && square < 1e280) {
		s.grid.round(k, x)
		return
	}
	factor := 1 / s.grid.step
	if norm := math.Sqrt(square); norm*factor > float64(s.grid.radius) {
		factor = float64(s.grid.radius) / norm
	}
	for {
		for i, v := range x {
			k[i] = int64(v * factor)
		}
		if s.grid.within(k) {
			return
		}
		factor *= 1 - 0x1p-45
	}
}

// Release draws the noise of this step and writes the noisy sum to dst, of the
// sum's dimension. The exact sum is erased, and the next step begins.
func (s *StepSum) Release(dst []float64, src *noise.Source) error {
	if len(dst) != len(s.mark) {
		panic(fmt.Sprintf("mechanism: dst has length %d, the sum dimension %d", len(dst), len(s.mark)))
	}
	if s.left == 0 {
		return fmt.Errorf("%w: all steps are used up", ErrReleased)
	}
	if src.Sums() != nil {
		return fmt.Errorf("%w: a sum of steps", ErrNotJoint)
	}
	s.left--
	s.persons = 0
	if s.fast != nil {
		s.fast.Fill(dst, src)
		for i, v := range s.total {
			dst[i] += v
		}
		clear(s.total)
		return nil
	}
	s.exact.Fill(s.scratch, src)
	s.grid.disturb(s.sum, s.scratch, src)
	for i, k := range s.scratch {
		dst[i] = float64(k) * s.grid.step
	}
	clear(s.scratch)
	clear(s.sum)
	return nil
}
