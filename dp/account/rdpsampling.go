package account

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// poissonRenyi bounds the Renyi divergence of Poisson-sampled Gaussian noise
// under add_remove_one, for any real order: the worst direction is the mixture
// (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2), s = 1/mu (Mironov, Talwar,
// Zhang 2019, Section 3). With r the ratio of their densities and u = r-1,
//
//	A = E r^order = 1 + E (r^order - 1 - order u),   E u = 0,
//
// whose integrand is positive and of second order in q, so nothing cancels. It is
// summed by the trapezoid rule, whose error on an analytic integrand is known:
// see newWindow.
func poissonRenyi(order, q, mu float64) float64 {
	if mu == 0 {
		return 0
	}
	w := newWindow(order, q, mu)
	if !(w.nodes <= maxNodes) { // NaN where mu or the order overflows
		return unsampled(order, mu)
	}
	var s logSum
	for i := range int(w.nodes) + 1 {
		y := w.low + float64(i)*w.step
		log, size := logExcess(order, q, mu*y-mu*mu/2)
		s.add(log-y*y/2, size+order*mu*mu+y*y/2)
	}
	logExcess := s.log() + math.Log(w.step) - halfLog2Pi
	return min(fromLogExcess(order, logExcess+s.slack(), w.error), unsampled(order, mu))
}

// unsampled is the divergence without the sampling, which bounds the sampled one because Renyi
// divergences are jointly quasi-convex. It is used at orders so high for the noise that the
// quadrature would take long; such orders never give the best answer.
func unsampled(order, mu float64) float64 {
	return xmath.MulUp(order, xmath.MulUp(xmath.MulUp(mu, mu), 0.5))
}

// fromLogExcess turns ln(A-1) and an error relative to 3 A + 2 order into a
// divergence.
func fromLogExcess(order, logExcess, errorBound float64) float64 {
	logA := xmath.LogAdd(0, logExcess)
	logError := math.Log(errorBound) + xmath.LogAdd(math.Log(3)+logA, math.Log(2*order))
	return xmath.Up(xmath.LogAdd(0, xmath.LogAdd(logExcess, logError))/(order-1), 16)
}

// logExcess returns ln((1+u)^order - 1 - order u) at u = q (e^loss - 1), and the
// magnitude of the logarithms that went into it.
func logExcess(order, q, loss float64) (log, size float64) {
	var logRatio, u float64
	if loss > 500 {
		logRatio = math.Log(q) + loss
		u = math.Inf(1)
	} else {
		u = q * math.Expm1(loss)
		logRatio = math.Log1p(u)
	}
	power := order * logRatio
	size = order * (math.Abs(logRatio) + math.Abs(loss))
	switch {
	case math.Abs(u)*(order+1) < 0.25:
		return math.Log(powerExcess(order, u)), size
	case power > 40:
		return power, size // what is left out would only lower it
	}
	return math.Log(math.Expm1(power) - order*u), size
}

// powerExcess is the binomial series from its second term: sum over k >= 2 of
// C(order, k) u^k, for |u| (order+1) < 1/4, where each term is below half the
// last.
func powerExcess(order, u float64) float64 {
	term := order * (order - 1) / 2 * u * u
	sum := term
	for k := 3.0; math.Abs(term) > 0x1p-56*sum; k++ {
		term *= (order - k + 1) / k * u
		sum += term
	}
	return sum
}

const (
	// truncation is the logarithm of what the discretisation may cost, relative
	// to A: far below one rounding, since A-1 may be as small as q^2.
	truncation = 80
	maxNodes   = 80000
)

// window is the trapezoid rule for one order: nodes low + i step, in units of
// the noise's standard deviation.
type window struct {
	low, step, nodes float64
	error            float64
}

// newWindow chooses the step by the error bound of the rule for a function that
// is analytic in the strip |Im y| < a: with M the integral of its modulus on any
// line of the strip, the error is at most 2 M / (e^(2 pi a/step) - 1)
// (Trefethen and Weideman 2014, Theorem 5.1). Here a = min(pi/mu, sqrt(2K)),
// within which 1-q+q e^loss has no zero, and M is at most e^(a^2/2) times the
// integral itself, because |e^loss| depends on Re y alone.
func newWindow(order, q, mu float64) window {
	a := min(math.Pi/mu, math.Sqrt(2*truncation)) * (1 - 1e-9)
	w := window{step: 2 * math.Pi * a / (truncation + a*a/2)}
	// Left of low the integrand is below order times the normal density; right
	// of high it is below e^(peak - (y - order mu)^2/2), of which only the part
	// beyond max(1, q^order e^peak) <= A matters.
	peak := order * (order - 1) / 2 * mu * mu
	cutoff := math.Sqrt(2 * truncation)
	w.low = -cutoff
	high := order*mu + math.Sqrt(2*(truncation+min(peak, -order*math.Log(q))))
	w.nodes = math.Ceil((high - w.low) / w.step)
	w.error = 8 * math.Exp(-truncation)
	return w
}

// logSum adds numbers given by their logarithms, without overflow, and keeps
// track of the rounding of the logarithms.
type logSum struct {
	top, sum, size, n float64
	started           bool
}

func (s *logSum) add(log, size float64) {
	s.n++
	switch {
	case math.IsInf(log, -1):
		return
	case !s.started || log > s.top:
		s.sum *= math.Exp(s.top - log)
		if !s.started {
			s.sum, s.started = 0, true
		}
		s.top = log
		s.sum++
		s.size = max(s.size, size)
	case log > s.top-60:
		s.sum += math.Exp(log - s.top)
		s.size = max(s.size, size)
	default:
		s.sum += math.Exp(log - s.top)
	}
}

func (s *logSum) log() float64 {
	if !s.started {
		return math.Inf(-1)
	}
	return s.top + math.Log(s.sum)
}

// slack bounds the error of log: each term's exponent is good to a few
// roundings of its parts, and the excess itself to 2^-43.
func (s *logSum) slack() float64 { return 0x1p-42 + 8*(s.size+s.n)*0x1p-53 }
