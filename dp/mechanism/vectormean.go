package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// VectorMean releases the mean over persons of a vector clipped to an l2 norm,
// with Gaussian noise.
//
// Unit: a person. Under ReplaceOne the number of persons is public and divides
// a [VectorSum]. Under AddRemoveOne every person adds a constant coordinate as
// well, and the mean is a ratio of noisy sums; the longest norm, of vector and
// count together, is what the event's multiplier refers to.
type VectorMean struct {
	sum   *VectorSum
	dim   int
	clip  float64
	count float64 // the constant coordinate; 0 under ReplaceOne
	full  []float64
}

// countShare is the constant coordinate's share of the clip under AddRemoveOne.
const countShare = 0.5

// NewVectorMean makes an empty mean of vectors of dim coordinates clipped to an
// l2 norm. All arguments are public.
func NewVectorMean(dim int, clip, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*VectorMean, error) {
	if !adjacency.Valid() {
		return nil, dp.ErrAdjacency
	}
	m := &VectorMean{dim: dim, clip: clip}
	width, radius := dim, clip
	if adjacency == dp.AddRemoveOne {
		m.count = countShare * clip
		width, radius = dim+1, math.Nextafter(math.Hypot(clip, m.count), math.Inf(1))
	}
	var err error
	if m.sum, err = NewVectorSum(width, radius, noiseMultiplier, kind); err != nil {
		return nil, err
	}
	m.full = make([]float64, width)
	return m, nil
}

// Capacity is the number of persons that can be added at most.
func (m *VectorMean) Capacity() int64 { return m.sum.Capacity() }

// Add adds one person's vector. It is clipped here; a vector with a coordinate
// that is not finite counts as zero.
func (m *VectorMean) Add(x []float64) error {
	if len(x) != m.dim {
		panic(fmt.Sprintf("mechanism: vector of length %d added to a mean of dimension %d", len(x), m.dim))
	}
	copy(m.full, x)
	if m.count > 0 {
		clipTo(m.full[:len(x)], m.clip)
		m.full[len(x)] = m.count
	}
	return m.sum.Add(m.full)
}

// clipTo scales x into the ball of a norm; what is not finite becomes zero. The
// sum behind it enforces the norm of the whole vector again, exactly.
func clipTo(x []float64, norm float64) {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	switch {
	case math.IsNaN(square) || math.IsInf(square, 0):
		clear(x)
	case square > norm*norm:
		scale := norm / math.Sqrt(square)
		for i := range x {
			x[i] *= scale
		}
	}
}

// Merge adds the persons of o, which must be made alike and is used up.
func (m *VectorMean) Merge(o *VectorMean) error { return m.sum.Merge(o.sum) }

// Event describes the release.
func (m *VectorMean) Event() dp.Event { return m.sum.Event() }

// Release draws the noise and returns the noisy mean. Under AddRemoveOne a
// noisy count below 1 counts as 1. It can be called once.
func (m *VectorMean) Release(src *noise.Source) ([]float64, dp.Event, error) {
	persons := float64(m.sum.total.persons)
	out, event, err := m.sum.Release(src)
	if err != nil {
		return nil, nil, err
	}
	if m.count > 0 {
		last := len(out) - 1
		persons, out = out[last]/m.count, out[:last]
	}
	for i := range out {
		out[i] /= max(persons, 1)
	}
	return out, event, nil
}
