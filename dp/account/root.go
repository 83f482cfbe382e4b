package account

import (
	"fmt"
	"math"
)

// newton finds a root of a decreasing function on [low, high] by Newton's method kept inside a
// shrinking interval. f returns the value and the derivative. It returns low where f is negative
// from the start. The root is approximate: a caller that needs a guarantee certifies it afterwards.
func newton(low, high float64, f func(x float64) (value, slope float64)) float64 {
	if v, _ := f(low); v <= 0 {
		return low
	}
	x := high
	for range 200 {
		v, slope := f(x)
		if v > 0 {
			low = x
		} else {
			high = x
		}
		next := x - v/slope
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if math.Abs(next-x) <= 0x1p-52*math.Abs(x) || next == low || next == high {
			return next
		}
		x = next
	}
	return x
}

// outward moves from an approximate root, up for sign +1 and down for -1, until
// certain reports that the argument is on the safe side of the true root. A
// search that goes down stops at 0, which the caller must know to be safe.
func outward(root, sign float64, certain func(x float64) bool) (float64, error) {
	if certain(root) {
		return root, nil
	}
	step := max(math.Abs(root)*0x1p-52, 0x1p-1000)
	for range 1100 {
		x := root + sign*step
		if sign < 0 && x <= 0 {
			return 0, nil
		}
		if certain(x) {
			return x, nil
		}
		step *= 2
	}
	return 0, fmt.Errorf("%w: no certain bound near %v", ErrUncertified, root)
}
