package account

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// Calibrate brackets the smallest noise multiplier at which the event that build
// makes of it meets the budget; [dp.Template.With] is such a build. The Upper
// end is certain to meet it by the accountant's own upper bound, and Lower is
// certain not to, or 0 where the accountant has no lower bounds. Epsilon must
// not grow with the multiplier. fresh returns an empty accountant; an event that
// the accountant refuses is an error.
func Calibrate(ctx context.Context, build func(multiplier float64) (dp.Event, error), budget dp.Budget, fresh func() Accountant) (Bracket, error) {
	if err := budget.Validate(); err != nil {
		return Bracket{}, err
	}
	s := search{build: build, budget: budget, fresh: fresh}
	low, high, err := s.bracketRoot(ctx)
	if err != nil {
		return Bracket{}, err
	}
	upper, err := s.narrow(ctx, low, high)
	if err != nil {
		return Bracket{}, err
	}
	lower, err := s.unsafeBelow(ctx, upper)
	return Bracket{lower, upper.multiplier}, err
}

const (
	// multiplierRange bounds the search: noise outside it is a mistake.
	multiplierRange = 1e9
	// multiplierTolerance is the relative width at which the search ends.
	multiplierTolerance = 1e-10
)

type search struct {
	build  func(multiplier float64) (dp.Event, error)
	budget dp.Budget
	fresh  func() Accountant
}

// point is one multiplier with its epsilon and ln(epsilon/target), negative where it is safe.
type point struct {
	multiplier, excess float64
	epsilon            Bracket
}

func (s search) at(ctx context.Context, multiplier float64) (Bracket, error) {
	event, err := s.build(multiplier)
	if err != nil {
		return Bracket{}, err
	}
	a := s.fresh()
	var b Bracket
	if err = a.Compose(ctx, event, 1); err == nil {
		b, err = a.Epsilon(ctx, s.budget.Delta)
	}
	if errors.Is(err, ErrUncertified) {
		// Too little noise for an answer: not certain to be safe, not certain
		// to be unsafe.
		return Bracket{0, math.Inf(1)}, nil
	}
	return b, err
}

func (s search) point(ctx context.Context, multiplier float64) (point, error) {
	b, err := s.at(ctx, multiplier)
	if err != nil {
		return point{}, err
	}
	excess := math.Log(b.Upper / s.budget.Epsilon)
	if b.Upper <= s.budget.Epsilon {
		excess = max(min(excess, -1e-300), -50)
	}
	return point{multiplier, min(excess, 50), b}, nil
}

// bracketRoot walks by powers of two from 1 to an unsafe and a safe multiplier.
func (s search) bracketRoot(ctx context.Context) (low, high point, err error) {
	p, err := s.point(ctx, 1)
	if err != nil {
		return point{}, point{}, err
	}
	for factor := 2.0; ; {
		if p.excess < 0 {
			factor = 0.5
		}
		next, err := s.point(ctx, p.multiplier*factor)
		switch {
		case err != nil:
			return point{}, point{}, err
		case next.excess > 0 && p.excess < 0:
			return next, p, nil
		case next.excess < 0 && p.excess > 0:
			return p, next, nil
		case next.multiplier > multiplierRange || next.multiplier < 1/multiplierRange:
			return point{}, point{}, fmt.Errorf("%w: no noise multiplier within %g and %g is where epsilon passes %v at delta %v; choose another budget",
				dp.ErrBudget, 1/multiplierRange, multiplierRange, s.budget.Epsilon, s.budget.Delta)
		}
		p = next
	}
}

// narrow shrinks the bracket by false position in logarithms (the Illinois rule,
// with a bisection whenever a step gains little) and returns the safe end.
func (s search) narrow(ctx context.Context, low, high point) (point, error) {
	kept := 0
	wLow, wHigh := low.excess, high.excess
	for range 200 {
		width := math.Log(high.multiplier / low.multiplier)
		if width <= multiplierTolerance {
			break
		}
		share := wLow / (wLow - wHigh)
		// Land a little to the safe side, so that the safe end moves at all.
		share = min(max(share+0.1*multiplierTolerance/width, 0.001), 0.999)
		if kept > 2 || kept < -2 {
			share, kept = 0.5, 0
		}
		p, err := s.point(ctx, low.multiplier*math.Exp(share*width))
		if err != nil {
			return point{}, err
		}
		if p.multiplier <= low.multiplier || p.multiplier >= high.multiplier {
			break
		}
		if p.excess < 0 {
			high, wHigh = p, p.excess
			if kept++; kept > 1 {
				wLow /= 2
			}
			kept = max(kept, 1)
		} else {
			low, wLow = p, p.excess
			if kept--; kept < -1 {
				wHigh /= 2
			}
			kept = min(kept, -1)
		}
	}
	return high, nil
}

