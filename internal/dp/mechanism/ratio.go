package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Ratio releases a weighted mean as a ratio of two noisy sums: each person has
// a weight d in [0, maxWeight] and adds d(x - centre) and d, where x is clipped
// to [low, high] and centre is the middle of that range.
//
// The pairs (d(x-centre), h d), h in proportion to half the range R, fill a
// triangle. For h <= sqrt(3) R its diameter is that of the numerator alone,
// 2 R maxWeight, so under ReplaceOne the denominator costs nothing.
// docs/proofs/ratio.md has the proof, rounding included.
//
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half the
// diameter (ReplaceOne) or to the longest norm (AddRemoveOne).
type Ratio struct {
	low, high  float64
	maxWeight  float64
	multiplier float64
	adjacency  dp.Adjacency
	height     float64 // h/R
	total      accumulator
	point      [2]int64
}

// NewRatio makes an empty ratio. Range, largest weight and noise multiplier are
// public.
func NewRatio(low, high, maxWeight, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Ratio, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	half := (high - low) / 2 * maxWeight
	if !(half > 0) || math.IsInf(half, 0) || !(maxWeight > 0) {
		return nil, fmt.Errorf("%w: range [%v, %v] and largest weight %v; want low < high and a weight above 0, all finite",
			ErrParameter, low, high, maxWeight)
	}
	height := 1.7 // below sqrt(3), which leaves room for rounding
	if adjacency == dp.AddRemoveOne {
		height = 0.7
	}
	longest := math.Nextafter(math.Sqrt(1+height*height), 3)
	sd := math.Nextafter(half*halfWidth(adjacency, 2, longest), math.Inf(1)) * noiseMultiplier
	grid, err := newLattice(half, sd, 4)
	if err != nil {
		return nil, err
	}
	return &Ratio{low: low, high: high, maxWeight: maxWeight, multiplier: noiseMultiplier, adjacency: adjacency,
		height: height, total: newAccumulator(grid, 2, kind)}, nil
}

// Add adds one person by the weighted value d*x and the weight d. The weight is
// clipped to [0, maxWeight] and their quotient to the range; a person whose
// numbers are not finite counts as weight 0.
func (r *Ratio) Add(weighted, weight float64) error {
	r.point = [2]int64{}
	if weight > 0 && !math.IsInf(weight, 0) && !math.IsNaN(weighted) && !math.IsInf(weighted, 0) {
		r.place(weighted/weight, min(weight, r.maxWeight))
	}
	return r.total.add(r.point[:])
}

// place writes the point of value x and weight d, enforced in integers: with K
// the half width in steps, |numerator| <= K-1 and 0 <= denominator <= height*K.
func (r *Ratio) place(x, d float64) {
	k := float64(r.total.grid.radius)
	centre := r.low + (r.high-r.low)/2
	u := (min(max(x, r.low), r.high) - centre) / ((r.high - r.low) / 2)
	w := d / r.maxWeight
	limit := k - 1
	r.point[0] = int64(min(max(u*w*k, -limit), limit))
	r.point[1] = int64(min(max(r.height*w*k, 0), r.height*k))
}

// Event describes the release.
func (r *Ratio) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: r.multiplier} }

// NoisyRatio holds the two released sums and the noise in them.
type NoisyRatio struct {
	Centre        float64 // middle of the value range, public
	Numerator     float64 // sum of d(x - Centre)
	Denominator   float64 // sum of d
	NumeratorSD   float64
	DenominatorSD float64
}

// SD returns the standard deviations of the noise in numerator and denominator.
// They are public.
func (r *Ratio) SD() (numerator, denominator float64) {
	numerator = r.total.grid.sigma * r.total.grid.step
	return numerator, numerator / (r.height * (r.high - r.low) / 2)
}

// Release draws the noise. It can be called once.
func (r *Ratio) Release(src *noise.Source) (NoisyRatio, dp.Event, error) {
	noisy, err := r.total.release(src)
	if err != nil {
		return NoisyRatio{}, nil, err
	}
	out := NoisyRatio{Centre: r.low + (r.high-r.low)/2, Numerator: noisy[0]}
	out.NumeratorSD, out.DenominatorSD = r.SD()
	out.Denominator = noisy[1] / (r.height * (r.high - r.low) / 2)
	return out, r.Event(), nil
}
