package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Moments releases the sum and the sum of squares of one number a person,
// clipped to [low, high], in one Gaussian release.
//
// With u in [-1, 1] the number's place in the range, a person adds the point
// (u, t(2u^2-1)) of a parabola. Its diameter is that of u alone, 2, as long as
// t^2 <= ((1+sqrt 5)/2)^5/16 = .693, so under ReplaceOne the second moment costs
// nothing: the noise on the sum is what it would be without it. Under
// AddRemoveOne a third coordinate counts persons, and the norm of the longest
// point counts. docs/proofs/moments.md has the proof, rounding included.
//
// With Laplace noise ([NewLaplaceMoments]) the same holds in l1 for t <= 1/4.
//
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half the
// diameter (ReplaceOne) or to the longest norm (AddRemoveOne); with Laplace noise it is
// dp.DiscreteLaplace, in lattice steps.
type Moments struct {
	low, high  float64
	multiplier float64
	adjacency  dp.Adjacency
	shape      parabola
	total      accumulator
	point      [3]int64
}

// parabola holds the weights of the coordinates, relative to half the range.
type parabola struct {
	square float64 // t
	count  float64 // weight of the count; 0 under ReplaceOne
}

func parabolaFor(adjacency dp.Adjacency) parabola {
	if adjacency == dp.ReplaceOne {
		return parabola{square: 0.8}
	}
	return parabola{square: 0.4, count: 0.5}
}

// norm is what the noise multiplier refers to, for half a range of 1.
func (p parabola) norm(adjacency dp.Adjacency) float64 {
	longest := math.Nextafter(math.Sqrt(1+p.square*p.square+p.count*p.count), 2)
	return halfWidth(adjacency, 2, longest)
}

// NewMoments makes empty moments of a number that is clipped to [low, high],
// low < high, both public.
func NewMoments(low, high, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Moments, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	half := (high - low) / 2
	if !(half > 0) || math.IsInf(half, 0) {
		return nil, fmt.Errorf("%w: range [%v, %v]; want low < high, both finite", ErrParameter, low, high)
	}
	shape := parabolaFor(adjacency)
	sd := math.Nextafter(half*shape.norm(adjacency), math.Inf(1)) * noiseMultiplier
	grid, err := newLattice(half, sd, 3)
	if err != nil {
		return nil, err
	}
	dim := 2
	if shape.count > 0 {
		dim = 3
	}
	return &Moments{low: low, high: high, multiplier: noiseMultiplier, adjacency: adjacency, shape: shape,
		total: newAccumulator(grid, dim, kind)}, nil
}

// NewLaplaceMoments makes empty moments with discrete Laplace noise, whose scale is the multiplier
// times half the l1 diameter (ReplaceOne) or the longest l1 norm (AddRemoveOne).
func NewLaplaceMoments(low, high, multiplier float64, adjacency dp.Adjacency) (*Moments, error) {
	m, err := NewMoments(low, high, multiplier, adjacency, Exact)
	if err != nil {
		return nil, err
	}
	m.shape = parabola{square: 0.2}
	if adjacency == dp.AddRemoveOne {
		m.shape.count = 0.5
	}
	if err := m.total.byLaplace((high-low)/2, multiplier, m.longest); err != nil {
		return nil, err
	}
	return m, nil
}

// longest is the norm of the event of Laplace noise, in lattice steps: truncation moves two points
// apart by less than 4.
func (m *Moments) longest() float64 {
	radius := float64(m.total.grid.radius)
	if m.shape.count > 0 {
		return radius*(1+m.shape.square+m.shape.count) + 2
	}
	return radius + 2
}

// Capacity is the number of persons that can be added at most.
func (m *Moments) Capacity() int64 { return m.total.grid.capacity() }

// Add adds one person's number. It is clipped here; a number that is not finite
// counts as the middle of the range.
func (m *Moments) Add(x float64) error {
	k := int64(0)
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		centred := min(max(x, m.low), m.high) - (m.low + (m.high-m.low)/2)
		limit := float64(m.total.grid.radius)
		k = int64(min(max(centred/m.total.grid.step, -limit), limit))
	}
	m.point[0] = k
	m.point[1] = m.squared(k)
	m.point[2] = m.one()
	return m.total.add(m.point[:len(m.total.sum)])
}

// squared is t(2u^2-1) in lattice steps: an even function of k, and monotone in
// |k|, since each of its floating-point operations is.
func (m *Moments) squared(k int64) int64 {
	r := float64(m.total.grid.radius)
	x := float64(k)
	return int64(m.shape.square * (2*(x*x) - r*r) / r)
}

// one is what a person adds to the count, in lattice steps.
func (m *Moments) one() int64 { return int64(m.shape.count * float64(m.total.grid.radius)) }

// Merge adds the persons of o, which must be made alike and is used up.
func (m *Moments) Merge(o *Moments) error {
	if m.low != o.low || m.high != o.high || m.multiplier != o.multiplier || m.adjacency != o.adjacency || m.shape != o.shape {
		return ErrMismatch
	}
	return m.total.merge(&o.total)
}

// Event describes the release.
func (m *Moments) Event() dp.Event {
	if m.total.laplace {
		return dp.DiscreteLaplace{Scale: m.total.grid.sigma, Norm: m.longest()}
	}
	return dp.Gaussian{NoiseMultiplier: m.multiplier}
}

// NoisyMoments are the released statistics about the middle of the range, and
// the standard deviations of the noise in them.
type NoisyMoments struct {
	Centre    float64 // middle of the clip range, public
	Count     float64 // persons: exact under ReplaceOne, noisy under AddRemoveOne
	Sum       float64 // of x - Centre
	Squares   float64 // of (x - Centre)^2
	CountSD   float64 // 0 under ReplaceOne
	SumSD     float64
	SquaresSD float64
}

// SD returns the standard deviations of the noise in Count, Sum and Squares.
// They are public.
func (m *Moments) SD() (count, sum, squares float64) {
	half := float64(m.total.grid.radius) * m.total.grid.step
	sum = m.total.grid.sigma * m.total.grid.step
	if m.total.laplace {
		sum = LaplaceSD(m.total.grid.sigma) * m.total.grid.step
	}
	squares = half * sum / (2 * m.shape.square)
	if m.shape.count > 0 {
		count = sum / (m.shape.count * half)
		squares = math.Hypot(squares, half*half*count/2)
	}
	return count, sum, squares
}

// Release draws the noise. It can be called once.
func (m *Moments) Release(src *noise.Source) (NoisyMoments, dp.Event, error) {
	noisy, err := m.total.release(src)
	if err != nil {
		return NoisyMoments{}, nil, err
	}
	half := float64(m.total.grid.radius) * m.total.grid.step
	out := NoisyMoments{Centre: m.low + (m.high-m.low)/2, Sum: noisy[0]}
	out.CountSD, out.SumSD, out.SquaresSD = m.SD()
	out.Count = float64(m.total.persons)
	if m.shape.count > 0 {
		out.Count = noisy[2] / (m.shape.count * half)
	}
	out.Squares = half * (noisy[1]/m.shape.square + half*out.Count) / 2
	return out, m.Event(), nil
}
