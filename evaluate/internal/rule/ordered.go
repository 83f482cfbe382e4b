package rule

import "slices"

// span is the first and the last action that may be taken.
type span struct{ first, last int }

func (s span) largest(x []float64) int { return s.first + largest(x[s.first:s.last+1]) }

// pair are the best actions of the two sides of a question about a covariate, of what is allowed
// on each, that fit where that is asked for, and false where there are none.
func (g Grid) pair(covariate int, left, right []float64, of [2]span, atLeast float64, fits func(l, r int) bool) (l, r int, ok bool) {
	if of[0].first > of[0].last || of[1].first > of[1].last {
		return 0, 0, false // what is beside allows no such question
	}
	l, r = of[0].largest(left), of[1].largest(right)
	order := g.order(covariate)
	if left[l]+right[r] <= atLeast {
		return l, r, false
	}
	if order*(r-l) >= 0 && (fits == nil || fits(l, r)) {
		return l, r, true
	}
	for a := of[0].first; a <= of[0].last; a++ {
		for b := of[1].first; b <= of[1].last; b++ {
			if s := left[a] + right[b]; order*(b-a) >= 0 && s > atLeast && (fits == nil || fits(a, b)) {
				l, r, atLeast, ok = a, b, s, true
			}
		}
	}
	return l, r, ok
}

// region is a box of bins, from the first up to before the last of each covariate, in which an
// action is taken.
type region struct {
	first, last []int
	action      int
}

func (r region) empty() bool {
	for j, first := range r.first {
		if first >= r.last[j] {
			return true
		}
	}
	return false
}

// precedes tells whether a point of r lies below a point of o that differs from it in a
// covariate alone. Boxes that are apart do where they overlap in all others.
func (r region) precedes(o region, covariate int) bool {
	for j := range r.first {
		if j != covariate && (r.first[j] >= o.last[j] || o.first[j] >= r.last[j]) {
			return false
		}
	}
	return r.last[covariate] <= o.first[covariate]
}

// side is a part of a region.
func (r region) side(s Split, right bool) region {
	out := region{slices.Clone(r.first), slices.Clone(r.last), r.action}
	if right {
		out.first[s.Covariate] = max(out.first[s.Covariate], s.Bins)
	} else {
		out.last[s.Covariate] = min(out.last[s.Covariate], s.Bins)
	}
	return out
}

// beside is the region of a node of the level that is added to a tree, and those of all others:
// of nodes that are decided on those of their sides. Nothing where no order has to be kept.
func (g Grid) beside(t, next Tree, node int) (here region, others []region) {
	if g.Order == nil {
		return region{}, nil
	}
	all := []region{{make([]int, g.Covariates()), slices.Repeat([]int{g.Bins}, g.Covariates()), -1}}
	for _, level := range t.Splits {
		var below []region
		for i, s := range level {
			below = append(below, all[i].side(s, false), all[i].side(s, true))
		}
		all = below
	}
	for i, action := range t.Leaves {
		all[i].action = action
	}
	for i, r := range all {
		switch {
		case i == node:
			here = r
		case 2*i < len(next.Leaves):
			s := next.Splits[len(t.Splits)][i]
			left, right := r.side(s, false), r.side(s, true)
			left.action, right.action = next.Leaves[2*i], next.Leaves[2*i+1]
			others = append(others, left, right)
		default:
			others = append(others, r)
		}
	}
	return here, others
}

// span is what may be done in a region beside others; of a node that does one thing, that at least.
func (g Grid) span(here region, others []region) span {
	out := span{0, g.Actions - 1}
	if here.empty() {
		return out
	}
	for _, o := range others {
		if o.empty() || o.action < 0 {
			continue
		}
		for j, order := range g.Order {
			below, above := o.precedes(here, j), here.precedes(o, j)
			if order < 0 {
				below, above = above, below
			}
			if order != 0 && below {
				out.first = max(out.first, o.action)
			}
			if order != 0 && above {
				out.last = min(out.last, o.action)
			}
		}
	}
	return out
}

// sides are the spans of both sides of a question.
func (g Grid) sides(here region, others []region, s Split) [2]span {
	if g.Order == nil {
		all := span{0, g.Actions - 1}
		return [2]span{all, all}
	}
	return [2]span{g.span(here.side(s, false), others), g.span(here.side(s, true), others)}
}
