package local

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Laplace clips a vector to l1 norm Clip/2 and adds Laplace noise of scale
// Clip/epsilon to each coordinate (Ono, Takahashi 2020, algorithm 2), in integers:
// the vector is rounded toward zero onto a lattice, the clip is enforced there, and
// the noise is an exact Laplace draw rounded to it. Make one with [NewLaplace] and
// keep it: it holds the tables of the noise.
type Laplace struct {
	dim     int
	clip    float64
	epsilon float64
	step    float64 // of the lattice, a power of two
	limit   int64   // l1 norm of the clipped integer vector
	noise   *noise.Laplace
}

// NewLaplace returns the Laplace mechanism on vectors of length dim. Two clipped
// vectors differ by at most clip in l1 norm. The error wraps [ErrParameter].
func NewLaplace(dim int, clip, epsilon float64) (Laplace, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Laplace{}, err
	}
	if err := checkDim(dim, maxDim); err != nil {
		return Laplace{}, err
	}
	if err := checkClip(clip); err != nil {
		return Laplace{}, err
	}
	// The scale is 2^23 to 2^24 steps and the vector below 2^29, so that a coordinate
	// leaves 32 bits with probability below e^-95; it is cut off there.
	_, exponent := math.Frexp(clip / epsilon)
	step := math.Ldexp(1, exponent-24)
	limit := int64(clip / 2 / step)
	l, err := noise.NewLaplace(xmath.DivUp(2*float64(limit), epsilon))
	return Laplace{dim, clip, epsilon, step, limit, l}, err
}

// Dim returns the length of the input and of the estimate.
func (l Laplace) Dim() int { return l.dim }

// Clip returns the largest l1 distance of two clipped vectors, twice the largest
// norm of one.
func (l Laplace) Clip() float64 { return l.clip }

// Scale returns the scale of the noise, in the units of the vector.
func (l Laplace) Scale() float64 { return l.noise.Scale() * l.step }

// Epsilon bounds the privacy loss of one report from above.
func (l Laplace) Epsilon() float64 { return l.epsilon }

// Event describes one report to an accountant.
func (l Laplace) Event() dp.Event { return pure(l.epsilon) }

// Size returns the bytes of a report: one, and four for each coordinate.
func (l Laplace) Size() int { return 1 + 4*l.dim }

// Randomize appends the report on x to dst.
func (l Laplace) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	mustLen(len(x), l.dim)
	factor := l.factor(x)
	dst = append(dst, kindLaplace.header())
	for _, v := range x {
		k := onLattice(v, factor) + l.noise.Sample(src)
		k = min(math.MaxInt32, max(-math.MaxInt32, k))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(k)))
	}
	return dst
}

// onLattice is v times factor, rounded toward zero. The zero vector, which stands for
// every vector that is not finite, has factor 0: there v may be NaN.
func onLattice(v, factor float64) int64 {
	if factor == 0 {
		return 0
	}
	return int64(v * factor)
}

// factor returns a number for which the integers of onLattice have l1 norm at most
// limit; the sum of those very integers is what decides.
func (l Laplace) factor(x []float64) float64 {
	top := largest(x)
	if top == 0 {
		return 0
	}
	norm := 0.0 // of x/top: 1 to dim, no overflow
	for _, v := range x {
		norm += math.Abs(v / top)
	}
	factor := min(1/l.step, float64(l.limit)/norm/top)
	for !l.within(x, factor) {
		factor *= 1 - 0x1p-30
	}
	return factor
}

func (l Laplace) within(x []float64, factor float64) bool {
	left := l.limit
	for _, v := range x {
		if !(math.Abs(v*factor) < float64(left)+1) {
			return false // asked of the float, for the conversion could overflow
		}
		k := onLattice(v, factor)
		left -= max(k, -k)
	}
	return true
}

// Estimate overwrites dst with the reported vector. Its mean is the clipped vector
// rounded toward zero, each coordinate by less than 2^-23 Clip/epsilon.
func (l Laplace) Estimate(dst []float64, report []byte) error {
	mustLen(len(dst), l.dim)
	body, err := kindLaplace.open(report, l.Size())
	if err != nil {
		return err
	}
	for i := range dst {
		k := int32(binary.LittleEndian.Uint32(body[4*i:]))
		if k == math.MinInt32 {
			return fmt.Errorf("%w: coordinate %d is not a number that is sent", ErrReport, i)
		}
		dst[i] = float64(k) * l.step
	}
	return nil
}
