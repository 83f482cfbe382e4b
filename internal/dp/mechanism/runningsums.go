package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// RunningSums releases the same as a [Histogram] of cells that stand in series, such as bins of time, with
// Gaussian noise that is not independent from cell to cell: what gets independent noise is, along each
// series, the square root of its running sums (the factorisation of Fichtenberger, Henzinger and
// Upadhyay 2023), and cells follow from that. Sums over neighbouring cells have less noise, single cells somewhat more.
//
// Unit: a person, who is in most cells at most, no two of them in one series, with a share from 0 to 1 in each. Nobody adds a
// negative coordinate, nor more than radius in l2 norm, which is enforced on the lattice: two
// persons differ by sqrt 2 times the radius at most. The event is dp.Gaussian relative to half of that, or to the radius.
type RunningSums struct {
	multiplier float64
	most       int
	// place is, by cell, where it stands in its series, whose cells are next to each other in
	// coordinates: from is that of the cell, to the first beyond the series.
	from, to []int
	sums     []float64
	total    accumulator
	x        []float64
	point    []int64
}

// NewRunningSums makes an empty sum of a public number of cells, of which series lists those that
// stand in series, in order; a cell in none has noise of its own.
func NewRunningSums(cells int, series [][]int, most int, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*RunningSums, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	if cells < 1 || most < 1 {
		return nil, fmt.Errorf("%w: %d cells, of which a person is in %d at most; want at least 1", ErrParameter, cells, most)
	}
	s := &RunningSums{multiplier: noiseMultiplier, most: most, from: make([]int, cells), to: make([]int, cells), x: make([]float64, cells), point: make([]int64, cells)}
	at, longest := 0, 1
	for _, cells := range series {
		for i, cell := range cells {
			s.from[cell], s.to[cell] = at+i, at+len(cells)
		}
		at, longest = at+len(cells), max(longest, len(cells))
	}
	for cell := range cells {
		if s.to[cell] == 0 {
			s.from[cell], s.to[cell] = at, at+1
			at++
		}
	}
	if at != cells {
		return nil, fmt.Errorf("%w: a cell stands in two series", ErrParameter)
	}
	s.sums = xmath.RootSums(longest)
	square := 0.0
	for _, f := range s.sums {
		square += f * f
	}
	radius := math.Sqrt(square*float64(most)) * (1 + 1e-12)
	sd := math.Nextafter(halfWidth(adjacency, math.Sqrt2*radius*(1+1e-12), radius), math.Inf(1)) * noiseMultiplier
	grid, err := newLattice(radius, sd, cells)
	if err != nil {
		return nil, err
	}
	s.total = newAccumulator(grid, cells, kind)
	return s, nil
}

// Capacity is the number of persons that can be added at most.
func (s *RunningSums) Capacity() int64 { return s.total.grid.capacity() }

// SD is the standard deviation of the independent noise of the square roots, public.
func (s *RunningSums) SD() float64 { return s.total.grid.sigma * s.total.grid.step }

// AddShares is [Histogram.AddShares].
func (s *RunningSums) AddShares(cells []int, shares []float64) error {
	clear(s.x)
	in := 0
	for i, cell := range cells {
		if cell < 0 || cell >= len(s.x) || in == s.most {
			continue
		}
		in++
		if share := min(shares[i], 1); share > 0 {
			for k := s.from[cell]; k < s.to[cell]; k++ {
				s.x[k] += share * s.sums[k-s.from[cell]]
			}
		}
	}
	s.total.grid.round(s.point, s.x)
	return s.total.add(s.point)
}

// Event describes the release.
func (s *RunningSums) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: s.multiplier} }

// Release draws the noise and returns the noisy cells. It can be called once.
func (s *RunningSums) Release(src *noise.Source) ([]float64, dp.Event, error) {
	roots, err := s.total.release(src)
	if err != nil {
		return nil, nil, err
	}
	differences := xmath.RootDifferences(len(s.sums))
	cells := make([]float64, len(roots))
	first := map[int]int{} // by end of the series
	for cell := range cells {
		if at, seen := first[s.to[cell]]; !seen || s.from[cell] < at {
			first[s.to[cell]] = s.from[cell]
		}
	}
	for cell := range cells {
		for k := first[s.to[cell]]; k <= s.from[cell]; k++ {
			cells[cell] += differences[s.from[cell]-k] * roots[k]
		}
	}
	return cells, s.Event(), nil
}
