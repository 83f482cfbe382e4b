package rule

import (
	"slices"

	"github.com/discreet-rl/discreet/rl/policy"
)

// Nodes are those of a policy file: questions both of whose sides do the same are left out.
func (g Grid) Nodes(t Tree, names []string) []policy.Node {
	var write func(level, node int) []policy.Node
	write = func(level, node int) []policy.Node {
		if level == len(t.Splits) {
			return []policy.Node{leaf(t.Leaves[node], g.Actions)}
		}
		s := t.Splits[level][node]
		if s.Bins == 0 {
			return write(level+1, 2*node+1)
		}
		return question(names[s.Covariate], g.Threshold(s.Covariate, s.Bins), write(level+1, 2*node), write(level+1, 2*node+1))
	}
	return write(0, 0)
}

// TableNodes are those of a table over states that are numbered in a column.
func TableNodes(column string, of []int, actions int) []policy.Node {
	var write func(from, to int) []policy.Node
	write = func(from, to int) []policy.Node {
		if !slices.ContainsFunc(of[from:to], func(a int) bool { return a != of[from] }) {
			return []policy.Node{leaf(of[from], actions)}
		}
		middle := (from + to) / 2
		return question(column, float64(middle)-0.5, write(from, middle), write(middle, to))
	}
	return write(0, len(of))
}

func leaf(action, actions int) policy.Node {
	n := policy.Node{Probs: make([]float64, actions)}
	n.Probs[action] = 1
	return n
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
