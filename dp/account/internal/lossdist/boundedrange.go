package lossdist

import "math"

// BoundedRange is the pair whose hockey-stick divergences are, at every factor, the
// largest of all pairs whose losses lie within an interval of length Epsilon. Its loss
// has density e^((y-Epsilon)/2)/(2(1-e^-Epsilon)) under the first law on
// [-Epsilon, Epsilon]: it is the loss of a Laplace pair without the two ends.
type BoundedRange struct{ Epsilon float64 }

// Cuts implements [Law].
func (l BoundedRange) Cuts(Tails) []float64 {
	return uniformCuts(-l.Epsilon, l.Epsilon, coarse, 0)
}

// Bins implements [Law].
func (l BoundedRange) Bins(cuts []float64) *Bins {
	b := &Bins{MassError: ulp * (32 + 4*l.Epsilon)}
	for _, y := range cuts {
		b.Knot = append(b.Knot, l.loss(y))
	}
	all := -math.Expm1(-l.Epsilon)
	for i, y := range cuts[1:] {
		x := cuts[i]
		width := math.Expm1((y-x)/2) / all
		b.Cell = append(b.Cell, Cell{
			P: math.Exp((x-l.Epsilon)/2) * width, Q: math.Exp((-y-l.Epsilon)/2) * width,
			Mid: l.loss(x + (y-x)/2), Base: i,
		})
	}
	return b
}

func (l BoundedRange) loss(y float64) Loss { return Loss{y, 4 * ulp * (math.Abs(y) + l.Epsilon)} }

// Odds is a choice between two candidates whose losses are top > 0 and
// top-epsilon < 0: a pair of bounded range epsilon that neighbours can have.
func Odds(epsilon, top float64) Atoms {
	all := -math.Expm1(-epsilon)
	p := -math.Expm1(top-epsilon) / all
	rest := math.Exp(-epsilon) * math.Expm1(top) / all
	slack := 8 * ulp * epsilon
	return Atoms{
		{P: p, Q: p * math.Exp(-top), Loss: Loss{top, slack}},
		{P: rest, Q: rest * math.Exp(epsilon-top), Loss: Loss{top - epsilon, slack}},
	}
}
