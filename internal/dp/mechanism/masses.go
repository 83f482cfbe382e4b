package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Masses releases how much mass persons put into each of a public set of bins, each of them
// most in all at most, with Gaussian noise in each bin. What a person keeps back is one bin
// more, so that everybody adds most. Of masses that are weights their squares may be released
// beside them, at a public scale.
//
// In shares of most a person is a point of a simplex, and the square in a bin, at the scale c,
// lies between 0 and c times the mass there: a polytope in which no two points are farther
// apart than the corners of two bins, sqrt(2 + 2 c^2), and none is longer than sqrt(1 + c^2).
// docs/proofs/distribution.md has the proof, rounding included.
//
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half that diameter
// (ReplaceOne) or to that norm (AddRemoveOne). With Laplace noise ([NewLaplaceMasses]), without squares, it
// is dp.DiscreteLaplace in lattice steps: in l1 everybody's norm is exactly most, and two differ by twice that.
type Masses struct {
	bins       int
	most       float64
	squares    float64
	multiplier float64
	adjacency  dp.Adjacency
	total      accumulator
	slack      float64
	point      []int64
}

// NewMasses makes an empty release. All arguments are public; squares is the scale of the
// squares, 0 for none.
func NewMasses(bins int, most, squares, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Masses, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	if bins < 1 {
		return nil, fmt.Errorf("%w: %d bins; want at least 1", ErrParameter, bins)
	}
	if !(most > 0) || math.IsInf(most, 0) || !(squares >= 0 && squares <= 1) {
		return nil, fmt.Errorf("%w: the largest mass is %v and the scale of squares %v; want above 0 and finite, and 0 to 1", ErrParameter, most, squares)
	}
	dim := bins + 1
	if squares > 0 {
		dim += bins
	}
	norm := math.Sqrt(1+squares*squares) * (1 + 0x1p-50)
	sd := most * halfWidth(adjacency, math.Sqrt2*(1+0x1p-50)*norm, norm) * (1 + 0x1p-50) * noiseMultiplier
	grid, err := newLattice(most, sd, dim)
	if err != nil {
		return nil, err
	}
	m := &Masses{bins: bins, most: most, squares: squares, multiplier: noiseMultiplier, adjacency: adjacency,
		total: newAccumulator(grid, dim, kind), slack: 2 * float64(dim), point: make([]int64, dim)}
	if m.radius() < float64(grid.radius)/2 {
		return nil, fmt.Errorf("%w: a largest mass of %v under noise of standard deviation %v leaves no resolution", ErrParameter, most, sd)
	}
	return m, nil
}

// NewLaplaceMasses makes an empty release without squares, with discrete Laplace noise whose scale
// is the multiplier times most.
func NewLaplaceMasses(bins int, most, multiplier float64, adjacency dp.Adjacency) (*Masses, error) {
	m, err := NewMasses(bins, most, 0, multiplier, adjacency, Exact)
	if err != nil {
		return nil, err
	}
	m.total.laplace = true
	if m.total.grid.sigma = max(multiplier*m.radius()*(1+0x1p-50), minNoise); !(m.total.grid.sigma <= 1<<maxNoise) {
		return nil, fmt.Errorf("%w: noise is %v of the largest mass; choose a larger epsilon", ErrParameter, multiplier)
	}
	return m, nil
}

// Capacity is the number of persons that can be added at most.
func (m *Masses) Capacity() int64 { return m.total.grid.capacity() }

// radius is most in lattice steps, less what truncation may move two points apart.
func (m *Masses) radius() float64 { return float64(m.total.grid.radius) - m.slack }

// Add adds one person: a mass for each bin, and for each bin the square, or the sum of squares,
// of what the mass consists of. Numbers below 0 count as 0, masses that exceed most together
// shrink by one factor, and a square counts up to most times its mass; a person with a number
// that is not finite adds no mass. Where the release has no squares these are not looked at.
func (m *Masses) Add(masses, squares []float64) error {
	clear(m.point)
	scale := m.scale(masses, squares)
	k, left := m.radius(), int64(m.radius())
	for b, x := range masses {
		if !(scale > 0) || !(x > 0) {
			continue
		}
		share := x * scale
		m.point[b] = min(int64(share*k), left)
		left -= m.point[b]
		if m.squares > 0 {
			square := min(max(squares[b], 0)*scale*scale, share)
			m.point[m.bins+1+b] = min(int64(m.squares*square*k), int64(m.squares*float64(m.point[b])))
		}
	}
	m.point[m.bins] = left
	return m.total.add(m.point)
}

// scale is what a person's masses are multiplied with to be shares of most; 0 where one of the
// numbers is not finite.
func (m *Masses) scale(masses, squares []float64) float64 {
	sum := 0.0
	for b, x := range masses {
		sum += max(x, 0)
		if m.squares > 0 {
			x += squares[b]
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0
		}
	}
	if math.IsInf(sum, 0) {
		return 0
	}
	return 1 / max(sum, m.most)
}

// Merge adds the persons of o, which must be made alike and is used up.
func (m *Masses) Merge(o *Masses) error {
	if m.bins != o.bins || m.most != o.most || m.squares != o.squares || m.multiplier != o.multiplier || m.adjacency != o.adjacency {
		return ErrMismatch
	}
	return m.total.merge(&o.total)
}

// Event describes the release.
func (m *Masses) Event() dp.Event {
	if m.total.laplace {
		return dp.DiscreteLaplace{Scale: m.total.grid.sigma, Norm: m.radius()}
	}
	return dp.Gaussian{NoiseMultiplier: m.multiplier}
}

// NoisyMasses holds the released sums.
type NoisyMasses struct {
	// In is the mass in each bin, and Back what all kept back.
	In   []float64
	Back float64
	// Squares is nil where there are none.
	Squares []float64
}

// SD returns the standard deviations of the noise of a mass and of a square. They are public.
func (m *Masses) SD() (mass, square float64) {
	unit := m.total.grid.sigma / m.radius() * m.most
	if m.total.laplace {
		unit = LaplaceSD(m.total.grid.sigma) / m.radius() * m.most
	}
	if m.squares == 0 {
		return unit, 0
	}
	return unit, unit * m.most / m.squares
}

// Release draws the noise. It can be called once.
func (m *Masses) Release(src *noise.Source) (NoisyMasses, dp.Event, error) {
	noisy, err := m.total.release(src)
	if err != nil {
		return NoisyMasses{}, nil, err
	}
	unit := m.most / (m.radius() * m.total.grid.step)
	for i := range noisy {
		noisy[i] *= unit
	}
	out := NoisyMasses{In: noisy[:m.bins], Back: noisy[m.bins]}
	if m.squares > 0 {
		out.Squares = noisy[m.bins+1:]
		for i := range out.Squares {
			out.Squares[i] *= m.most / m.squares
		}
	}
	return out, m.Event(), nil
}
