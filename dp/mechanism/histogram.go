package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Histogram releases how many persons fall into each of a public set of bins,
// every person into one bin at most, with Gaussian noise in each bin.
//
// Unit: a person. Replacing a person moves one unit between two bins, so the
// diameter is sqrt 2 (not 2); adding or removing one changes one bin by 1. The
// event is dp.Gaussian relative to half the diameter, or to 1.
type Histogram struct {
	multiplier float64
	total      accumulator
	point      []int64
}

// NewHistogram makes an empty histogram of a public number of bins.
func NewHistogram(bins int, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Histogram, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	sd := math.Nextafter(halfWidth(adjacency, math.Nextafter(math.Sqrt2, 2), 1), 2) * noiseMultiplier
	grid, err := newLattice(1, sd, bins)
	if err != nil {
		return nil, err
	}
	return &Histogram{noiseMultiplier, newAccumulator(grid, bins, kind), make([]int64, bins)}, nil
}

// Capacity is the number of persons that can be added at most.
func (h *Histogram) Capacity() int64 { return h.total.grid.capacity() }

// SD is the standard deviation of the noise in each bin, public.
func (h *Histogram) SD() float64 { return h.total.grid.sigma * h.total.grid.step }

// Add counts one person in a bin. A bin outside the histogram counts nowhere.
func (h *Histogram) Add(bin int) error {
	if bin < 0 || bin >= len(h.point) {
		return h.total.add(h.point)
	}
	h.point[bin] = int64(h.total.grid.radius)
	err := h.total.add(h.point)
	h.point[bin] = 0
	return err
}

// Event describes the release.
func (h *Histogram) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: h.multiplier} }

// Release draws the noise and returns the noisy counts. It can be called once.
func (h *Histogram) Release(src *noise.Source) ([]float64, dp.Event, error) {
	out, err := h.total.release(src)
	if err != nil {
		return nil, nil, err
	}
	unit := float64(h.total.grid.radius) * h.total.grid.step // 1, since the step is a power of two
	for i := range out {
		out[i] /= unit
	}
	return out, h.Event(), nil
}
