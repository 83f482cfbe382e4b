package rule

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/policy"
)

// Nodes are those of a policy file: questions both of whose sides do the same are left out, and
// where an action must not be taken the best of the others is.
func (g Grid) Nodes(t Tree, names []string) []policy.Node {
	var write func(level, node int, in ranges) []policy.Node
	write = func(level, node int, in ranges) []policy.Node {
		if level == len(t.Splits) {
			return g.allowed(t.sums[node], t.Leaves[node], 0, in, names)
		}
		s := t.Splits[level][node]
		if s.Bins == 0 {
			return write(level+1, 2*node+1, in)
		}
		at := g.Threshold(s.Covariate, s.Bins)
		within := in[s.Covariate]
		if t.drawn && at >= within[1] { // a level above asked for less
			return write(level+1, 2*node, in)
		}
		if t.drawn && at <= within[0] {
			return write(level+1, 2*node+1, in)
		}
		left, right := write(level+1, 2*node, in.upTo(s.Covariate, at)), write(level+1, 2*node+1, in.above(s.Covariate, at))
		if t.drawn {
			return shorter(names[s.Covariate], at, left, right)
		}
		return question(names[s.Covariate], at, left, right)
	}
	return write(0, 0, everywhere(g.Covariates()))
}

// allowed are the nodes of a leaf: its action where that may be taken.
func (g Grid) allowed(sums []float64, action int, banned uint8, in ranges, names []string) []policy.Node {
	for _, p := range g.Never {
		r := in[p.Covariate]
		switch {
		case p.Action != action || p.AtMost <= r[0] || p.Above >= r[1]:
		case p.Above > r[0]:
			return question(names[p.Covariate], p.Above, g.allowed(sums, action, banned, in.upTo(p.Covariate, p.Above), names), g.allowed(sums, action, banned, in.above(p.Covariate, p.Above), names))
		case p.AtMost < r[1]:
			return question(names[p.Covariate], p.AtMost, g.allowed(sums, action, banned, in.upTo(p.Covariate, p.AtMost), names), g.allowed(sums, action, banned, in.above(p.Covariate, p.AtMost), names))
		default:
			banned |= 1 << action
			return g.allowed(sums, best(sums, banned), banned, in, names)
		}
	}
	return []policy.Node{leaf(action, g.Actions)}
}

// best is the action with the largest sum that is not banned, the first of several.
func best(sums []float64, banned uint8) int {
	at := -1
	for a, v := range sums {
		if banned>>a&1 == 0 && (at < 0 || v > sums[at]) {
			at = a
		}
	}
	return at
}

// ranges are, for each covariate, the number that it is above and that it is at most.
type ranges [][2]float64

func everywhere(covariates int) ranges {
	return slices.Repeat(ranges{{math.Inf(-1), math.Inf(1)}}, covariates)
}

func (r ranges) upTo(covariate int, x float64) ranges {
	out := slices.Clone(r)
	out[covariate][1] = min(out[covariate][1], x)
	return out
}

func (r ranges) above(covariate int, x float64) ranges {
	out := slices.Clone(r)
	out[covariate][0] = max(out[covariate][0], x)
	return out
}

// TableNodes are those of tables over states that are numbered in a column, one for each decision of an
// episode, the last for all later ones too. Of one table nobody asks which decision it is.
func TableNodes(column string, of [][]int, actions int) []policy.Node {
	alike := func(s, other int) bool {
		return !slices.ContainsFunc(of, func(at []int) bool { return at[s] != at[other] })
	}
	var write func(from, to int) []policy.Node
	write = func(from, to int) []policy.Node {
		same := true
		for s := from + 1; s < to && same; s++ {
			same = alike(from, s)
		}
		if same {
			return stepNodes(of, from, actions)
		}
		middle := (from + to) / 2
		return question(column, float64(middle)-0.5, write(from, middle), write(middle, to))
	}
	return write(0, len(of[0]))
}

// stepNodes are those of one state.
func stepNodes(of [][]int, state, actions int) []policy.Node {
	t := len(of) - 1
	out := []policy.Node{leaf(of[t][state], actions)}
	for t--; t >= 0; t-- {
		if a := of[t][state]; a != of[t+1][state] {
			out = question("", float64(t)+0.5, []policy.Node{leaf(a, actions)}, out)
			out[0].Step = true
		}
	}
	return out
}

func leaf(action, actions int) policy.Node {
	n := policy.Node{Probs: make([]float64, actions)}
	n.Probs[action] = 1
	return n
}

// shorter is a question, or the side of it that asks about the same covariate and does the same
// beyond it.
func shorter(name string, threshold float64, left, right []policy.Node) []policy.Node {
	if r := right[0]; r.Input == name && len(left) == 1 && slices.Equal(left[0].Probs, right[r.Left].Probs) {
		return right
	}
	if l := left[0]; l.Input == name && len(right) == 1 && slices.Equal(right[0].Probs, left[l.Right].Probs) {
		return left
	}
	return question(name, threshold, left, right)
}

// question joins two trees, whose nodes are numbered from their own roots.
func question(name string, threshold float64, left, right []policy.Node) []policy.Node {
	if len(left) == 1 && len(right) == 1 && slices.Equal(left[0].Probs, right[0].Probs) {
		return left
	}
	out := []policy.Node{{Input: name, Threshold: &threshold, Left: 1, Right: 1 + len(left)}}
	for i, part := range [][]policy.Node{left, right} {
		by := 1 + i*len(left)
		for _, n := range part {
			if n.Probs == nil {
				n.Left, n.Right = n.Left+by, n.Right+by
			}
			out = append(out, n)
		}
	}
	return out
}
