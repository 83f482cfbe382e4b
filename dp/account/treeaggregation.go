package account

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// treeSquare brackets the largest squared l2 distance of the vector of all nodes between two
// persons' absence and presence, in clip norms of one step: the sum over nodes of the squared
// number of the person's steps below (docs/proofs/accounting.md, section 1).
//
// On a level whose nodes hold 2^k steps, steps that are next to each other fill whole nodes first,
// and no other choice has a larger sum of squares. In one tree the first steps do so on all levels
// simultaneously. With several trees the upper end maximises each level separately, and the lower
// end fills one tree after the other.
func treeSquare(e dp.TreeAggregation) Bracket {
	trees := e.Restarts + 1
	var b Bracket
	for width := int64(1); width <= e.Steps; width *= 2 {
		b.Upper = xmath.AddUp(b.Upper, levelSquare(width, trees*(e.Steps/width), e.Participations).Upper)
		full := e.Participations / e.Steps
		if full > 0 {
			one := levelSquare(width, e.Steps/width, e.Steps).Lower
			b.Lower = xmath.AddDown(b.Lower, xmath.MulDown(counted(full).Lower, one))
		}
		if rest := e.Participations % e.Steps; rest > 0 {
			b.Lower = xmath.AddDown(b.Lower, levelSquare(width, e.Steps/width, rest).Lower)
		}
	}
	return Bracket{max(b.Lower, 0), b.Upper}
}

// levelSquare is the largest sum of squared numbers of steps over the nodes of one width. Some
// steps may belong to no node.
func levelSquare(width, nodes, steps int64) Bracket {
	filled, rest := steps/width, steps%width
	if filled >= nodes {
		filled, rest = nodes, 0
	}
	w, r, n := counted(width), counted(rest), counted(filled)
	return Bracket{
		xmath.AddDown(xmath.MulDown(n.Lower, xmath.MulDown(w.Lower, w.Lower)), xmath.MulDown(r.Lower, r.Lower)),
		xmath.AddUp(xmath.MulUp(n.Upper, xmath.MulUp(w.Upper, w.Upper)), xmath.MulUp(r.Upper, r.Upper)),
	}
}

// treeMuSquare brackets mu^2 of count runs of a tree.
func treeMuSquare(adj dp.Adjacency, e dp.TreeAggregation, count int64) Bracket {
	one, distance := gaussianSquare(adj, dp.Gaussian{NoiseMultiplier: e.NoiseMultiplier}, 1), treeSquare(e)
	return runs(Bracket{max(xmath.MulDown(one.Lower, distance.Lower), 0), xmath.MulUp(one.Upper, distance.Upper)}, count)
}
