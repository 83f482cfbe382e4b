package lossdist

import (
	"context"
	"math"
)

// Curve answers for one composition.
type curve struct {
	value    func(epsilon float64) float64
	infinite float64
}

// aliasError is the share of delta that the periodic copies may reach.
const aliasError = 1e-6

// sides returns the two bounding curves of the prepared composition.
func (s *state) sides() (lower, upper curve) {
	if s.single() {
		return direct(s.lower[0].measure, -1), direct(s.upper[0].measure, 1)
	}
	set := s.settings()
	up := newSpectrum(s.ctx, below(s.upper, s.cutoff), s.comp.Gaussian[1], true, set)
	low := newSpectrum(s.ctx, s.near, s.comp.Gaussian[0], false, set)
	s.work += up.work + low.work
	none := func(float64) float64 { return 0 }
	farUp, farLow := none, none
	if !math.IsInf(s.cutoff, 1) {
		farUp = newFar(s.upper, s.cutoff, s.comp.Gaussian[1], true).value
		farLow = newFar(s.lower, s.cutoff, s.comp.Gaussian[0], false).value
	}
	copies := s.copies(set)
	upper = curve{infinite: infinite(s.upper, 1)}
	top, bounded := highest(s.upper, s.comp.Gaussian[1])
	upper.value = func(epsilon float64) float64 {
		if bounded && epsilon >= top {
			return atMost(upper.infinite)
		}
		return atMost((upper.infinite + up.value(epsilon) + farUp(epsilon)) * (1 + 8*ulp))
	}
	lower = curve{infinite: infinite(s.lower, -1)}
	lower.value = func(epsilon float64) float64 {
		finite := max(0, low.value(epsilon)-copies(epsilon)) + farLow(epsilon)
		return atLeast((lower.infinite + max(0, finite)) * (1 - 8*ulp))
	}
	return lower, upper
}

// atMost and atLeast keep a bound on a probability in its range. What could not
// be computed bounds nothing.
func atMost(x float64) float64 {
	if x < 1 {
		return x
	}
	return 1
}

func atLeast(x float64) float64 {
	if x > 0 {
		return min(x, 1)
	}
	return 0
}

// direct is the curve of one run, with no composition.
func direct(m *Measure, sign float64) curve {
	rel := 1 + sign*(m.MassError+ulp*(16+float64(len(m.Mass))))
	return curve{infinite: m.Infinite * rel, value: func(epsilon float64) float64 {
		return min(1, (m.Infinite+m.hockeyStick(epsilon))*rel)
	}}
}

// infinite is the chance that some run's loss is infinite.
func infinite(parts []side, sign float64) float64 {
	log := 0.0
	for _, p := range parts {
		if p.measure.Infinite > 0 {
			log += p.count * math.Log1p(-min(1, p.measure.Infinite*(1+sign*(p.measure.MassError+16*ulp))))
		}
	}
	return -math.Expm1(log) * (1 + sign*16*ulp)
}

// settings chooses the tilt of the inversion, its smoothing, its period and its
// highest frequency. A tilt below the Chernoff bound's may need a much shorter
// period where far losses are likely, at the price of digits.
func (s *state) settings() settings {
	set := settings{extra: min(s.tolerance(smoothness)/(1.5*s.slope*(s.slope+1)), 1)}
	period := math.Inf(1)
	for f := 1.0; f > 0.1; f *= 0.75 {
		a := f * s.tilt
		if f < 1 && s.digits(a) > mostDigits {
			break
		}
		if p := s.period(a); p < period {
			set.tilt, period = a, p
		}
	}
	set.step = 2 * math.Pi / period
	if s.comp.Gaussian[0] > 0 && s.limit(set.tilt, s.comp.Gaussian[0])/set.step < 4096 {
		set.extra = 0
	}
	set.limit = s.limit(set.tilt, s.comp.Gaussian[0]+set.extra)
	if n := set.limit / set.step; n > maxFrequencies {
		// A wider bracket rather than no end of frequencies.
		set.extra = (s.comp.Gaussian[0]+set.extra)*(n/maxFrequencies)*(n/maxFrequencies) - s.comp.Gaussian[0]
		set.limit = s.limit(set.tilt, s.comp.Gaussian[0]+set.extra)
	}
	return set
}

// mostDigits bounds ln of the ratio of the Chernoff bound to delta, which is what
// the inversion's round-off is multiplied by.
const mostDigits = 20

func (s *state) digits(a float64) float64 {
	return s.cumulant(a) - a*s.guess.epsilon - math.Log(s.guess.delta)
}

// limit is the frequency beyond which a Gaussian factor of the given variance
// leaves nothing that matters beside delta: exp(-total u^2/2)/(pi u), times
// e^(K - a eps), is small.
func (s *state) limit(a, total float64) float64 {
	need, u := s.digits(a)+18, a
	for range 4 {
		u = math.Sqrt(2 * max(need-math.Log(u), 1) / total)
	}
	return u
}

