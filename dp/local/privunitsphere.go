package local

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// PrivUnit reports a direction by a point of the sphere, uniform in a cap around it with
// high probability and uniform outside it otherwise (Bhowmick, Duchi, Freudiger,
// Kapoor, Rogers 2018), with the cap and the probability that minimise the variance
// at the given epsilon (Asi, Feldman, Talwar 2022, who prove that no
// unbiased mechanism on the sphere has less). The mass of the cap is an incomplete beta function,
// certified from both sides, and the point is sent with one byte a coordinate. Make
// one with [NewPrivUnit] and keep it: it holds the tables of the noise.
//
// [PrivUnitG] is the same with a normal vector in place of the point: the difference
// in signal vanishes in large dimension. A report takes as long as there.
type PrivUnit struct {
	cap     sphereCap
	epsilon float64
}

// NewPrivUnit returns PrivUnit on vectors of length dim, from 2 to 2^16. The error wraps
// [ErrParameter].
func NewPrivUnit(dim int, epsilon float64) (PrivUnit, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return PrivUnit{}, err
	}
	if err := checkDimRange(dim, leastDim, maxCapDim); err != nil {
		return PrivUnit{}, err
	}
	s := newSphere(dim)
	c, err := newSphereCap(s, s.bestHeight(epsilon), epsilon)
	return PrivUnit{c, epsilon}, err
}

// Dim returns the length of the input and of the estimate.
func (r PrivUnit) Dim() int { return r.cap.dim }

// Epsilon bounds the privacy loss of one report from above.
func (r PrivUnit) Epsilon() float64 { return r.epsilon }

// Event describes one report to an accountant.
func (r PrivUnit) Event() dp.Event { return pure(r.epsilon) }

// Size returns the bytes of a report: one, and one for each coordinate.
func (r PrivUnit) Size() int { return 1 + r.cap.dim }

// Signal returns the mean cosine between the report and the vector, times sqrt(dim).
func (r PrivUnit) Signal() float64 { return r.cap.gain * math.Sqrt(float64(r.cap.dim)) }

// Randomize appends the report on x to dst; it allocates one slice. A vector without
// a direction gets a random one.
func (r PrivUnit) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	mustLen(len(x), r.cap.dim)
	both := make([]int32, 2*r.cap.dim)
	u, z := both[:r.cap.dim], both[r.cap.dim:]
	if !r.cap.direction(u, x) {
		anyDirection(u, src)
	}
	return r.cap.sample(append(dst, kindPrivUnit.header()), u, z, src)
}

// Estimate overwrites dst with an unbiased estimate of x/|x|, but for the rounding of
// the carrier and of x to 24 bits.
func (r PrivUnit) Estimate(dst []float64, report []byte) error {
	mustLen(len(dst), r.cap.dim)
	body, err := kindPrivUnit.open(report, r.Size())
	if err != nil {
		return err
	}
	return r.cap.read(dst, body, 1/r.Signal())
}
