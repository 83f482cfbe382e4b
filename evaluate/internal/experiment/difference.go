package experiment

import "math"

// Difference is that of two means, in shares of the range.
type Difference struct {
	Value, Lower, Upper     float64
	StdSampling, StdPrivacy float64
}

// Difference is by how much the mean of one arm is above that of another. Persons and noise of two
// arms are independent, so that margins add up by their squares; of those whose arm is not known
// both have the same noise.
func (q Reading) Difference(one, other Level) Difference {
	v := one.Value - other.Value
	d := Difference{Value: v, StdSampling: math.Hypot(one.StdSampling, other.StdSampling), StdPrivacy: math.Hypot(one.StdPrivacy, other.StdPrivacy)}
	lower := one.Low.Mean + other.High.Mean - 1 - q.together(one.Low, other.High)
	upper := 1 - one.High.Mean - other.Low.Mean + q.together(one.High, other.Low)
	d.Lower, d.Upper = min(max(lower, -1), v), max(min(upper, 1), v)
	return d
}

// together is the margin of the sum of two means.
func (q Reading) together(a, b End) float64 {
	return math.Sqrt(a.Margin*a.Margin + b.Margin*b.Margin + 2*q.Z*q.Z*a.absent*b.absent)
}

// Interval is a value with its limits.
type Interval struct{ Value, Lower, Upper float64 }

// Lift is the difference over the control's mean, from intervals of both means, which are not negative, and of
// their difference. It holds where these do. Upper is infinite where the control's mean may be 0, and Value is NaN
// where it is estimated to be.
func Lift(arm, control, difference Interval) Interval {
	over := func(x, divisor float64) float64 {
		switch {
		case divisor > 0:
			return x / divisor
		case x == 0:
			return 0
		}
		return math.Copysign(math.Inf(1), x)
	}
	far := func(x, inward, outward float64) float64 { // x over whichever is farther out
		if x > 0 {
			return over(x, inward)
		}
		return over(x, outward)
	}
	out := Interval{Value: math.NaN()}
	if control.Value > 0 {
		out.Value = max(difference.Value/control.Value, -1)
	}
	out.Lower = max(far(difference.Lower, control.Upper, control.Lower), over(arm.Lower, control.Upper)-1, -1)
	out.Upper = far(difference.Upper, control.Lower, control.Upper)
	if control.Lower > 0 {
		out.Upper = min(out.Upper, arm.Upper/control.Lower-1)
	} else {
		out.Upper = math.Inf(1)
	}
	out.Lower, out.Upper = min(out.Lower, out.Value), max(out.Upper, out.Value)
	if math.IsNaN(out.Value) {
		out.Lower, out.Upper = -1, math.Inf(1)
	}
	return out
}