// steeper are the multiples of a tilt at which the curve beyond the answer is
// bounded.
var steeper = [...]float64{1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 30}

// period is a period at which the copies are below aliasError of delta.
func (s *state) period(a float64) float64 {
	want := math.Log(s.guess.delta * aliasError)
	right := math.Inf(1)
	for _, f := range steeper {
		b := a * f
		right = min(right, (payoffBound(b)+s.cumulant(b)-b*(s.guess.epsilon-4/s.slope)-want)/(b-a))
	}
	if top, ok := highest(s.near, s.comp.Gaussian[1]); ok {
		right = min(right, top)
	}
	return max(-want/a, right)
}

// highest is the largest finite loss that the composition can reach, if the
// Gaussian part does not make it unbounded.
func highest(parts []side, gaussian float64) (float64, bool) {
	if gaussian > 0 {
		return 0, false
	}
	sum := 0.0
	for _, p := range parts {
		sum += p.count * p.measure.highest
	}
	return sum + 8*ulp*float64(len(parts)+1)*math.Abs(sum), true
}

// copies bounds, for the lower curve, what the copies of the curve at distances
// of whole periods add: those to the left by 1 each, those to the right by the
// Chernoff bound at steeper tilts.
func (s *state) copies(set settings) func(epsilon float64) float64 {
	a, period := set.tilt, 2*math.Pi/set.step
	left := math.Exp(-a*period) / -math.Expm1(-a*period)
	factors := steeper[:]
	if len(s.near) > mostModelled {
		factors = s.steepest(a, period)
	}
	logs := make([]float64, len(factors))
	for i, f := range factors {
		logs[i] = payoffBound(a*f) + composed(s.near, s.comp.Gaussian[1], a*f)
	}
	top, bounded := highest(s.near, s.comp.Gaussian[1])
	return func(epsilon float64) float64 {
		if bounded && epsilon+period >= top {
			return left * 1.01
		}
		right := math.Inf(1)
		for i, f := range factors {
			b := a * f
			gap := (b - a) * period
			right = min(right, math.Exp(logs[i]-b*epsilon-gap)/-math.Expm1(-gap))
		}
		return (left + right) * 1.01
	}
}

// steepest are the few of the steeper tilts at which, by the model, the bound on the
// copies is smallest: of many parts each tilt costs a pass over all of them, and the
// bound holds at any.
func (s *state) steepest(a, period float64) []float64 {
	best, least := 0, math.Inf(1)
	for i, f := range steeper {
		b := a * f
		if log := payoffBound(b) + s.cumulant(b) - b*s.guess.epsilon - (b-a)*period; log < least {
			best, least = i, log
		}
	}
	return steeper[max(best-1, 0):min(best+2, len(steeper))]
}

// Delta bounds the hockey-stick divergence of the composition at epsilon. How
// far out the losses must be resolved depends on the answer: Chernoff's bound on
// it, from a coarse partition, says how far. Every round's bounds hold, so the best
// of them are kept. An upper end that is at most enough is not made any sharper.
// It fails once the context is done.
func (c Composition) Delta(ctx context.Context, epsilon, enough float64) (lower, upper float64, err error) {
	lower, upper = c.delta(ctx, epsilon, enough)
	return lower, upper, ctx.Err()
}

func (c Composition) delta(ctx context.Context, epsilon, enough float64) (lower, upper float64) {
	s := newState(ctx, c, query{epsilon: epsilon, delta: leastDelta})
	if s.lossless() {
		return infinite(s.lower, -1), infinite(s.upper, 1)
	}
	upper = s.chernoff(epsilon)
	for range 6 {
		expect := min(max(upper, leastDelta), mostExpected)
		s := newState(ctx, c, query{epsilon: epsilon, delta: expect})
		s.enough = enough
		low, up := s.deltaAt(epsilon)
		lower, upper = max(lower, low), min(upper, up)
		if upper <= enough || !(upper < expect/30) || expect == leastDelta {
			break
		}
	}
	return lower, upper
}

// mostExpected is the largest delta that a first partition is made for.
const mostExpected = 1e-2

// near reports that a partition made for one delta serves for another.
func near(delta, expect float64) bool { return delta > expect/30 && delta < expect*30 }

// leastDelta is the smallest delta that is resolved: below it the upper end stays
// near it.
const leastDelta = 1e-45

// lossless reports that no finite loss is above 0.
func (s *state) lossless() bool {
	top, bounded := highest(s.upper, s.comp.Gaussian[1])
	return bounded && top <= 0
}

func (s *state) deltaAt(epsilon float64) (lower, upper float64) {
	upper = 1
	for pass := range maxPasses {
		if s.ctx.Err() != nil {
			break
		}
		s.resolve()
		low, up := s.sides()
		lower = max(lower, low.value(epsilon))
		upper = min(upper, up.value(epsilon), s.chernoff(epsilon))
		if upper <= s.enough || !near(upper, s.query.delta) || !s.sharpen(pass, up, epsilon, math.Log(upper/lower)) {
			break
		}
	}
	return lower, upper
}

