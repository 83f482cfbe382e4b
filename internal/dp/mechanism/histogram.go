package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Histogram releases how many persons fall into each of a public set of bins,
// every person into a public number of bins at most, one unless said otherwise, with
// Gaussian or discrete Laplace noise in each bin.
//
// Unit: a person. Replacing a person takes one unit out of k bins at most, and puts
// one into k others, so the diameter is sqrt(2k) (not 2 sqrt k); adding or removing one
// changes k bins by 1. The event is dp.Gaussian relative to half the diameter, or to
// sqrt k.
type Histogram struct {
	multiplier float64 // of Laplace noise its scale
	most       int
	total      accumulator
	point      []int64
}

// NewHistogram makes an empty histogram of a public number of bins, one bin a person.
func NewHistogram(bins int, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Histogram, error) {
	return NewSetHistogram(bins, 1, noiseMultiplier, adjacency, kind)
}

// NewSetHistogram makes an empty histogram in which a person is in most bins at most.
func NewSetHistogram(bins, most int, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Histogram, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	if most < 1 {
		return nil, fmt.Errorf("%w: a person is in at most %d bins; want at least 1", ErrParameter, most)
	}
	up := math.Inf(1)
	diameter, radius := math.Nextafter(math.Sqrt(2*float64(most)), up), math.Sqrt(float64(most))
	sd := math.Nextafter(halfWidth(adjacency, diameter, radius), up) * noiseMultiplier
	grid, err := newLattice(1, sd, bins)
	if err != nil {
		return nil, err
	}
	return &Histogram{noiseMultiplier, most, newAccumulator(grid, bins, kind), make([]int64, bins)}, nil
}

// NewLaplaceHistogram makes an empty histogram of a public number of bins, one bin a person,
// with discrete Laplace noise of the given scale in each bin. One person has l1 norm 1, and
// replacing one changes the counts by 2 in l1: the event is dp.DiscreteLaplace of norm 1.
func NewLaplaceHistogram(bins int, scale float64) (*Histogram, error) {
	if bins < 1 {
		return nil, fmt.Errorf("%w: %d bins; want at least 1", ErrParameter, bins)
	}
	if !(scale > 0) || math.IsInf(scale, 0) {
		return nil, fmt.Errorf("%w: noise is %v; want a finite number above 0", ErrParameter, scale)
	}
	if scale > 1<<maxNoise {
		return nil, fmt.Errorf("%w: noise is %v persons; choose a larger epsilon", ErrParameter, scale)
	}
	total := newAccumulator(lattice{step: 1, radius: 1, sigma: scale}, bins, Exact)
	total.laplace = true
	return &Histogram{scale, 1, total, make([]int64, bins)}, nil
}

// NewLaplaceShares makes an empty histogram in which a person is in most bins at most, in each
// with a share from 0 to 1 of a unit, of which there are 2^20 steps. Two persons differ by 2 most
// in l1: in steps the event is dp.DiscreteLaplace of norm 2^20 most.
func NewLaplaceShares(bins, most int, scale float64) (*Histogram, error) {
	h, err := NewLaplaceHistogram(bins, scale)
	if err != nil {
		return nil, err
	}
	if most < 1 {
		return nil, fmt.Errorf("%w: a person is in at most %d bins; want at least 1", ErrParameter, most)
	}
	const steps = 1 << 20
	if scale*steps > 1<<maxNoise {
		return nil, fmt.Errorf("%w: noise is %v units; choose a larger epsilon", ErrParameter, scale)
	}
	h.most, h.total.grid = most, lattice{step: 1.0 / steps, radius: steps, sigma: max(scale*steps, minNoise)}
	return h, nil
}

// Capacity is the number of persons that can be added at most.
func (h *Histogram) Capacity() int64 { return h.total.grid.capacity() }

// SD is the standard deviation of the noise in each bin, public.
func (h *Histogram) SD() float64 {
	if h.total.laplace {
		return LaplaceSD(h.total.grid.sigma) * h.total.grid.step
	}
	return h.total.grid.sigma * h.total.grid.step
}

// LaplaceSD is the standard deviation of discrete Laplace noise of a scale:
// sqrt(2 q)/(1 - q) with q = e^(-1/scale).
func LaplaceSD(scale float64) float64 {
	return math.Sqrt2 * math.Exp(-1/(2*scale)) / -math.Expm1(-1/scale)
}

// Add counts one person in a bin. A bin outside the histogram counts nowhere.
func (h *Histogram) Add(bin int) error {
	if bin < 0 || bin >= len(h.point) {
		return h.total.addAt(nil, nil)
	}
	return h.total.addAt([]int{bin}, []int64{int64(h.total.grid.radius)})
}

// AddSet counts one person once in each of the bins, in the first ones where there
// are more than a person may be in. A bin outside the histogram counts nowhere.
func (h *Histogram) AddSet(bins []int) error {
	in := 0
	for _, bin := range bins {
		if bin >= 0 && bin < len(h.point) && h.point[bin] == 0 && in < h.most {
			h.point[bin] = int64(h.total.grid.radius)
			in++
		}
	}
	err := h.total.add(h.point)
	clear(h.point)
	return err
}

// AddShares adds one person's shares, each from 0 to 1 and rounded down, to as many bins, to the
// first ones where there are more than a person may be in. A bin outside the histogram, or a
// second time, counts nowhere, and a share that is no number counts as 0. The l1 and the l2 norm are at most those of
// a person who is in the same bins whole, and no coordinate is negative, so that the bounds
// on what two persons differ by hold.
func (h *Histogram) AddShares(bins []int, shares []float64) error {
	in := 0
	for i, bin := range bins {
		if bin >= 0 && bin < len(h.point) && h.point[bin] == 0 && h.most > in {
			if share := shares[i]; share > 0 {
				h.point[bin] = int64(min(share, 1) * float64(h.total.grid.radius))
			}
			in++
		}
	}
	err := h.total.add(h.point)
	for _, bin := range bins {
		if bin >= 0 && bin < len(h.point) {
			h.point[bin] = 0
		}
	}
	return err
}

// Merge adds the persons of o, which must be made alike and is used up.
func (h *Histogram) Merge(o *Histogram) error {
	if h.multiplier != o.multiplier || h.most != o.most {
		return ErrMismatch
	}
	return h.total.merge(&o.total)
}

// Event describes the release.
func (h *Histogram) Event() dp.Event {
	if h.total.laplace {
		grid := h.total.grid
		return dp.DiscreteLaplace{Scale: grid.sigma, Norm: float64(h.most) * float64(grid.radius)}
	}
	return dp.Gaussian{NoiseMultiplier: h.multiplier}
}

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
