package account

import "math"

// smoothKernel holds the coordinates orthogonal to the difference of the means.
// Their part of the privacy loss is b W/2, where W is central chi-squared with k
// degrees of freedom and b = e^r - 1 for the log-ratio r of the variances.
//
// The tails of W/2 are sums of the terms t_s(x) = x^s e^-x / Gamma(s+1) with s
// in steps of one from a = k/2 (NIST Digital Library of Mathematical Functions,
// 8.7.1 and 8.8.10). At the threshold x the terms of both laws share x and the
// same prefix, so their weighted difference is a sum of positive terms: nothing
// cancels, however small b or the tail is.
type smoothKernel struct {
	k        int
	a        float64 // k/2, the shape of W/2
	r, v, b  float64 // log-ratio of the variances, e^r, e^r - 1
	cut      float64 // a r/b: on the far side of it e^-y v^-a is at most 1
	stirling float64 // ln Gamma(a+1) - (a+1/2) ln a + a
}

func newSmoothKernel(k int, r float64) smoothKernel {
	s := smoothKernel{k: k, a: float64(k) / 2, r: r, v: math.Exp(r), b: math.Expm1(r)}
	if k > 0 && r != 0 {
		s.cut = s.a * (r / s.b)
		s.stirling = smoothStirling(s.a)
	}
	return s
}

// smoothStirling is ln Gamma(a+1) - (a+1/2) ln a + a for a >= 1/2, to 1e-14.
func smoothStirling(a float64) float64 {
	if a < 20 {
		lg, _ := math.Lgamma(a + 1)
		return lg - (a+0.5)*math.Log(a) + a
	}
	q := 1 / (a * a)
	return smoothHalfLog2Pi + (1./12-q*(1./360-q*(1./1260-q/1680)))/a
}

// at returns, for Y = y + b W/2, the hockey-stick part E[max(0, 1 - e^-Y)] and
// the tail P(Y > 0). Both are within eta*tail (smoothIntegral.eta) of the truth.
func (s *smoothKernel) at(y float64) (hockey, tail float64) {
	if s.k == 0 || s.b == 0 {
		if y <= 0 {
			return 0, 0
		}
		return -math.Expm1(-y), 1
	}
	// W/2 at the threshold Y = 0, kept finite: all tails vanish long before.
	x := min(-y/s.b, 1e290)
	if s.b > 0 {
		hockey, tail = s.above(x, y)
	} else {
		hockey, tail = s.below(x, y)
	}
	return min(max(hockey, 0), tail), tail
}

// above is at for b > 0, where Y > 0 means W/2 > x.
func (s *smoothKernel) above(x, y float64) (hockey, tail float64) {
	switch {
	case x <= 0:
		return -math.Expm1(-y - s.a*s.r), 1
	case x < s.cut: // the tail is near 1 and the weight at most 1
		tail = s.upper(x)
		return tail - math.Exp(-y-s.a*s.r)*s.upper(s.v*x), tail
	}
	return s.upperPair(x)
}

// below is at for b < 0, where Y > 0 means W/2 < x.
func (s *smoothKernel) below(x, y float64) (hockey, tail float64) {
	switch {
	case x <= 0:
		return 0, 0
	case x >= s.cut:
		tail = 1 - s.upper(x)
		return tail - math.Exp(-y-s.a*s.r)*(1-s.upper(s.v*x)), tail
	}
	return s.lowerPair(x)
}

// prefix is t_a(x) = x^a e^-x / Gamma(a+1), by Loader's rearrangement.
func (s *smoothKernel) prefix(x float64) float64 {
	lambda := (x - s.a) / s.a
	return math.Exp(-s.a*(lambda-math.Log1p(lambda))-s.stirling) / math.Sqrt(s.a)
}

// smoothHalfLog2Pi is ln(2 pi)/2.
const smoothHalfLog2Pi = 0.91893853320467274178

// smoothNegligible is the relative remainder at which a sum of terms stops.
const smoothNegligible = 0x1p-56

// upper is P(W/2 > x), with a small relative error for x >= a and a small
// absolute error below.
func (s *smoothKernel) upper(x float64) float64 {
	t := s.prefix(x)
	if x < s.a {
		sum := 0.0
		for j := s.a + 1; ; j++ {
			sum += t
			t *= x / j
			if t*(j+1) <= smoothNegligible*(j+1-x) {
				return 1 - sum
			}
		}
	}
	sum := 0.0
	for q := s.a; q >= 1; q-- {
		t *= q / x
		sum += t
		if t*q <= smoothNegligible*sum*(x-q) {
			return sum
		}
	}
	if s.k%2 == 1 {
		sum += math.Erfc(math.Sqrt(x))
	}
	return sum
}

// upperPair is at for b > 0 beyond the cut: tail is P(W/2 > x) and hockey is
// tail - e^-y v^-a P(W/2 > v x) = sum of t_{a-j}(x) (1 - v^-j), j >= 1.
func (s *smoothKernel) upperPair(x float64) (hockey, tail float64) {
	first, w := -math.Expm1(-s.r), 1/s.v
	t, e := s.prefix(x), 0.0
	for q := s.a; q >= 1; q-- {
		t *= q / x
		e = first + w*e
		tail += t
		hockey += t * e
		if q < x && t*q <= smoothNegligible*tail*(x-q) {
			return hockey, tail
		}
	}
	if s.k%2 == 1 {
		scale, here := math.Exp(-x), smoothErfc(x)
		tail += scale * here
		hockey += scale * (here - math.Exp(-s.a*s.r)*smoothErfc(s.v*x))
	}
	return hockey, tail
}

// lowerPair is at for b < 0 below the cut: tail is P(W/2 < x) and hockey is
// tail - e^-y v^-a P(W/2 < v x) = sum of t_{a+j}(x) (1 - v^j), j >= 0.
func (s *smoothKernel) lowerPair(x float64) (hockey, tail float64) {
	first, w := -s.b, s.v
	t, e := s.prefix(x), 0.0
	for j := s.a + 1; ; j++ {
		tail += t
		hockey += t * e
		t *= x / j
		e = first + w*e
		if j >= x && t*(j+1) <= smoothNegligible*tail*(j+1-x) {
			return hockey, tail
		}
	}
}

// smoothErfc is e^x erfc(sqrt x) for x > 0.
func smoothErfc(x float64) float64 {
	if x < 100 {
		return math.Exp(x) * math.Erfc(math.Sqrt(x))
	}
	// The asymptotic series (NIST DLMF 7.12.1); its error is below the first
	// term left out, and its smallest term is near e^-x.
	sum, term := 1.0, 1.0
	for n := 1.0; n < 12; n++ {
		term *= -(2*n - 1) / (2 * x)
		sum += term
	}
	return sum / math.Sqrt(math.Pi*x)
}
