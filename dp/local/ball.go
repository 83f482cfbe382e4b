package local

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Ball is the mechanism of Duchi, Jordan and Wainwright (2018, section 4.2.3) for
// vectors in an l2 ball: the vector becomes a random sign of its direction with the
// right mean, and the report points into that half of space with probability
// e^epsilon/(e^epsilon+1). The report is a normal vector on a lattice, sent with one
// byte a coordinate, where the paper has a point of the sphere: as for [PrivUnitG],
// the difference vanishes in large dimension. Make one with [NewBall] and
// keep it: it holds the tables of the noise.
type Ball struct {
	half    halfSpace
	radius  float64
	epsilon float64
}

// NewBall returns the mechanism on vectors of length dim, at most 2^16, that are
// clipped to l2 norm radius. The error wraps [ErrParameter].
func NewBall(dim int, radius, epsilon float64) (Ball, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Ball{}, err
	}
	if err := checkDim(dim, maxCapDim); err != nil {
		return Ball{}, err
	}
	if err := checkClip(radius); err != nil {
		return Ball{}, err
	}
	h, err := newHalfSpace(dim, 0, epsilon)
	return Ball{h, radius, epsilon}, err
}

// Dim returns the length of the input and of the estimate.
func (b Ball) Dim() int { return b.half.dim }

// Radius returns the l2 norm that vectors are clipped to.
func (b Ball) Radius() float64 { return b.radius }

// Epsilon bounds the privacy loss of one report from above.
func (b Ball) Epsilon() float64 { return b.epsilon }

// Event describes one report to an accountant.
func (b Ball) Event() dp.Event { return pure(b.epsilon) }

// Size returns the bytes of a report: one, and one for each coordinate.
func (b Ball) Size() int { return 1 + b.half.dim }

// Randomize appends the report on x to dst; it allocates one slice.
func (b Ball) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	mustLen(len(x), b.half.dim)
	u := make([]int32, b.half.dim)
	if !b.half.direction(u, x) {
		anyDirection(u, src)
	} else if !src.Bernoulli(.5 + .5*min(1, norm(x)/b.radius)) {
		for i := range u {
			u[i] = -u[i]
		}
	}
	return b.half.sample(append(dst, kindBall.header()), u, src)
}

// norm is the l2 norm; x is finite and not zero.
func norm(x []float64) float64 {
	top, sum := largest(x), 0.0
	for _, v := range x {
		sum += v / top * (v / top)
	}
	return top * math.Sqrt(sum)
}

// Estimate overwrites dst with an estimate of the clipped vector. Its bias, from the
// lattice, is below 1e-3 of the length for epsilon of 1 or more, in any dimension.
func (b Ball) Estimate(dst []float64, report []byte) error {
	mustLen(len(dst), b.half.dim)
	body, err := kindBall.open(report, b.Size())
	if err != nil {
		return err
	}
	return b.half.read(dst, body, b.radius/b.half.gain)
}
