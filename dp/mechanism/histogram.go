package mechanism

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Histogram releases the number of persons in each of a public set of bins, with Gaussian noise in
// each bin. A person counts in at most a public number of bins.
//
// Unit: a person. Replacing a person removes one count from at most k bins and adds one to at most
// k others, so the diameter is sqrt(2k) (not 2 sqrt k); adding or removing one changes k bins by 1.
// The event is dp.Gaussian relative to half the diameter, or to sqrt k.
type Histogram struct{ bins *mechanism.Histogram }

// NewHistogram makes an empty histogram with a public number of bins; most is the largest number of
// bins that a person counts in.
func NewHistogram(bins, most int, noiseMultiplier float64, adjacency dp.Adjacency) (*Histogram, error) {
	h, err := mechanism.NewSetHistogram(bins, most, noiseMultiplier, adjacency, mechanism.Exact)
	if err != nil {
		return nil, err
	}
	return &Histogram{h}, nil
}

// Capacity is the number of persons that can be added at most.
func (h *Histogram) Capacity() int64 { return h.bins.Capacity() }

// SD is the standard deviation of the noise in each bin, public.
func (h *Histogram) SD() float64 { return h.bins.SD() }

// Add counts one person once in each of the bins, in the first ones where there
// are more than a person may be in. A bin outside the histogram counts nowhere.
func (h *Histogram) Add(bins ...int) error { return h.bins.AddSet(bins) }

// Merge adds the persons of o, which must have been made with the same arguments and cannot be used
// afterwards.
func (h *Histogram) Merge(o *Histogram) error { return h.bins.Merge(o.bins) }

// Event describes the release.
func (h *Histogram) Event() dp.Event { return h.bins.Event() }

// Release draws the noise and returns the noisy counts. It can be called once.
func (h *Histogram) Release(src *noise.Source) ([]float64, dp.Event, error) {
	return h.bins.Release(src)
}
