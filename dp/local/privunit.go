package local

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// PrivUnitG reports a direction by a normal vector that mostly points its way:
// PrivUnit (Bhowmick et al. 2018) with a normal carrier in place of the sphere, as
// proposed by Asi, Feldman and Talwar (2022), who prove that among unbiased
// mechanisms on the sphere PrivUnit has the least variance and that PrivUnitG has
// the same in the limit of large dimension. The carrier is drawn on a lattice and
// sent with one byte a coordinate. Make one with [NewPrivUnitG] and
// keep it: it holds the tables of the noise.
//
// On average a report takes dim draws if it is drawn outside the cap and dim/q if inside, q being
// the probability of the cap: some tens of times dim at epsilon 5, about a thousand at 10.
type PrivUnitG struct {
	half    halfSpace
	epsilon float64
}

// leastCap bounds the work of a report: the cap is not made smaller than this.
const leastCap = 0x1p-12

// NewPrivUnitG returns PrivUnitG on vectors of length dim, at most 2^16, with the
// cap that gives the least variance. The error wraps [ErrParameter].
func NewPrivUnitG(dim int, epsilon float64) (PrivUnitG, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return PrivUnitG{}, err
	}
	if err := checkDim(dim, maxCapDim); err != nil {
		return PrivUnitG{}, err
	}
	h, err := newHalfSpace(dim, bestGamma(epsilon), epsilon)
	return PrivUnitG{h, epsilon}, err
}

// bestGamma maximises the mean of u'z, and so minimises the variance, over the
// cap's distance from the origin: with odds of the cap e^epsilon q/(1-q) it is
// phi(gamma) (e^epsilon - 1)/(1 + q (e^epsilon - 1)). Golden section is good enough:
// privacy does not depend on it.
func bestGamma(epsilon float64) float64 {
	odds := math.Expm1(epsilon)
	signal := func(g float64) float64 { return xmath.NormPDF(g) / (1/odds + xmath.NormSF(g)) }
	return maximum(0, xmath.NormISF(leastCap), signal)
}

// maximum finds where a function with one peak is largest, by golden section.
func maximum(low, high float64, f func(float64) float64) float64 {
	const ratio = .6180339887498949
	for range 60 {
		a, b := high-ratio*(high-low), low+ratio*(high-low)
		if f(a) < f(b) {
			low = a
		} else {
			high = b
		}
	}
	return (low + high) / 2
}

// Dim returns the length of the input and of the estimate.
func (r PrivUnitG) Dim() int { return r.half.dim }

// Epsilon bounds the privacy loss of one report from above.
func (r PrivUnitG) Epsilon() float64 { return r.epsilon }

// Event describes one report to an accountant.
func (r PrivUnitG) Event() dp.Event { return pure(r.epsilon) }

// Size returns the bytes of a report: one, and one for each coordinate.
func (r PrivUnitG) Size() int { return 1 + r.half.dim }

// Signal returns the mean of the carrier along the true direction, in standard
// deviations of one coordinate: the expected cosine between the report and the
// vector, times sqrt(dim), for large dim.
func (r PrivUnitG) Signal() float64 { return r.half.gain }

// Randomize appends the report on x to dst; it allocates one slice. A vector without
// a direction gets a random one.
func (r PrivUnitG) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	mustLen(len(x), r.half.dim)
	u := make([]int32, r.half.dim)
	if !r.half.direction(u, x) {
		anyDirection(u, src)
	}
	return r.half.sample(append(dst, kindPrivUnitG.header()), u, src)
}

// Estimate overwrites dst with an estimate of x/|x|. Its bias, from the lattice, is
// below 1e-3 of the length for epsilon of 1 or more, in any dimension; rounding to
// bytes adds 1/(12 16^2) = .03% to the variance.
func (r PrivUnitG) Estimate(dst []float64, report []byte) error {
	mustLen(len(dst), r.half.dim)
	body, err := kindPrivUnitG.open(report, r.Size())
	if err != nil {
		return err
	}
	return r.half.read(dst, body, 1/r.half.gain)
}
