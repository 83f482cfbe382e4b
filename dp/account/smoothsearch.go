package account

import (
	"errors"
	"fmt"
	"math"
)

// smoothSearch finds where the largest divergence falls to delta as one
// parameter x > 0 of the sweep grows; the divergence must not increase with x.
type smoothSearch struct {
	sweep  *smoothSweep
	delta  float64
	name   string // of x, for errors
	assign func(x float64)
}

const (
	// smoothSearchTolerance is the relative width of a bracket of delta during
	// a search; estimates are much closer than that.
	smoothSearchTolerance = 3e-4
	// smoothTarget is the relative distance from the root at which its ends are
	// to be certified.
	smoothTarget = 1e-5
)

// excess is ln(delta(x)/delta), positive below the root.
func (s smoothSearch) excess(x float64) float64 {
	s.assign(x)
	return math.Log(max(s.sweep.estimate(), smoothFloor) / s.delta)
}

// bracket encloses the root by two certified ends.
func (s smoothSearch) bracket(start, low, high float64) (Bracket, error) {
	root, slope, err := s.root(start, low, high)
	if err != nil {
		return Bracket{}, err
	}
	// A certificate loses about rtol in delta, hence rtol/slope in ln x.
	s.sweep.rtol = min(max(smoothTarget*slope/2, 1e-8), smoothSearchTolerance)
	upper, err := s.certify(root, 1, high, func() bool { return s.sweep.atMost(s.delta) })
	if err != nil {
		return Bracket{}, err
	}
	lower, err := s.certify(root, -1, 0, func() bool { return s.sweep.lower() > s.delta })
	return Bracket{lower, upper}, errors.Join(s.sweep.integral.ctx.Err(), err)
}

// certify moves away from the root until holds is true, and no further than
// limit. A search that reaches the limit 0 returns it: no parameter is below.
func (s smoothSearch) certify(root, sign, limit float64, holds func() bool) (float64, error) {
	for step := smoothTarget; ; step *= 2 {
		if err := s.sweep.integral.ctx.Err(); err != nil {
			return 0, err
		}
		x := root * (1 + sign*step)
		if sign*(limit-x) <= 0 {
			if limit == 0 {
				return 0, nil
			}
			return 0, fmt.Errorf("%w: smooth_gaussian: no %s up to %.3g is certain to meet delta %v; lower beta or raise delta", ErrUncertified, s.name, limit, s.delta)
		}
		if s.assign(x); holds() {
			return x, nil
		}
	}
}

// root returns the approximate root in [low, high] and -d ln delta/d ln x there.
// It returns low where the divergence is below delta from the start.
func (s smoothSearch) root(start, low, high float64) (x, slope float64, err error) {
	a, b, fa, fb, err := s.straddle(start, low, high)
	err = errors.Join(s.sweep.integral.ctx.Err(), err)
	if err != nil {
		return 0, 0, err
	}
	slope = (fa - fb) / (b - a)
	if !(slope > 0) {
		return math.Exp(a), 1, nil
	}
	// Regula falsi with the Illinois weights, on logarithms.
	side := 0
	for range 60 {
		if err := s.sweep.integral.ctx.Err(); err != nil {
			return 0, 0, err
		}
		x := b - fb*(b-a)/(fb-fa)
		f := s.excess(math.Exp(x))
		if f > 0 {
			if side > 0 {
				fb /= 2
			}
			a, fa, side = x, f, 1
		} else {
			if side < 0 {
				fa /= 2
			}
			b, fb, side = x, f, -1
		}
		if math.Abs(f) <= slope*smoothTarget/4 || b-a < smoothTarget/8 {
			// The slope is taken from a step that the estimates can resolve.
			const h = 2e-3
			slope = (f - s.excess(math.Exp(x+h))) / h
			return math.Exp(x), max(slope, 1e-6), nil
		}
	}
	return math.Exp(b), slope, nil
}

// straddle finds logarithms a < b of parameters around the root, and the excess
// there.
func (s smoothSearch) straddle(start, low, high float64) (a, b, fa, fb float64, err error) {
	b = math.Log(start)
	fb = s.excess(start)
	a, fa = b, fb
	for step := 0.5; fb > 0; step *= 1.5 {
		if b >= math.Log(high) {
			return 0, 0, 0, 0, fmt.Errorf("%w: smooth_gaussian: no %s up to %.3g meets delta %v; lower beta or raise delta", ErrUncertified, s.name, high, s.delta)
		}
		a, fa = b, fb
		b = min(b+step, math.Log(high))
		fb = s.excess(math.Exp(b))
	}
	for step := 0.5; fa <= 0 && a > math.Log(low); step *= 1.5 {
		b, fb = a, fa
		a = max(a-step, math.Log(low))
		fa = s.excess(math.Exp(a))
	}
	return a, b, fa, fb, nil
}
