package rule

import (
	"math"
	"slices"
)

// sure is by how many standard deviations fewer are treated than may be.
const sure = 2

// share is how many persons are treated of how many, with the variances of their noise.
type share struct{ treated, treatedVar, all, allVar float64 }

// within tells whether so small a share is treated: noise, and that the
// persons are a sample, allowed for.
func (s share) within(most float64) bool {
	chance := s.treatedVar + most*most*s.allVar + max(s.all, 0)*most*(1-most)
	return s.treated+sure*math.Sqrt(chance) <= most*s.all || s.treatedVar == 0
}

// less are the gains where each person who gets another action than the first costs something.
func less(s Sums, price float64, actions int) []float64 {
	out := slices.Clone(s.Gains)
	for i := range out {
		if i%actions > 0 {
			out[i] -= price * s.Persons[i/actions]
		}
	}
	return out
}

// cheapest is what is made at the least price of treatment at which few enough are treated, or
// nobody is; the price is found by halving.
func cheapest[T any](s Sums, at func(price float64) (T, bool), nobody T) T {
	made, ok := at(0)
	low, high := 0.0, 0x1p-12*s.GainSD/s.PersonsSD
	for i := 0; !ok; i++ {
		if i == 48 {
			return nobody
		}
		if made, ok = at(high); !ok {
			low, high = high, 2*high
		}
	}
	for range 24 {
		middle := (low + high) / 2
		if m, fits := at(middle); fits {
			made, high = m, middle
		} else {
			low = middle
		}
	}
	return made
}

// counting is the grid of the numbers of persons.
func (g Grid) counting() Grid {
	g.Actions = 1
	return g
}

// afforded is a tree with a level more that treats few enough: the one at the least price that
// does, each of whose nodes then asks what gains most of what still fits.
func (g Grid) afforded(t Tree, s Sums) Tree {
	nobody := g.grown(t, s.Gains, s.GainSD)
	clear(nobody.Leaves)
	next := cheapest(s, func(price float64) (Tree, bool) {
		next := g.grown(t, less(s, price, g.Actions), s.GainSD)
		return next, g.affords(next, s)
	}, nobody)
	level := next.Splits[len(t.Splits)]
	for node, split := range level {
		now := asked{split, [2]int(next.Leaves[2*node:]), [2][]float64(next.sums[2*node:])}
		gain := g.gain(s, node, now)
		if split.Bins == 0 {
			gain += g.doubt(s.GainSD)
		}
		here, others := g.beside(t, next, node)
		put := func(a asked) {
			level[node] = a.split
			copy(next.Leaves[2*node:], a.actions[:])
			copy(next.sums[2*node:], a.sums[:])
		}
		put(g.ask(s.Gains, node, here, others, now, gain, func(a asked) bool {
			put(a)
			return g.affords(next, s)
		}))
	}
	return next
}

// gain is what a node's question gains.
func (g Grid) gain(s Sums, node int, a asked) float64 {
	right := g.side(s.Gains, node, a.split.Covariate)
	left := 0.0
	for bin := range a.split.Bins {
		left += s.Gains[g.Cell(node, a.split.Covariate, bin, a.actions[0])]
		right[a.actions[1]] -= s.Gains[g.Cell(node, a.split.Covariate, bin, a.actions[1])]
	}
	return left + right[a.actions[1]]
}

// affords tells whether a tree's last level treats few enough by the numbers of persons.
func (g Grid) affords(t Tree, s Sums) bool {
	c, n := g.counting(), share{}
	level, bins := len(t.Splits)-1, float64(g.Bins)
	one := s.PersonsSD * s.PersonsSD
	for node, split := range t.Splits[level] {
		whole := c.total(s.Persons, node)[0]
		n.all, n.allVar = n.all+whole, n.allVar+one*bins/float64(g.Covariates())
		first, last := 0, split.Bins // of the bins that are treated
		switch l, r := t.Leaves[2*node] > 0, t.Leaves[2*node+1] > 0; {
		case r && (l || split.Bins == 0):
			last = g.Bins
		case r:
			first, last = split.Bins, g.Bins
		case !l:
			last = 0
		}
		for bin := first; bin < last; bin++ {
			n.treated += s.Persons[c.Cell(node, split.Covariate, bin, 0)]
		}
		width := float64(last - first)
		n.treatedVar += one * width * (1 - width/bins*(1-1/float64(g.Covariates())))
	}
	return n.within(g.Treated)
}
