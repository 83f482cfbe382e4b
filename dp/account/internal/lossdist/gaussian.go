package lossdist

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Law is a pair of laws that can be cut as finely as one likes. Its outcomes lie
// on a line along which the privacy loss increases.
type Law interface {
	// Cuts proposes a first, coarse partition that leaves about the given masses
	// beyond its ends. It is nil for a law of atoms.
	Cuts(Tails) []float64
	// Bins cuts the law at the given increasing points, which Cuts or Refine
	// made.
	Bins(cuts []float64) *Bins
}

const (
	// coarse is how many cells a first partition has at least.
	coarse = 96
	// coarseWidth bounds the width of a coarse cell, in standard deviations.
	coarseWidth = 0.3
	// farthest is how many standard deviations a partition reaches beyond a mean
	// at most: 1 - Phi(16) is 6e-58.
	farthest = 16
)

// Tails says how much mass a partition may leave beyond its ends.
type Tails struct {
	Mass float64
	// Rate is the share of the first law in the mixture that is made of the pair.
	Rate float64
}

// right is the distance from 0 beyond which neither N(0,1) nor Rate times
// N(shift,1) has more than Mass.
func (t Tails) right(shift float64) float64 {
	return max(t.left(0), shift+tailReach(t.Mass/t.Rate))
}

// left is the same towards the left, with a second law at -shift.
func (t Tails) left(shift float64) float64 { return shift + tailReach(t.Mass) }

func tailReach(mass float64) float64 {
	return min(max(xmath.NormISF(min(mass, 0.01)), 3), farthest)
}

// Gaussian is the pair N(Shift, 1) against N(0, 1), cut along the outcome.
type Gaussian struct{ Shift float64 }

// Cuts implements [Law].
func (g Gaussian) Cuts(t Tails) []float64 {
	lo, hi := -t.left(0), t.right(g.Shift)
	return uniformCuts(lo, hi, max(coarse, int((hi-lo)/coarseWidth)), g.Shift/2)
}

// Bins implements [Law].
func (g Gaussian) Bins(cuts []float64) *Bins {
	n := len(cuts) + 1
	b := &Bins{Knot: make([]Loss, n+1), Cell: make([]Cell, 0, n), MassError: g.massError(cuts)}
	side := math.Copysign(1, g.Shift)
	b.Knot[0], b.Knot[n] = Loss{Value: math.Inf(int(-side))}, Loss{Value: math.Inf(int(side))}
	for i, z := range cuts {
		b.Knot[i+1] = g.loss(z)
	}
	first, last := cuts[0], cuts[len(cuts)-1]
	b.Cell = append(b.Cell, g.cell(-1, leftTail(first-g.Shift), leftTail(first), g.loss(first).Error))
	for i := range cuts[1:] {
		b.Cell = append(b.Cell, g.between(i, cuts[i], cuts[i+1]))
	}
	b.Cell = append(b.Cell, g.cell(-1, leftTail(g.Shift-last), leftTail(-last), g.loss(last).Error))
	return b
}

// loss is Shift z - Shift^2/2, with an error of Shift itself of up to 8 roundings.
func (g Gaussian) loss(z float64) Loss {
	return Loss{g.Shift*z - g.Shift*g.Shift/2, 20 * ulp * (math.Abs(g.Shift*z) + g.Shift*g.Shift)}
}

// massError covers the exponent z^2/2, rounded a few times, and the relative
// error of Shift, which moves the second law's masses by Shift times z.
func (g Gaussian) massError(cuts []float64) float64 {
	far := farthest + 2*math.Abs(g.Shift)
	return ulp * (64 + 16*far*far)
}

func (g Gaussian) cell(base int, logP, logQ, slack float64) Cell {
	return Cell{
		P: math.Exp(logP), Q: math.Exp(logQ), Base: base,
		Mid: Loss{logP - logQ, slack + 16*ulp*(4+math.Abs(logP)+math.Abs(logQ))},
	}
}

