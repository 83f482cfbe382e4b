package local

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Coordinates reports [ReducedDim] coordinates of a vector, drawn uniformly
// without replacement, each with an equal share of epsilon, by the piecewise or the
// hybrid mechanism (Wang et al. 2019, algorithms 2 to 4). Every coordinate is
// clipped to [-Clip, Clip]. Make one with [NewPiecewise] or [NewHybrid].
type Coordinates struct {
	kind    kind
	dim     int
	sampled int
	clip    float64
	epsilon float64
	window  window
	lie     uint64  // of the one-bit mechanism
	oneBit  float64 // probability of choosing the one-bit mechanism
}

// A coordinate in a report: index, mechanism, cell or bit.
const coordinateSize = 4 + 1 + 2

// maxSampled is ReducedDim at maxEpsilon.
const maxSampled = 25

// NewPiecewise returns the piecewise mechanism on vectors of length dim. The error
// wraps [ErrParameter].
func NewPiecewise(dim int, clip, epsilon float64) (Coordinates, error) {
	return newCoordinates(kindPiecewise, dim, clip, epsilon)
}

// NewHybrid returns the hybrid mechanism, which for each coordinate tosses a public
// coin between the piecewise mechanism and one bit; its worst variance is lower.
// The error wraps [ErrParameter].
func NewHybrid(dim int, clip, epsilon float64) (Coordinates, error) {
	return newCoordinates(kindHybrid, dim, clip, epsilon)
}

func newCoordinates(k kind, dim int, clip, epsilon float64) (Coordinates, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Coordinates{}, err
	}
	if err := checkDim(dim, maxDim); err != nil {
		return Coordinates{}, err
	}
	if err := checkClip(clip); err != nil {
		return Coordinates{}, err
	}
	n := ReducedDim(dim, epsilon)
	share := xmath.DivDown(epsilon, float64(n))
	if share > maxShare {
		return Coordinates{}, fmt.Errorf("%w: epsilon %v for each of %d coordinates; want at most %v: the report has %d cells",
			ErrParameter, share, n, maxShare, cells)
	}
	c := Coordinates{kind: k, dim: dim, sampled: n, clip: clip, epsilon: epsilon,
		window: newWindow(share), lie: lieThreshold(share, 1)}
	if k == kindHybrid {
		c.oneBit = oneBitShare(share)
	}
	return c, nil
}

// maxShare is the largest epsilon of one coordinate: beyond it the best window is
// narrower than a few cells.
const maxShare = 16

// oneBitShare is the probability of the one-bit mechanism that minimises the worst
// variance of the hybrid (Wang et al. 2019, equation (7)); their threshold .61 is
// where it stops being 1. Any probability is as private.
func oneBitShare(epsilon float64) float64 {
	if epsilon <= .61 {
		return 1
	}
	return math.Exp(-epsilon / 2)
}

// Dim returns the length of the input and of the estimate.
func (r Coordinates) Dim() int { return r.dim }

// Sampled returns the number of coordinates in a report.
func (r Coordinates) Sampled() int { return r.sampled }

// Clip returns the bound on the absolute value of a coordinate.
func (r Coordinates) Clip() float64 { return r.clip }

// Epsilon bounds the privacy loss of one report from above.
func (r Coordinates) Epsilon() float64 { return r.epsilon }

// Event describes one report to an accountant.
func (r Coordinates) Event() dp.Event { return pure(r.epsilon) }

// Size returns the bytes of a report: one, and seven for each sampled coordinate.
func (r Coordinates) Size() int { return 1 + coordinateSize*r.sampled }

// Randomize appends the report on x to dst.
func (r Coordinates) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	return r.randomize(dst, x, secure{src})
}

func (r Coordinates) randomize(dst []byte, x []float64, c coins) []byte {
	mustLen(len(x), r.dim)
	finite := largest(x) > 0
	var sample [maxSampled]uint32
	r.draw(sample[:r.sampled], c)
	dst = append(dst, r.kind.header())
	for _, i := range sample[:r.sampled] {
		v := 0.0
		if finite {
			v = min(1, max(-1, x[i]/r.clip))
		}
		dst = binary.LittleEndian.AppendUint32(dst, i)
		if c.bernoulli(r.oneBit) {
			bit := byte(0)
			if c.bernoulli((1+v)/2) != c.below(r.lie) {
				bit = 1
			}
			dst = append(dst, 1, bit, 0)
		} else {
			dst = binary.LittleEndian.AppendUint16(append(dst, 0), r.window.randomize(v, c))
		}
	}
	return dst
}

// draw fills sample with a uniform subset of the coordinates, ascending (Floyd's
// algorithm, Bentley and Floyd 1987).
func (r Coordinates) draw(sample []uint32, c coins) {
	n := 0
	for j := r.dim - len(sample); j < r.dim; j++ {
		i := uint32(c.uniform(uint64(j + 1)))
		at, found := slices.BinarySearch(sample[:n], i)
		if found {
			i, at = uint32(j), n // j is larger than all before
		}
		copy(sample[at+1:n+1], sample[at:n])
		sample[at] = i
		n++
	}
}

// Estimate overwrites dst with an unbiased estimate of the clipped vector. All but
// the sampled coordinates are 0.
func (r Coordinates) Estimate(dst []float64, report []byte) error {
	mustLen(len(dst), r.dim)
	body, err := r.kind.open(report, r.Size())
	if err != nil {
		return err
	}
	clear(dst)
	weight := r.clip * float64(r.dim) / float64(r.sampled)
	next := uint32(0) // the least index that may follow
	for ; len(body) > 0; body = body[coordinateSize:] {
		i, said := binary.LittleEndian.Uint32(body), binary.LittleEndian.Uint16(body[5:])
		if i < next || uint64(i) >= uint64(r.dim) {
			return fmt.Errorf("%w: coordinates are not ascending and below %d", ErrReport, r.dim)
		}
		next = i + 1
		switch {
		case body[4] == 0 && r.oneBit < 1:
			dst[i] = weight * r.window.estimate(said)
		case body[4] == 1 && r.oneBit > 0 && said <= 1:
			dst[i] = weight * (2*float64(said) - 1) / gain(r.lie)
		default:
			return fmt.Errorf("%w: coordinate %d has no valid mechanism and value", ErrReport, i)
		}
	}
	return nil
}
