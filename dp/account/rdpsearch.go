package account

import (
	"context"
	"math"
)

// minimise returns the smallest value that objective takes over the orders in
// use. Any order gives a sound bound, so the search is free to stop early.
func (r *RDP) minimise(ctx context.Context, objective func(order float64) float64) float64 {
	best := math.Inf(1)
	all := objective
	objective = func(order float64) float64 {
		if ctx.Err() != nil {
			return math.NaN()
		}
		return all(order)
	}
	if r.orders != nil {
		for _, a := range r.orders {
			best = lesser(best, objective(a))
		}
		return best
	}
	// Scan t = ln(order-1), outward from order 2 on either side while it pays,
	// then refine about the best.
	f := func(t float64) float64 { return objective(1 + math.Exp(t)) }
	at := 0.0
	best = f(0)
	for _, step := range []float64{scanStep, -scanStep} {
		misses := 0
		for t := step; math.Abs(t) < 16 && misses < scanPatience; t += step {
			if v := f(t); v < best {
				best, at, misses = v, t, 0
			} else {
				misses++
			}
		}
	}
	best = lesser(best, goldenSection(at-scanStep, at+scanStep, f))
	for _, a := range r.stated {
		best = lesser(best, objective(a))
	}
	return best
}

const (
	scanStep = 0.25
	// scanPatience is the number of steps without progress that ends a scan: a factor of e^2 in the
	// order. Curves can have two local minima, about where sampling stops to amplify.
	scanPatience = 8
)

// goldenSection returns the smallest value met while it narrows [a, b].
func goldenSection(a, b float64, f func(x float64) float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	x, y := b-ratio*(b-a), a+ratio*(b-a)
	fx, fy := f(x), f(y)
	best := lesser(fx, fy)
	for range 28 {
		if fx <= fy || math.IsNaN(fy) {
			b, y, fy = y, x, fx
			x = b - ratio*(b-a)
			fx = f(x)
			best = lesser(best, fx)
		} else {
			a, x, fx = x, y, fy
			y = a + ratio*(b-a)
			fy = f(y)
			best = lesser(best, fy)
		}
	}
	return best
}

// lesser is the smaller of two numbers; either may be NaN.
func lesser(a, b float64) float64 {
	if b < a || math.IsNaN(a) {
		return b
	}
	return a
}
