package local

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Sizes of the integers in a cap, in steps: the standard deviation of the carrier,
// the length of a direction, and the carrier's standard deviation on the wire.
const (
	carrierSigma = 1 << 24
	carrierMax   = 1 << 30 // 64 standard deviations, then cut off
	directionLen = 1 << 24
	wireSigma    = 16
	maxCapDim    = 1 << 16 // so that a dot product stays below 2^30 2^24 2^8
)

// halfSpace draws an integer vector z, the carrier, with independent rounded normal coordinates,
// conditioned on whether z lies in the cap of a direction u, which is where u'z >= threshold; in it
// with probability 1 - lie/2^64. The condition is evaluated in integers and enforced by drawing
// again, so the distribution is exact.
type halfSpace struct {
	dim       int
	carrier   *noise.Gaussian
	threshold int64
	least     int64 // least and largest squared length of an integer direction
	largest   int64
	lie       uint64
	gain      float64 // mean of u'z for a unit u, in standard deviations
}

// newCarrier returns a half-space without a place and a probability, and how far
// the length of an integer direction may be from directionLen.
func newCarrier(dim int) (h halfSpace, slack float64, err error) {
	g, err := noise.NewGaussian(carrierSigma)
	if err != nil {
		return halfSpace{}, 0, err
	}
	h = halfSpace{dim: dim, carrier: g}
	slack = math.Ceil(math.Sqrt(float64(dim))/2) + 1
	h.least = int64((directionLen - slack) * (directionLen - slack)) // exact: below 2^53
	h.largest = int64((directionLen + slack) * (directionLen + slack))
	return h, slack, nil
}

// newHalfSpace returns the half-space at gamma >= 0 standard deviations with the
// highest probability of the cap that is certified to be epsilon-private.
func newHalfSpace(dim int, gamma, epsilon float64) (halfSpace, error) {
	h, slack, err := newCarrier(dim)
	if err != nil {
		return halfSpace{}, err
	}
	h.threshold = int64(math.Round(gamma * carrierSigma * directionLen))
	low, high := h.capMass(slack)
	if err := h.settle(low, high, epsilon); err != nil {
		return halfSpace{}, err
	}
	p, q := 1-lieProbability(h.lie), xmath.NormSF(gamma)
	h.gain = xmath.NormPDF(gamma) * (p/q - (1-p)/(1-q))
	return h, nil
}

// settle sets the probability of the cap, whose mass is between low and high, to the
// highest that is certified to be epsilon-private.
func (h *halfSpace) settle(low, high, epsilon float64) error {
	if !(low > 0 && high < 1) {
		return fmt.Errorf("%w: the cap's mass in dimension %d is not certain; use PrivUnitG or SignPRS", ErrParameter, h.dim)
	}
	h.lie = lieThreshold(epsilon, xmath.DivDown(low, xmath.AddUp(1, -low)))
	if got := h.loss(low, high); !(got <= epsilon) {
		return fmt.Errorf("%w: no certificate of epsilon %v in dimension %d, the bound is %v; use a larger epsilon or SignPRS",
			ErrParameter, epsilon, h.dim, got)
	}
	return nil
}

// capMass bounds the probability that the carrier is in the cap of a direction,
// over all integer directions. Rounding the carrier moves u'z by at most
// |u|_1/2 <= |u|_2 sqrt(dim)/2, and |u|_2 is within slack of directionLen.
func (h halfSpace) capMass(slack float64) (low, high float64) {
	gamma := float64(h.threshold) / carrierSigma / directionLen
	shift := xmath.DivUp(slack, carrierSigma)
	relative := xmath.DivUp(slack, directionLen)
	const margin = 1e-12 // far above the errors of NormSF and of the lines below
	low = xmath.NormSF(gamma/(1-relative)+shift) * (1 - margin)
	high = xmath.NormSF(gamma/(1+relative)-shift) * (1 + margin)
	return low, high
}

// loss bounds the log ratio of the carrier's probabilities under two directions.
// For the first of the four cases, in the cap of one and outside that of the
// other, lie was chosen in directed rounding; it is not recomputed.
func (h halfSpace) loss(low, high float64) float64 {
	lie := lieProbability(h.lie)
	const margin = 1e-9
	both := math.Log(high / low)
	neither := math.Log((1 - low) / (1 - high))
	opposite := math.Log(lie / (1 - high) * high / (1 - lie))
	return max(both, neither, opposite) + margin
}

// direction writes x, made directionLen long and rounded, and reports whether it
// has a direction and the result a length within the certified bounds.
func (h halfSpace) direction(u []int32, x []float64) bool {
	top := largest(x)
	if top == 0 {
		return false
	}
	length := 0.0
	for _, v := range x {
		length += v / top * (v / top)
	}
	length = math.Sqrt(length)
	squares := int64(0)
	for i, v := range x {
		k := int64(math.Round(v / top / length * directionLen))
		u[i] = int32(k)
		squares += k * k
	}
	return squares >= h.least && squares <= h.largest
}

// anyDirection writes a random signed axis, for a vector without a direction.
func anyDirection(u []int32, src *noise.Source) {
	clear(u)
	sign := int32(1)
	if src.Uint64n(2) == 0 {
		sign = -1
	}
	u[src.Uint64n(uint64(len(u)))] = sign * directionLen
}

// sample appends a carrier, rounded to bytes of wireSigma steps a standard
// deviation and cut off at 127: what happens to it after the choice is
// post-processing.
func (h halfSpace) sample(dst []byte, u []int32, src *noise.Source) []byte {
	inside := src.Uint64() >= h.lie
	at := len(dst)
	for {
		dst = dst[:at]
		dot := int64(0)
		for _, v := range u {
			z := min(carrierMax, max(-carrierMax, h.carrier.Sample(src)))
			dot += int64(v) * z
			dst = append(dst, wire(z))
		}
		if dot >= h.threshold == inside {
			return dst
		}
	}
}

func wire(z int64) byte {
	const step = carrierSigma / wireSigma
	k := (z + step/2) >> 20 // carrierSigma/wireSigma is 2^20
	return byte(int8(min(127, max(-127, k))))
}

// read overwrites dst with weight times the carrier, in standard deviations.
func (h halfSpace) read(dst []float64, body []byte, weight float64) error {
	for i, b := range body {
		if int8(b) == math.MinInt8 {
			return fmt.Errorf("%w: coordinate %d is not a number that is sent", ErrReport, i)
		}
		dst[i] = weight * float64(int8(b)) / wireSigma
	}
	return nil
}