// between is a bounded cell. The logarithm of the ratio of its masses is the
// loss in its middle and a small correction, so nothing cancels.
func (g Gaussian) between(base int, lo, hi float64) Cell {
	mid, width := lo+(hi-lo)/2, hi-lo
	massQ, massP := normalMass(mid, width), normalMass(mid-g.Shift, width)
	y := g.loss(mid)
	return Cell{
		P: normalDensity(mid-g.Shift) * massP, Q: normalDensity(mid) * massQ, Base: base,
		Mid: Loss{y.Value + math.Log(massP/massQ), y.Error + 32*ulp*(1+math.Abs(mid-g.Shift)*width+math.Abs(mid)*width)},
	}
}

func leftTail(x float64) float64 { return xmath.LogNormCDF(x) }

func normalDensity(x float64) float64 {
	return math.Exp(-x*x/2) * 0.39894228040143267794
}

// normalMass is the normal mass of the interval of the given middle and width,
// over the density in the middle: the integral of exp(-m t - t^2/2) over
// |t| <= width/2. Panels on which the exponent varies by less than 4 either way
// are integrated by 12-point Gauss-Legendre, which is then exact to 1e-15
// relative.
func normalMass(m, width float64) float64 {
	vary := (math.Abs(m) + width/2) * width / 2
	panels := 1
	if vary > 3 {
		panels = int(vary/3) + 1
	}
	half := width / 2 / float64(panels)
	sum := 0.0
	for p := range panels {
		at := -width/2 + half*float64(2*p+1)
		for i, node := range legendreNode {
			a, b := at-half*node, at+half*node
			sum += legendreWeight[i] * (math.Exp(-a*(m+a/2)) + math.Exp(-b*(m+b/2)))
		}
	}
	return half * sum
}

// Positive nodes and weights of the 12-point Gauss-Legendre rule on [-1, 1]
// (mpmath, 30 digits).
var (
	legendreNode = [6]float64{
		0.98156063424671925069, 0.90411725637047485668, 0.76990267419430468704,
		0.5873179542866174473, 0.36783149899818019375, 0.12523340851146891547,
	}
	legendreWeight = [6]float64{
		0.047175336386511827195, 0.10693932599531843096, 0.16007832854334622633,
		0.20316742672306592175, 0.23349253653835480876, 0.249147045813402785,
	}
)

// Antipodal is the pair (1-Rate) N(0,1) + Rate N(Shift,1) against
// (1-Rate) N(0,1) + Rate N(-Shift,1), cut along the outcome.
type Antipodal struct{ Shift, Rate float64 }

// Cuts implements [Law].
func (g Antipodal) Cuts(t Tails) []float64 {
	t.Rate = g.Rate
	far := t.right(g.Shift)
	return uniformCuts(-far, far, max(coarse, int(2*far/coarseWidth)))
}

// Bins implements [Law].
func (g Antipodal) Bins(cuts []float64) *Bins {
	plus, minus := Gaussian{g.Shift}.Bins(cuts), Gaussian{-g.Shift}.Bins(cuts)
	b := &Bins{Knot: make([]Loss, len(plus.Knot)), Cell: make([]Cell, len(plus.Cell))}
	b.MassError = max(plus.MassError, minus.MassError) + 16*ulp
	for i := range b.Knot {
		b.Knot[i] = difference(mixed(plus.Knot[i], g.Rate), mixed(minus.Knot[i], g.Rate))
	}
	for i, c := range plus.Cell {
		d := minus.Cell[i]
		b.Cell[i] = Cell{
			P: (1-g.Rate)*c.Q + g.Rate*c.P, Q: (1-g.Rate)*d.Q + g.Rate*d.P, Base: c.Base,
			Mid: difference(mixed(c.Mid, g.Rate), mixed(d.Mid, g.Rate)),
		}
	}
	return b
}

func difference(a, b Loss) Loss {
	return Loss{a.Value - b.Value, a.Error + b.Error}
}