// unsafeBelow finds a multiplier just below safe that certainly fails: the nearest of those
// at gaps that grow fourfold. It starts at the gap that is as wide as the bracket at safe.
func (s search) unsafeBelow(ctx context.Context, safe point) (float64, error) {
	const least = 2 * multiplierTolerance
	gap := least
	for wide := safe.epsilon.Upper/safe.epsilon.Lower - 1; 4*gap < min(wide, 1); {
		gap *= 4
	}
	unsafe, passed := 0.0, false
	for gap >= least && gap < 1 {
		multiplier := safe.multiplier * (1 - gap)
		b, err := s.at(ctx, multiplier)
		switch {
		case err != nil:
			return 0, err
		case b.Lower > s.budget.Epsilon:
			if unsafe = multiplier; passed {
				return unsafe, nil
			}
			gap /= 4
		case unsafe > 0:
			return unsafe, nil
		case b.Lower == 0 && b.Upper > s.budget.Epsilon:
			return 0, nil // an accountant that bounds from above alone
		default:
			passed = true
			gap *= 4
		}
	}
	return unsafe, nil
}

// CalibrateTemplate finds the value of the open parameter of a template at which the event meets
// the budget. For noise (a noise multiplier or a scale) it brackets the smallest value, as
// [Calibrate] does. For a sampling rate and for a count it brackets the largest: Lower is certain
// to meet the budget; above it, a rate of Upper is certain not to (or is 1, or nothing is known),
// and a count of one more than Lower, which is Upper too, is not certain to meet it. A count of 0
// says that not even one run does.
func CalibrateTemplate(ctx context.Context, t dp.Template, budget dp.Budget, fresh func() Accountant) (Bracket, error) {
	switch t.Field() {
	case "":
		return Bracket{}, fmt.Errorf("%w: nothing is open in the event; put \"?\" for a noise multiplier, scale, rate or count", dp.ErrEvent)
	case "rate":
		return largestRate(ctx, t, budget, fresh)
	case "count":
		n, err := largestCount(ctx, func(count int64) (dp.Event, int64, error) {
			e, err := t.With(float64(count))
			return e, 1, err
		}, budget, fresh)
		return Bracket{float64(n), float64(n)}, err
	}
	return Calibrate(ctx, t.With, budget, fresh)
}

// largestRate calibrates the inverse of the rate, which costs less as it grows.
func largestRate(ctx context.Context, t dp.Template, budget dp.Budget, fresh func() Accountant) (Bracket, error) {
	if err := budget.Validate(); err != nil {
		return Bracket{}, err
	}
	inverse := func(x float64) (dp.Event, error) { return t.With(min(1/x, 1)) }
	all, err := search{build: inverse, budget: budget, fresh: fresh}.at(ctx, 1)
	if err != nil {
		return Bracket{}, err
	}
	if all.Upper <= budget.Epsilon {
		return Bracket{1, 1}, nil
	}
	b, err := Calibrate(ctx, inverse, budget, fresh)
	if errors.Is(err, dp.ErrBudget) {
		return Bracket{}, fmt.Errorf("no sampling rate meets the budget for certain; add noise: %w", err)
	}
	if err != nil {
		return Bracket{}, err
	}
	return Bracket{min(1/b.Upper, 1), min(1/b.Lower, 1)}, nil
}

// LargestCount returns the largest number of runs of the event that is certain
// to meet the budget, 0 if not even one is. Epsilon must not shrink with the
// count. fresh returns an empty accountant.
func LargestCount(ctx context.Context, event dp.Event, budget dp.Budget, fresh func() Accountant) (int64, error) {
	return largestCount(ctx, func(count int64) (dp.Event, int64, error) { return event, count, nil }, budget, fresh)
}

// largestCount is LargestCount of the event, and its number of runs, that build makes of a count.
func largestCount(ctx context.Context, build func(count int64) (dp.Event, int64, error), budget dp.Budget, fresh func() Accountant) (int64, error) {
	if err := budget.Validate(); err != nil {
		return 0, err
	}
	fits := func(count int64) (bool, error) {
		event, runs, err := build(count)
		if err != nil {
			return false, err
		}
		a := fresh()
		var b Bracket
		if err = a.Compose(ctx, event, runs); err == nil {
			b, err = a.Epsilon(ctx, budget.Delta)
		}
		if errors.Is(err, ErrUncertified) { // too little noise, or too many runs, for an answer
			return false, nil
		}
		return err == nil && b.Upper <= budget.Epsilon, err
	}
	var low, high int64 = 0, 1
	for {
		ok, err := fits(high)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		low = high
		if high > countLimit/2 {
			return 0, fmt.Errorf("%w: more than %d runs fit; the event spends next to nothing", dp.ErrBudget, low)
		}
		high *= 2
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		ok, err := fits(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

const countLimit = 1 << 40
