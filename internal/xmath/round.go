package xmath

import "math"

// SmallestNormal is the smallest positive float64 of full precision. Rounding to a safe
// side by a unit in the last place does not hold for what is computed with smaller ones.
const SmallestNormal = 0x1p-1022

// Up returns the float64 that lies n steps above x. Up(+Inf, n) is +Inf.
func Up(x float64, n int) float64 {
	for range n {
		x = math.Nextafter(x, math.Inf(1))
	}
	return x
}

// Down returns the float64 that lies n steps below x. Down(-Inf, n) is -Inf.
func Down(x float64, n int) float64 {
	for range n {
		x = math.Nextafter(x, math.Inf(-1))
	}
	return x
}

// Widen encloses every number within relative distance rel of x. It is meant
// for results whose relative error is known; the ends are rounded outward.
func Widen(x, rel float64) (lower, upper float64) {
	d := Up(math.Abs(x)*rel, 1)
	return Down(x-d, 1), Up(x+d, 1)
}

// AddUp returns a float64 at or above a+b, equal to it where the sum is exact.
func AddUp(a, b float64) float64 {
	s, e := TwoSum(a, b)
	if e > 0 || overflowed(s, -1, a, b) {
		return Up(s, 1)
	}
	return s
}

// AddDown returns a float64 at or below a+b, equal to it where the sum is exact.
func AddDown(a, b float64) float64 {
	s, e := TwoSum(a, b)
	if e < 0 || overflowed(s, 1, a, b) {
		return Down(s, 1)
	}
	return s
}

// overflowed reports that two finite numbers have the infinite sum s, of the
// given sign; the step from there towards 0 is the largest float64, which the true
// sum exceeds in size. TwoSum knows no error there.
func overflowed(s float64, sign int, a, b float64) bool {
	return math.IsInf(s, sign) && !math.IsInf(a, 0) && !math.IsInf(b, 0)
}

// MulUp returns a float64 at or above a*b.
func MulUp(a, b float64) float64 {
	p := a * b
	if e := math.FMA(a, b, -p); e > 0 || nearUnderflow(p) && a != 0 && b != 0 {
		return Up(p, 1)
	}
	return p
}

// MulDown returns a float64 at or below a*b.
func MulDown(a, b float64) float64 {
	p := a * b
	if e := math.FMA(a, b, -p); e < 0 || nearUnderflow(p) && a != 0 && b != 0 {
		return Down(p, 1)
	}
	return p
}

// DivUp returns a float64 at or above a/b.
func DivUp(a, b float64) float64 {
	q := a / b
	r := math.FMA(-q, b, a) // a - q*b, exact away from underflow
	if nearUnderflow(q) && a != 0 || nearUnderflow(a) && a != 0 || r != 0 && (r > 0) == (b > 0) {
		return Up(q, 1)
	}
	return q
}

// DivDown returns a float64 at or below a/b.
func DivDown(a, b float64) float64 {
	q := a / b
	r := math.FMA(-q, b, a)
	if nearUnderflow(q) && a != 0 || nearUnderflow(a) && a != 0 || r != 0 && (r > 0) != (b > 0) {
		return Down(q, 1)
	}
	return q
}

// nearUnderflow reports that the rounding error of a product or quotient near p
// may itself be too small for a float64, so that its sign proves nothing.
func nearUnderflow(p float64) bool { return math.Abs(p) < 0x1p-900 }

// TwoSum returns a+b rounded to nearest and its exact rounding error (Knuth).
func TwoSum(a, b float64) (sum, err float64) {
	sum = a + b
	if math.IsInf(sum, 0) {
		return sum, 0
	}
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}
