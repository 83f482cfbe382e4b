package account

import (
	"context"
	"math"
)

// smoothIntegral brackets the hockey-stick divergence of P = N(m e1, v I) from
// Q = N(0, I) in d dimensions, with v = e^r. In the standardised coordinate z of
// P along e1 the privacy loss less epsilon is y(z) + b W/2, where y is a
// quadratic and W is chi-squared with d-1 degrees of freedom, so
//
//	delta = integral of phi(z) hockey(y(z)) dz.
//
// e^y hockey(y) is a convex, increasing function of e^y. On a panel where y is
// monotone its chord bounds it from above, and Jensen's inequality from below;
// both integrate to masses of the normal law under P and Q. The bracket narrows
// with the square of the panels' width (docs/proofs/smooth-sensitivity.md).
type smoothIntegral struct {
	ctx        context.Context // of the query: once it is cancelled the brackets are [0, 1]
	kernel     smoothKernel
	m, rootV   float64
	c0, c1, c2 float64 // y(z) = c0 + c1 z + c2 z^2
	weight     float64 // ln of P's over Q's density, less y, in the coordinate z
	eta        float64 // bound on the rounding error of a loss, see at
	panels     []smoothPanel
}

type smoothPanel struct {
	z0, z1        smoothNode
	lower, upper  float64 // of the divergence's part
	lowTail, tail float64 // of the part of P(loss > epsilon)
	smallestGap   bool    // halving it no longer helps
}

type smoothNode struct{ z, y, hockey, tail float64 }

// smoothResult brackets delta; tail is at least P(loss > epsilon) and lowTail at
// most that.
type smoothResult struct{ lower, upper, lowTail, tail float64 }

// estimate is the value nearest to the truth where the panels are narrow: there
// the chord errs by twice as much as Jensen's inequality.
func (r smoothResult) estimate() float64 { return r.lower + (r.upper-r.lower)/3 }

const (
	smoothReach  = 38     // the normal tail beyond is below 1e-315
	smoothFloor  = 1e-300 // covers what lies beyond and every underflow
	smoothPanels = 1 << 14
	smoothUlp    = 0x1p-52
)

// set prepares the integral for the means' distance mu in units of the smaller
// standard deviation, the log-ratio r of P's variance to Q's, and epsilon.
func (s *smoothIntegral) set(mu, r, epsilon float64, d int) {
	s.kernel = newSmoothKernel(d-1, r)
	s.rootV = math.Exp(r / 2)
	s.m = mu * min(1, s.rootV)
	half := float64(d) * r / 2
	s.c0 = s.m*s.m/2 - half - epsilon
	s.c1 = s.m * s.rootV
	s.c2 = s.kernel.b / 2
	s.weight = epsilon + s.kernel.a*r
	terms := 64 + s.m*s.m + math.Abs(half) + math.Abs(epsilon) + smoothReach*s.c1 + smoothReach*smoothReach*math.Abs(s.c2)
	s.eta = 32 * smoothUlp * (terms + float64(d))
	// Losses are raised by eta, so that whatever their rounding, none is too low.
	s.c0 += s.eta
	s.weight -= s.eta
	s.panels = s.panels[:0]
}

func (s *smoothIntegral) node(z float64) smoothNode {
	y := s.c0 + z*(s.c1+z*s.c2)
	h, t := s.kernel.at(y)
	return smoothNode{z, y, h, t}
}

// start lays the first panels: between the vertex of y, its zeros, and the reach.
func (s *smoothIntegral) start() {
	var cuts [5]float64
	points := append(cuts[:0], -smoothReach)
	vertex := math.Inf(-1)
	if s.c2 != 0 {
		vertex = -s.c1 / (2 * s.c2)
	}
	z0, z1 := smoothRoots(s.c0, s.c1, s.c2)
	for _, z := range smoothSorted(z0, vertex, z1) {
		if z > points[len(points)-1] && z < smoothReach {
			points = append(points, z)
		}
	}
	points = append(points, smoothReach)
	left := s.node(points[0])
	for _, z := range points[1:] {
		right := s.node(z)
		if z == z0 || z == z1 { // to the last bit: for d = 1 there is a kink
			h, t := s.kernel.at(0)
			right = smoothNode{z, 0, h, t}
		}
		s.panels = append(s.panels, s.panel(left, right))
		left = right
	}
}

// divergence refines until the bracket of delta is narrower than rtol times its
// lower end. Where it cannot, the bracket is wider and still holds.
func (s *smoothIntegral) divergence(rtol float64) smoothResult {
	// The tail is refined as far as the rounding that it multiplies matters.
	return s.refine(rtol, func(p *smoothPanel) (lower, upper float64) {
		return p.lower, p.upper + 4*s.eta*(p.tail-p.lowTail)
	})
}

// tail refines the bracket of P(loss > epsilon) in the same way.
func (s *smoothIntegral) tail(rtol float64) smoothResult {
	return s.refine(rtol, func(p *smoothPanel) (lower, upper float64) { return p.lowTail, p.tail })
}

func (s *smoothIntegral) refine(rtol float64, ends func(*smoothPanel) (lower, upper float64)) smoothResult {
	s.start()
	for {
		lower, upper := 0.0, 0.0
		for i := range s.panels {
			l, u := ends(&s.panels[i])
			lower += l
			upper += u
		}
		gap := upper - lower
		if math.IsNaN(gap) || s.ctx.Err() != nil { // of NaN no case is known; it proves nothing
			return smoothResult{upper: 1, tail: 1}
		}
		if gap <= rtol*lower || upper < smoothFloor || len(s.panels) > smoothPanels {
			break
		}
		if !s.split(gap/(2*float64(len(s.panels))), ends) {
			break
		}
	}
	return s.sum()
}

