package lossdist

import "math"

// cumulant is ln of the moment generating function of the composition's lower
// measures at tilt a.
func (s *state) cumulant(a float64) float64 {
	k := s.comp.Gaussian[1] * a * (a + 1) / 2
	for _, p := range s.lower {
		c, _ := p.measure.cumulant(a)
		k += p.count * c
	}
	return k
}

// payoffBound is ln of the largest value of e^(-a t) (1 - e^-t), which is
// a^a/(a+1)^(a+1): the Chernoff bound on delta(eps) is e^(K(a) - a eps) times it.
func payoffBound(a float64) float64 { return -math.Log1p(a) - a*math.Log1p(1/a) }

// choose sets the tilt to the minimiser of the Chernoff bound on the answer. The
// tilt affects the width of the bracket, never its truth.
func (s *state) choose(near bool) {
	objective := func(logA float64) float64 {
		a := math.Exp(logA)
		bound := payoffBound(a) + s.cumulant(a)
		if s.query.forEpsilon {
			return (bound - math.Log(s.query.delta)) / a
		}
		return bound - a*s.query.epsilon
	}
	lo, hi := math.Log(0.3*min(1, 1/s.spread)), math.Log(1e9/s.spread)
	if near {
		lo, hi = max(lo, math.Log(s.tilt)-0.7), min(hi, math.Log(s.tilt)+0.7)
	}
	s.tilt = math.Exp(minimise(objective, lo, hi, 1e-2))
	if centre := 0.3 / s.spread; s.tilt < centre && s.cumulant(centre)-centre*s.query.epsilon < 3 {
		// In the middle of the law a Chernoff bound is idle, and a tilt below this
		// only lengthens the period.
		s.tilt = centre
	}
	if s.located {
		return
	}
	value := objective(math.Log(s.tilt))
	s.guess, s.slope = s.query, s.tilt
	if s.query.forEpsilon {
		s.guess.epsilon = max(value, 0)
	} else {
		s.guess.delta = math.Exp(min(value, 0)) * min(1, 1/(s.tilt*s.spread*3))
	}
}

// minimise is a golden-section search; f need not be finite.
func minimise(f func(x float64) float64, lo, hi, tolerance float64) float64 {
	const golden = 0.6180339887498949
	x, y := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fx, fy := f(x), f(y)
	for hi-lo > tolerance {
		if fx <= fy || math.IsNaN(fy) {
			hi, y, fy = y, x, fx
			x = hi - golden*(hi-lo)
			fx = f(x)
		} else {
			lo, x, fx = x, y, fy
			y = lo + golden*(hi-lo)
			fy = f(y)
		}
	}
	return lo + (hi-lo)/2
}
