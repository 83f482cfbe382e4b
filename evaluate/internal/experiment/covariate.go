package experiment

import "math"

// Coordinates is how many numbers a person adds to [Moments].
const Coordinates = 5

// Moments are sums over persons of 1, a covariate c and an outcome y, each within [0, 1], and of
// c^2 and c y.
type Moments struct{ Count, C, Y, CC, CY float64 }

// Add writes what a person adds, in units of the root of their number: no longer than 1, no coordinate negative.
func (m Moments) Add(dst []float64) {
	for i, v := range []float64{m.Count, m.C, m.Y, m.CC, m.CY} {
		dst[i] = v / math.Sqrt(Coordinates)
	}
}

// MomentsOf are those of such sums.
func MomentsOf(sums []float64) Moments {
	s := math.Sqrt(Coordinates)
	return Moments{s * sums[0], s * sums[1], s * sums[2], s * sums[3], s * sums[4]}
}

// Adjustment takes the slope times what a person's covariate differs from its centre off the outcome. Slope and
// centre do not matter to what is estimated, since the covariate has the same law in all arms.
type Adjustment struct{ Slope, Centre float64 }

// steepest is the largest slope: the adjusted outcome has 1 + |slope| times the range.
const steepest = 4

// Adjustment is expected to make a difference narrowest. The noise of a moment has the standard deviation sd
// (after [MomentsOf]). In the variance of an outcome, the noise of its mean is worth price times the square of the
// width of the range, and without an adjustment plain.
func (m Moments) Adjustment(sd, price, plain float64) Adjustment {
	n := max(m.Count, 1)
	y := min(max(m.Y/n, 0), 1)
	a := Adjustment{Centre: min(max(m.C/n, 0), 1)}
	both, alone := m.CY/n-a.Centre*y, m.CC/n-a.Centre*a.Centre
	noise := 2 * sd / n
	alone = min(alone, a.Centre*(1-a.Centre))
	if !(alone > noise) || !(math.Abs(both)-price > 0) {
		return a
	}
	slope := min((math.Abs(both)-price)/(alone+price), steepest)
	if 2*slope*math.Abs(both)-slope*slope*alone > price*(1+slope)*(1+slope)-plain {
		a.Slope = math.Copysign(slope, both)
	}
	return a
}

// Width is how many times the range of the outcome that of the adjusted one is.
func (a Adjustment) Width() float64 { return 1 + math.Abs(a.Slope) }

// Apply is what a person adds, of x and z as the outcome has them, the covariate and the share of
// the person's episodes that are there.
func (a Adjustment) Apply(x, z, c, there float64) (float64, float64) {
	off := a.Slope * (c - a.Centre)
	highest := max(a.Slope*(1-a.Centre), -a.Slope*a.Centre)
	lowest := min(a.Slope*(1-a.Centre), -a.Slope*a.Centre)
	return (x + there*(highest-off)) / a.Width(), (z + there*(off-lowest)) / a.Width()
}