// split halves the panels whose bracket is wider than limit.
func (s *smoothIntegral) split(limit float64, ends func(*smoothPanel) (lower, upper float64)) (any bool) {
	for i := range s.panels {
		if s.ctx.Err() != nil {
			return false
		}
		p := &s.panels[i]
		if l, u := ends(p); u-l <= limit || p.smallestGap {
			continue
		}
		z := p.z0.z + (p.z1.z-p.z0.z)/2
		if math.Abs(p.z1.y-p.z0.y) < 1e3*s.eta || !(z > p.z0.z && z < p.z1.z) {
			p.smallestGap = true // rounding, not width, is what is left
			continue
		}
		mid := s.node(z)
		right := s.panel(mid, p.z1)
		s.panels[i] = s.panel(p.z0, mid)
		s.panels = append(s.panels, right)
		any = true
	}
	return any
}

// sum adds the panels and spreads the result by the rounding of losses, of the
// sum itself, and of what underflows.
func (s *smoothIntegral) sum() smoothResult {
	var r smoothResult
	for i := range s.panels {
		p := &s.panels[i]
		r.lower += p.lower
		r.upper += p.upper
		r.lowTail += p.lowTail
		r.tail += p.tail
	}
	grow := float64(len(s.panels)+8) * smoothUlp
	r.tail = min(1, r.tail*(1+grow+s.eta)+smoothFloor)
	r.lowTail = max(0, r.lowTail*(1-grow-s.eta)-smoothFloor)
	r.upper = min(1, r.tail, r.upper*(1+grow)+s.eta*r.tail+smoothFloor)
	r.lower = max(0, r.lower*(1-grow)-3*s.eta*r.tail-smoothFloor)
	return r
}

// panel brackets the integral between two nodes that have no vertex of y
// between them.
func (s *smoothIntegral) panel(z0, z1 smoothNode) smoothPanel {
	low, high := z0, z1
	if z0.y > z1.y {
		low, high = z1, z0
	}
	mass, slack := smoothMass(z0.z, z1.z, 0)
	massLow, massHigh := max(0, mass-slack), mass+slack
	p := smoothPanel{z0: z0, z1: z1,
		lower: massLow * low.hockey, upper: massHigh * high.hockey,
		lowTail: massLow * low.tail, tail: massHigh * high.tail}
	if rise := high.y - low.y; rise > 0 && rise < 500 && massLow > 0 {
		s.sharpen(&p, low, high, massLow, massHigh)
	}
	return p
}

// sharpen replaces the monotone bounds of a panel by those of convexity where
// they are better. other is Q's mass times the likelihood ratio at the lower
// node; mean is the panel's mean of e^(y - low.y) under it.
func (s *smoothIntegral) sharpen(p *smoothPanel, low, high smoothNode, massLow, massHigh float64) {
	off := 4 * smoothUlp * (s.m + s.rootV*max(math.Abs(p.z0.z), math.Abs(p.z1.z)))
	other, slack := smoothMass(s.m+s.rootV*p.z0.z, s.m+s.rootV*p.z1.z, off)
	if other-slack < 1e-280 {
		return
	}
	scale := math.Exp(low.y + s.weight)
	otherLow, otherHigh := scale*(other-slack)*(1-s.eta), scale*(other+slack)*(1+s.eta)
	if !(otherLow > 1e-280) || math.IsInf(otherHigh, 1) {
		return
	}
	if y := low.y + math.Log(massLow/otherHigh); y > low.y {
		h, _ := s.kernel.at(min(y, high.y))
		p.lower = max(p.lower, massLow*h*(1-s.eta))
	}
	// The chord runs from hockey at mean 1 to e^rise hockey at mean e^rise.
	rise := high.y - low.y
	theta := min(1, max(0, massHigh/otherLow-1)*(1+8*smoothUlp)/math.Expm1(rise))
	chord := otherHigh * ((1-theta)*low.hockey + theta*math.Exp(rise)*high.hockey)
	p.upper = min(p.upper, chord*(1+16*smoothUlp))
}

// smoothMass is the standard normal mass of [lo, hi] and a bound on its error,
// where the ends themselves are known to within off. erfc and its argument are
// each within 2 ulp.
func smoothMass(lo, hi, off float64) (mass, slack float64) {
	if lo+hi < 0 {
		lo, hi = -hi, -lo
	}
	if off > 0 {
		slack = off * (math.Exp(-lo*lo/2) + math.Exp(-hi*hi/2))
	}
	if lo < 0 {
		sum := math.Erf(-lo/math.Sqrt2) + math.Erf(hi/math.Sqrt2)
		return sum / 2, slack + 8*smoothUlp*sum
	}
	near, far := math.Erfc(lo/math.Sqrt2)/2, math.Erfc(hi/math.Sqrt2)/2
	return near - far, slack + smoothUlp*((4+2*lo*lo)*near+(4+2*hi*hi)*far)
}

// smoothRoots returns the real zeros of c0 + c1 z + c2 z^2, or -Inf in the
// place of one that does not exist.
func smoothRoots(c0, c1, c2 float64) (z0, z1 float64) {
	disc := c1*c1 - 4*c0*c2
	if disc < 0 {
		return math.Inf(-1), math.Inf(-1)
	}
	q := -(c1 + math.Copysign(math.Sqrt(disc), c1)) / 2
	z0, z1 = math.Inf(-1), math.Inf(-1)
	if q != 0 {
		z0 = c0 / q
	}
	if c2 != 0 {
		z1 = q / c2
	}
	return z0, z1
}

func smoothSorted(a, b, c float64) [3]float64 {
	if a > b {
		a, b = b, a
	}
	if b > c {
		b, c = c, b
	}
	if a > b {
		a, b = b, a
	}
	return [3]float64{a, b, c}
}
