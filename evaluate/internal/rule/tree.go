package rule

import (
	"math"
	"slices"
)

// Grid says where a tree may split: at equal steps of the public range of each covariate.
type Grid struct {
	// Lows and Highs are the ends of the ranges.
	Lows, Highs []float64
	// Bins is into how many parts each range is cut.
	Bins int
	// Actions is the number of actions.
	Actions int
	Limits
}

// Covariates is their number.
func (g Grid) Covariates() int { return len(g.Lows) }

// Threshold is where the given number of bins end.
func (g Grid) Threshold(covariate, bins int) float64 {
	low, high := g.Lows[covariate], g.Highs[covariate]
	return low + (high-low)*float64(bins)/float64(g.Bins)
}

// Bin is that of a value: the number of thresholds below it, so that a value at a threshold
// lies on the side on which a tree's question puts it.
func (g Grid) Bin(covariate int, x float64) int {
	bin := 0
	for bin < g.Bins-1 && x > g.Threshold(covariate, bin+1) {
		bin++
	}
	return bin
}

// Cells is the length of the sums for so many nodes.
func (g Grid) Cells(nodes int) int { return nodes * g.Covariates() * g.Bins * g.Actions }

// Cell is the place of a node, a covariate, its bin and an action.
func (g Grid) Cell(node, covariate, bin, action int) int {
	return ((node*g.Covariates()+covariate)*g.Bins+bin)*g.Actions + action
}

// Split is a question: whether a covariate lies in its first Bins bins. Of 0 bins nothing is
// asked, and everybody goes to the right.
type Split struct{ Covariate, Bins int }

// Tree is a complete tree: the questions of all levels, the root first, and of each leaf, from
// left to right, its action and the sums by action that it follows from.
type Tree struct {
	Splits [][]Split
	Leaves []int
	sums   [][]float64
	drawn  bool
}

// Node is where bins lead on the level below all questions.
func (t Tree) Node(bins []int) int {
	node := 0
	for _, level := range t.Splits {
		s := level[node]
		node *= 2
		if bins[s.Covariate] >= s.Bins {
			node++
		}
	}
	return node
}

// clearly is by how many standard deviations of the noise of a node's sum a question must be
// better than none: there are many questions, and the best of them is so by chance.
const clearly = 0.5

// doubt is how much better a question must be than none.
func (g Grid) doubt(sd float64) float64 { return clearly * sd * math.Sqrt(float64(g.Bins)) }

// Sums are noisy sums of a level, or of a table: by cell, of gains, and under a limit on who is
// treated of persons, with the standard deviations of the noise of a cell.
type Sums struct {
	Gains, Persons    []float64
	GainSD, PersonsSD float64
}

// Grow adds a level: of every node the question whose two sides, each under its best action,
// have the largest sums; ties go to the first. Where no question is clearly better than none,
// the node keeps the action that the level above gave it, or under a limit on who is treated
// takes the best.
func (g Grid) Grow(t *Tree, noisy Sums) {
	s := noisy
	s.Gains, s.Persons = slices.Clone(noisy.Gains), slices.Clone(noisy.Persons)
	for node := range 1 << len(t.Splits) {
		g.agree(s.Gains, node)
		if g.Treated > 0 {
			g.counting().agree(s.Persons, node)
		}
	}
	if g.Treated > 0 {
		*t = g.afforded(*t, s)
	} else {
		*t = g.grown(*t, s.Gains, s.GainSD)
	}
}

// grown is a tree with a level more.
func (g Grid) grown(t Tree, sums []float64, sd float64) Tree {
	next := Tree{Splits: append(slices.Clone(t.Splits), nil)}
	level := &next.Splits[len(t.Splits)]
	for node := range 1 << len(t.Splits) {
		whole := g.total(sums, node)
		here, others := g.beside(t, next, node)
		top := g.span(here, others).largest(whole)
		kept := asked{actions: [2]int{top, top}, sums: [2][]float64{whole, whole}}
		if t.Leaves != nil && g.Treated == 0 {
			kept.actions, kept.sums = [2]int{t.Leaves[node], t.Leaves[node]}, [2][]float64{t.sums[node], t.sums[node]}
		}
		q := g.ask(sums, node, here, others, kept, whole[top]+g.doubt(sd), nil)
		*level = append(*level, q.split)
		next.Leaves, next.sums = append(next.Leaves, q.actions[:]...), append(next.sums, q.sums[:]...)
	}
	return next
}

// asked is a question, and of its sides the actions and the sums by action.
type asked struct {
	split   Split
	actions [2]int
	sums    [2][]float64
}

// ask is the question with the largest sums above those of what there is, of all that fit.
func (g Grid) ask(sums []float64, node int, here region, others []region, kept asked, above float64, fits func(asked) bool) asked {
	for j := range g.Covariates() {
		left, right := make([]float64, g.Actions), g.side(sums, node, j)
		for bins := 1; bins < g.Bins; bins++ {
			for a := range g.Actions {
				v := sums[g.Cell(node, j, bins-1, a)]
				left[a] += v
				right[a] -= v
			}
			at := Split{j, bins}
			var fit func(l, r int) bool
			if fits != nil {
				fit = func(l, r int) bool { return fits(asked{split: at, actions: [2]int{l, r}}) }
			}
			if l, r, ok := g.pair(j, left, right, g.sides(here, others, at), above, fit); ok {
				above = left[l] + right[r]
				kept = asked{at, [2]int{l, r}, [2][]float64{slices.Clone(left), slices.Clone(right)}}
			}
		}
	}
	return kept
}

// side is the sum of all bins of a covariate, by action.
func (g Grid) side(sums []float64, node, covariate int) []float64 {
	out := make([]float64, g.Actions)
	for bin := range g.Bins {
		for a := range g.Actions {
			out[a] += sums[g.Cell(node, covariate, bin, a)]
		}
	}
	return out
}

// total is what a node's sides of all covariates have in common: their mean.
func (g Grid) total(sums []float64, node int) []float64 {
	out := make([]float64, g.Actions)
	for j := range g.Covariates() {
		for a, v := range g.side(sums, node, j) {
			out[a] += v / float64(g.Covariates())
		}
	}
	return out
}

// agree changes the cells of each covariate, all by the same, so that they add up to what all
// covariates have in common: noise in which they differ is so far taken out.
func (g Grid) agree(sums []float64, node int) {
	whole := g.total(sums, node)
	for j := range g.Covariates() {
		for a, v := range g.side(sums, node, j) {
			for bin := range g.Bins {
				sums[g.Cell(node, j, bin, a)] -= (v - whole[a]) / float64(g.Bins)
			}
		}
	}
}

// largest is the place of the largest number, the first of several.
func largest(x []float64) int { return slices.Index(x, slices.Max(x)) }
