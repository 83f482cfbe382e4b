package lossdist

import (
	"math"
	"slices"
)

// Branch is a pair of laws that occurs with probability Weight, or at most that. Shape and Rate are those of
// a [Part].
type Branch struct {
	Law          Law
	Shape        func(*Bins) *Bins
	Rate, Weight float64
}

// Either is the pair of a choice among branches that is the same under both laws and is seen: each
// hockey-stick divergence is the weighted sum of the branches'. All branches are cut at the same points.
type Either []Branch

// Cuts implements [Law].
func (e Either) Cuts(t Tails) []float64 {
	var cuts []float64
	for _, b := range e {
		cuts = append(cuts, b.Law.Cuts(Tails{Mass: t.Mass / b.Weight, Rate: b.Rate})...)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// Bins implements [Law].
func (e Either) Bins(cuts []float64) *Bins {
	out := &Bins{}
	for i, branch := range e {
		b := branch.Law.Bins(cuts)
		if branch.Shape != nil {
			b = branch.Shape(b)
		}
		if i > 0 {
			out.Cell = append(out.Cell, Cell{Base: -1}) // of no mass, between the last loss of one and the first of the next
		}
		for _, c := range b.Cell {
			c.P, c.Q = c.P*branch.Weight, c.Q*branch.Weight
			out.Cell = append(out.Cell, c)
		}
		for _, a := range b.Atom {
			a.P, a.Q = a.P*branch.Weight, a.Q*branch.Weight
			out.Atom = append(out.Atom, a)
		}
		out.Knot = append(out.Knot, b.Knot...)
		out.MassError = math.Max(out.MassError, b.MassError+2*ulp)
	}
	return out
}
