package local

import (
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// sphereCap draws the direction of a normal integer vector z, conditioned on whether
// it lies in the cap u'z >= height |z| |u| of a direction u. The condition is decided
// in float64 with a relative error below capError, which the certificate covers.
type sphereCap struct {
	halfSpace         // the carrier and the directions; no threshold
	height    float64 // cosine at the rim of the cap, in [0, 1)
	limit     float64 // height directionLen
}

// capError bounds the relative error of u'z >= limit |z| as it is computed: a sum of at most
// 2^16 squares, their root, a product and the conversion of u'z.
const capError = 0x1p-36

// leastDim is the smallest dimension of a sphere that is more than two points.
const leastDim = 2

// sphere is the uniform law of one coordinate on the unit sphere in dim dimensions,
// with density norm (1-t^2)^((dim-3)/2).
type sphere struct {
	dim  int
	norm float64 // Gamma(dim/2) / Gamma((dim-1)/2) / sqrt(pi), to dim roundings
}

func newSphere(dim int) sphere {
	// G(d) = Gamma(d/2)/Gamma((d-1)/2)/sqrt(pi) starts with G(2) = 1/pi or
	// G(3) = 1/2, and G(d+2) = G(d) d/(d-1).
	norm, d := 1/math.Pi, 2
	if dim%2 == 1 {
		norm, d = .5, 3
	}
	for ; d < dim; d += 2 {
		norm *= float64(d) / float64(d-1)
	}
	return sphere{dim, norm}
}

// tail bounds the mass of the cap at height t in [0, 1], half the regularised incomplete
// beta function I_{1-t^2}((dim-1)/2, 1/2), from both sides.
func (s sphere) tail(t float64) (low, high float64) {
	const tiny = 4e-18
	x := t * t
	if t >= 1 || float64(s.dim-1)/2*math.Log1p(-x) < -40 {
		return 0, tiny // (1-t^2)^((dim-1)/2)/2, a bound on the mass (Ball 1997, Lemma 2.2)
	}
	if x > .5 {
		m, rel := s.polar(t)
		return m * (1 - rel), m * (1 + rel)
	}
	m, rel := s.equatorial(t)
	slack := m*rel + 0x1p-52
	return .5 - m - slack, min(.5-m+slack, .5)
}

// equatorial is the integral of the density from 0 to t, t^2 <= 1/2,
//
//	norm t (1-t^2)^((dim-1)/2) sum_n t^(2n) prod_{k<n} (dim/2+k)/(3/2+k),
//
// and a bound on its relative error. All terms of the series (DLMF 8.17.8) are positive, so
// that each rounding counts once.
func (s sphere) equatorial(t float64) (m, rel float64) {
	x := t * t
	sum, n := series(float64(s.dim)/2, 1.5, x)
	power := math.Exp(float64(s.dim-1) / 2 * math.Log1p(-x))
	return s.norm * t * power * sum, s.relative(n)
}

// polar is the integral from t to 1, t^2 >= 1/2, with x = 1-t^2 and a = (dim-1)/2,
//
//	norm/2 t x^a/a sum_n x^n prod_{k<n} (a+1/2+k)/(a+1+k).
func (s sphere) polar(t float64) (m, rel float64) {
	x := (1 - t) * (1 + t)
	a := float64(s.dim-1) / 2
	sum, n := series(a+.5, a+1, x)
	return s.norm / 2 * t * math.Exp(a*math.Log(x)) / a * sum, s.relative(n)
}

// series is the sum of x^n (a)_n/(b)_n for 0 <= x <= 1/2, and how many terms it took.
func series(a, b, x float64) (sum float64, n int) {
	term := 1.0
	for sum = 1; ; n++ {
		ratio := (a + float64(n)) / (b + float64(n)) * x
		term *= ratio
		sum += term
		// Where the ratios fall, or rise towards x, the rest is below a geometric series.
		if r := max(ratio, x); r < 1 && term*r < sum*(1-r)*0x1p-54 {
			return sum, n + 1
		}
	}
}

// relative bounds the relative error of an integral with n terms: dim roundings of norm,
// six for each term, and the power, whose exponent has size 40 at most and a relative
// error of 8 units. A unit is 2^-53.
func (s sphere) relative(n int) float64 { return float64(s.dim+6*n+8*40+32) * 0x1p-53 }

// centroid is the integral of t times the density over the cap at height t.
func (s sphere) centroid(t float64) float64 {
	return s.norm / float64(s.dim-1) * math.Exp(float64(s.dim-1)/2*math.Log1p(-t*t))
}

// mass is the middle of the bounds on the tail.
func (s sphere) mass(t float64) float64 {
	low, high := s.tail(t)
	return (low + high) / 2
}

// bestHeight maximises the mean of u'v over the height of the cap, which minimises
// the variance (Asi, Feldman, Talwar 2022, Proposition 3): with odds
// of the cap e^epsilon q/(1-q) it is centroid/(1/(e^epsilon-1) + q). Caps smaller than
// leastCap are not considered. Privacy does not depend on the result.
func (s sphere) bestHeight(epsilon float64) float64 {
	low, high := 0.0, 1.0
	for range 50 {
		if m := (low + high) / 2; s.mass(m) > leastCap {
			low = m
		} else {
			high = m
		}
	}
	odds := math.Expm1(epsilon)
	return maximum(0, low, func(t float64) float64 { return s.centroid(t) / (1/odds + s.mass(t)) })
}

// newSphereCap returns the cap at a height in [0, 1) with the highest probability that is
// certified to be epsilon-private.
func newSphereCap(s sphere, height, epsilon float64) (sphereCap, error) {
	h, slack, err := newCarrier(s.dim)
	if err != nil {
		return sphereCap{}, err
	}
	c := sphereCap{h, height, height * directionLen}
	low, high := c.capMass(s, slack)
	if err := c.settle(low, high, epsilon); err != nil {
		return sphereCap{}, err
	}
	p, q := 1-lieProbability(c.lie), s.mass(height)
	c.gain = s.centroid(height) * (p/q - (1-p)/(1-q))
	return c, nil
}

// capMass bounds the probability that z/|z| is in the cap of a direction, over all
// integer directions. Before it was rounded z was G, |z - G| <= sqrt(dim)/2, and G/|G| is uniform.
// Where |G| >= r sigma sqrt(dim) the cosine with u moves by at most twice 1/(2 r sigma), and
// |G| is smaller with probability at most (r^2 e^(1-r^2))^(dim/2) (Chernoff). Any r
// serves; the best of a few is taken.
func (c sphereCap) capMass(s sphere, slack float64) (low, high float64) {
	relative := xmath.DivUp(slack, directionLen) + 2*capError
	low, high = 0, 1
	for r := .5; r >= 0x1p-12; r /= 2 {
		move := 1 / (r * carrierSigma)
		short := math.Exp(float64(s.dim)/2*(1+2*math.Log(r)-r*r)) * (1 + 1e-9)
		inner, _ := s.tail(min(1, c.height/(1-relative)*(1+1e-15)+move))
		lower, upper := inner-short, s.above(c.height/(1+relative)*(1-1e-15)-move)+short
		low, high = max(low, lower*(1-1e-12)), min(high, upper*(1+1e-12))
	}
	return low, high
}

// above bounds the mass of the cap at height t from above, t of either sign.
func (s sphere) above(t float64) float64 {
	if t < 0 {
		low, _ := s.tail(-t)
		return 1 - low
	}
	_, high := s.tail(t)
	return high
}

// sample appends the direction of a carrier, in steps of 1/(wireSigma sqrt(dim)), each
// coordinate rounded up or down at random so that its mean is exact, and cut off at 127.
func (c sphereCap) sample(dst []byte, u, z []int32, src *noise.Source) []byte {
	inside := src.Uint64() >= c.lie
	for {
		dot, squares := int64(0), 0.0
		for i, v := range u {
			k := min(carrierMax, max(-carrierMax, c.carrier.Sample(src)))
			z[i] = int32(k)
			dot += int64(v) * k
			squares += float64(k) * float64(k)
		}
		length := math.Sqrt(squares)
		if float64(dot) >= c.limit*length == inside {
			return appendDirection(dst, z, length, src)
		}
	}
}

func appendDirection(dst []byte, z []int32, length float64, src *noise.Source) []byte {
	scale := wireSigma * math.Sqrt(float64(len(z))) / max(length, 1)
	for _, k := range z {
		x := float64(k) * scale
		down := math.Floor(x)
		if src.Bernoulli(x - down) {
			down++
		}
		dst = append(dst, byte(int8(min(127, max(-127, down)))))
	}
	return dst
}
