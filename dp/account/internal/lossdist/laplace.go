package lossdist

import "math"

// Laplace is the pair of two Laplace laws of scale 1 at distance Shift, cut
// along the privacy loss, which lies in [-Shift, Shift] with an atom at each end.
type Laplace struct{ Shift float64 }

// Cuts implements [Law].
func (l Laplace) Cuts(Tails) []float64 {
	return uniformCuts(-l.Shift, l.Shift, coarse, 0)
}

// Bins implements [Law].
func (l Laplace) Bins(cuts []float64) *Bins {
	s := l.Shift
	b := &Bins{MassError: ulp * (32 + 4*s)}
	for _, y := range cuts {
		b.Knot = append(b.Knot, l.loss(y))
	}
	for i, y := range cuts[1:] {
		x := cuts[i]
		width := 0.5 * math.Expm1((y-x)/2)
		b.Cell = append(b.Cell, Cell{
			P: math.Exp((x-s)/2) * width, Q: math.Exp((-y-s)/2) * width,
			Mid: l.loss(x + (y-x)/2), Base: i,
		})
	}
	top := Atom{P: 0.5, Q: 0.5 * math.Exp(-s), Loss: l.loss(s)}
	b.Atom = []Atom{top.reversed(), top}
	return b
}

func (l Laplace) loss(y float64) Loss { return Loss{y, 4 * ulp * (math.Abs(y) + l.Shift)} }
