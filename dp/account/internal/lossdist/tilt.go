package lossdist

import (
	"cmp"
	"math"
	"slices"
)

// cumulant is about ln of the moment generating function, at tilt a, of the composed
// lower measures without what lies beyond the cutoff.
func (s *state) cumulant(a float64) float64 { return composed(s.model, s.comp.Gaussian[1], a) }

// composed is ln of the moment generating function of a composition at tilt a.
func composed(parts []side, gaussian, a float64) float64 {
	k := gaussian * a * (a + 1) / 2
	for _, p := range parts {
		c, _ := p.measure.cumulant(a)
		k += p.count * c
	}
	return k
}

const (
	// mostModelled is how many parts stand for many, and widest how many of them are the
	// parts of the largest variance, which stand for themselves.
	mostModelled = 64
	widest       = 32
)

// sketch replaces many parts by few that are about like them together.
func sketch(parts []side) []side {
	if len(parts) <= mostModelled {
		return parts
	}
	type sized struct {
		side
		variance float64
	}
	all := make([]sized, len(parts))
	for i, p := range parts {
		all[i] = sized{p, p.count * p.measure.variance()}
	}
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Compare(b.variance, a.variance) })
	out := make([]side, 0, mostModelled)
	for _, p := range all[:widest] {
		out = append(out, p.side)
	}
	rest := all[widest:]
	for block := range mostModelled - widest {
		from, to := block*len(rest)/(mostModelled-widest), (block+1)*len(rest)/(mostModelled-widest)
		if from == to {
			continue
		}
		count := 0.0
		for _, p := range rest[from:to] {
			count += p.count
		}
		out = append(out, side{rest[(from+to)/2].measure, count})
	}
	return out
}

// payoffBound is ln of the largest value of e^(-a t) (1 - e^-t), which is
// a^a/(a+1)^(a+1): the Chernoff bound on delta(eps) is e^(K(a) - a eps) times it.
func payoffBound(a float64) float64 { return -math.Log1p(a) - a*math.Log1p(1/a) }

// chernoff bounds delta at epsilon from above by the tilted mass of the upper
// measures, whatever the inversion does: E[(1-e^(eps-S))+] is at most
// e^(K(a) - a eps) a^a/(a+1)^(a+1) for every a > 0, beside the chance of an infinite
// loss. It falls as epsilon grows.
func (s *state) chernoff(epsilon float64) float64 {
	log := func(logA float64) float64 {
		a := math.Exp(logA)
		k := s.comp.Gaussian[1] * a * (a + 1) / 2
		size := k
		for _, p := range s.upper {
			c, slack := p.measure.cumulant(a)
			k += p.count * (c + slack + p.measure.MassError)
			size += p.count * math.Abs(c)
		}
		return payoffBound(a) + k - a*epsilon + 16*ulp*(4+size+a*epsilon)
	}
	parts := sketch(s.upper)
	value := log(minimise(func(logA float64) float64 {
		a := math.Exp(logA)
		return payoffBound(a) + composed(parts, s.comp.Gaussian[1], a) - a*epsilon
	}, math.Log(1e-3*min(1, 1/s.spread)), math.Log(1e9/s.spread), 1e-3))
	if math.IsNaN(value) {
		return 1
	}
	return atMost((infinite(s.upper, 1) + math.Exp(value)) * (1 + 8*ulp))
}

// aim sets the cutoff and the tilt for the query, and at first the guess.
func (s *state) aim(again bool) {
	if s.located {
		s.cutAt(s.cutoffFor(s.guess.epsilon))
		s.choose(false)
		return
	}
	if again && math.IsInf(s.cutoff, 1) {
		s.cutAt(s.cutoff)
		s.choose(true)
		return
	}
	s.cutAt(math.Inf(1))
	s.choose(false)
	if s.period(s.tilt)*s.tilt < 2.5*-math.Log(s.guess.delta*aliasError) {
		return
	}
	// Far losses forbid a useful tilt: take them apart.
	if s.query.forEpsilon {
		s.search()
	} else {
		s.guess.delta = s.estimate(s.query.epsilon)
	}
	s.slope = s.tilt
	s.located = true
}

// cutAt sets the cutoff.
func (s *state) cutAt(cutoff float64) {
	s.cutoff = cutoff
	s.near = below(s.lower, cutoff)
	s.model = sketch(s.near)
}

func below(parts []side, cutoff float64) []side {
	out := make([]side, len(parts))
	for i, p := range parts {
		out[i] = side{p.measure.below(cutoff), p.count}
	}
	return out
}

// cutoffFor is about the smallest cutoff at which the far part misses nothing
// that matters.
func (s *state) cutoffFor(epsilon float64) float64 {
	enough := 1e-5 * s.guess.delta
	top := 0.0
	for _, p := range s.lower {
		top = max(top, p.measure.highest)
	}
	parts := sketch(s.lower)
	for gap := max(epsilon, s.spread, 1e-12) / 2; epsilon+gap < top; gap *= 1.5 {
		f := far{parts: parts, cutoff: epsilon + gap, gaussian: s.comp.Gaussian[1]}
		if f.missed(epsilon) < enough {
			return epsilon + gap
		}
	}
	return math.Inf(1)
}

// search finds about where the curve meets the query's delta, by bisection on
// the Chernoff bound of the near part plus the far part.
func (s *state) search() {
	hi := math.Log(max(s.guess.epsilon, 1e-12))
	lo := hi - 30
	for hi-lo > 0.05 {
		mid := lo + (hi-lo)/2
		if s.estimate(math.Exp(mid)) > s.query.delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	s.estimate(math.Exp(hi))
}

// estimate sets the state for epsilon and returns about what delta is there.
func (s *state) estimate(epsilon float64) float64 {
	delta := s.guess.delta
	s.guess = query{epsilon: epsilon, delta: delta}
	s.cutAt(s.cutoffFor(epsilon))
	whole := s.query
	s.query = query{epsilon: epsilon, delta: delta}
	s.choose(false)
	near := s.guess.delta
	s.query = whole
	s.guess = query{epsilon: epsilon, delta: delta}
	if math.IsInf(s.cutoff, 1) {
		return near
	}
	return near + max(0, newFar(sketch(s.lower), s.cutoff, s.comp.Gaussian[1], false).value(epsilon))
}

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