// Epsilon bounds the smallest epsilon at which the composition's hockey-stick
// divergence is at most delta. It is +Inf where no epsilon is. An upper end that
// is at most enough is not made any sharper. It fails once the context is done.
func (c Composition) Epsilon(ctx context.Context, delta, enough float64) (lower, upper float64, err error) {
	lower, upper = c.epsilon(ctx, delta, enough)
	return lower, upper, ctx.Err()
}

func (c Composition) epsilon(ctx context.Context, delta, enough float64) (lower, upper float64) {
	s := newState(ctx, c, query{delta: delta, forEpsilon: true})
	s.enough = enough
	upper = math.Inf(1)
	if s.lossless() {
		if infinite(s.upper, 1) <= delta {
			upper = 0
		}
		return 0, upper
	}
	for pass := range maxPasses {
		if s.ctx.Err() != nil {
			break
		}
		s.resolve()
		low, up := s.sides()
		above, _ := s.cross(low, delta)
		_, met := s.cross(up, delta)
		lower, upper = max(lower, above), min(upper, met)
		if math.IsInf(met, 1) && s.cutoff < met {
			// The guess was too low for the cutoff.
			s.guess = query{epsilon: s.cutoff, delta: delta}
			s.located = true
			continue
		}
		if math.IsInf(upper, 1) || upper <= s.enough || !s.sharpen(pass, up, upper, (upper/lower-1)*s.slopeAt(up, upper)*upper) {
			break
		}
	}
	return lower, upper
}

// slopeAt is -d ln delta/d eps near epsilon, from the curve.
func (s *state) slopeAt(up curve, epsilon float64) float64 {
	step := 0.02 / s.slope
	slope := math.Log(up.value(max(epsilon-step, 0))/up.value(epsilon+step)) / (step + min(step, epsilon))
	if !(slope > 0) || math.IsInf(slope, 1) {
		return s.slope
	}
	return slope
}

// sharpen sets the state for another pass where the bracket, width wide in
// ln delta, is not yet narrow enough; it reports whether another pass may help.
func (s *state) sharpen(pass int, up curve, epsilon, width float64) bool {
	s.slope = s.slopeAt(up, epsilon)
	s.guess = query{epsilon: epsilon, delta: up.value(epsilon)}
	s.located = true
	target := 1.5 * (s.tolerance(fineness) + s.tolerance(smoothness)) * s.sharper
	if !(width > target) || !(s.guess.delta > 0) || s.sharper > 1e3 || s.work > maxWork/min(s.comp.scale(), 1) {
		return false
	}
	if pass > 0 {
		s.sharper *= min(max(width/target, 2), 30)
	}
	return true
}

// cross returns neighbouring points above and below which the curve is seen to
// exceed delta and to have met it. It starts from the guess and goes outward,
// because the lower curve says little far from there.
func (s *state) cross(c curve, delta float64) (above, met float64) {
	if c.infinite >= delta {
		return math.Inf(1), math.Inf(1)
	}
	if !(s.guess.epsilon >= 0 && s.tilt > 0) || math.IsInf(s.guess.epsilon+s.tilt, 1) {
		return 0, math.Inf(1)
	}
	lo, hi := s.guess.epsilon, s.guess.epsilon
	if c.value(hi) > delta {
		for step := 1 / s.tilt; c.value(hi) > delta; step *= 2 {
			lo, hi = hi, hi+step
			if hi >= s.cutoff || math.IsInf(hi, 1) {
				return lo, math.Inf(1)
			}
		}
	} else {
		for step := 1 / s.tilt; c.value(lo) <= delta; step *= 2 {
			if lo == 0 {
				return 0, 0
			}
			lo, hi = max(0, lo-step), lo
		}
	}
	return regulaFalsi(func(x float64) float64 { return math.Log(c.value(x) / delta) }, lo, hi)
}

// regulaFalsi narrows a bracket of a decreasing function's root, f(lo) > 0 >=
// f(hi), to a relative 1e-9 (Illinois rule, with bisection as a fallback).
func regulaFalsi(f func(x float64) float64, lo, hi float64) (above, met float64) {
	flo, fhi := f(lo), f(hi)
	for i := 0; hi-lo > 1e-9*hi && i < 200; i++ {
		x := lo + (hi-lo)*(flo/(flo-fhi))
		if !(x > lo && x < hi) || i%4 == 3 {
			x = lo + (hi-lo)/2
		} else {
			// Aim a little past the root, so that both ends move.
			x = min(max(x, lo+1e-10*hi), hi-1e-10*hi)
		}
		if !(x > lo && x < hi) {
			break
		}
		if fx := f(x); fx > 0 {
			lo, flo = x, fx
			fhi /= 2
		} else {
			hi, fhi = x, fx
			flo /= 2
		}
	}
	return lo, hi
}
