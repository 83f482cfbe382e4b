package rule_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/rl/policy"
)

// The total of every candidate is what rows add up to that its tree, as a policy file, would treat
// as they were treated; all candidates of one level are different rules, and the numbers of two
// levels are those of every question with a tree on each side.
func TestTotalsAreThoseOfTheRules(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, levels := range []int{1, 2} {
		g := rule.Grid{Lows: []float64{0, 0}, Highs: []float64{1, 1}, Bins: 3, Actions: 3}
		g.Never = []rule.Prohibition{{Action: 0, Covariate: 1, Above: 0.4, AtMost: 1}}
		names := []string{"obs_a", "obs_b"}
		type row struct {
			x      []float64
			action int
			adds   int64
		}
		var rows []row
		tallies := make([]int64, g.Tallies(levels))
		for range 60 {
			w := row{[]float64{r.Float64(), r.Float64()}, r.IntN(3), r.Int64N(9) - 4}
			rows = append(rows, w)
			for wanted := range g.Actions {
				if g.Instead(wanted, g.Banned(w.x)) == w.action {
					g.Tally(levels, []int{g.Bin(0, w.x[0]), g.Bin(1, w.x[1])}, wanted, func(at int) { tallies[at] += w.adds })
				}
			}
		}
		totals := g.Totals(levels, tallies)
		if len(totals) != g.Candidates(levels) || levels == 1 && len(totals) != 3+4*6 || levels == 2 && len(totals) != 4*27*27 {
			t.Fatalf("%d levels: %d totals of %d candidates", levels, len(totals), g.Candidates(levels))
		}
		for number, total := range totals {
			var tree rule.Tree
			g.Draw(&tree, levels, []int{number})
			nodes, want := g.Nodes(tree, names), int64(0)
			if needless(nodes, 0, map[string][2]float64{}) {
				t.Fatalf("candidate %d asks what is known, or for the same: %+v", number, nodes)
			}
			for _, w := range rows {
				if chosen(t, names, nodes, w.x, g.Actions) == w.action {
					want += w.adds
				}
			}
			if total != want {
				t.Fatalf("%d levels, candidate %d: %d; its rule has %d: %+v", levels, number, total, want, tree)
			}
		}
	}
	g := rule.Grid{Lows: []float64{0}, Highs: []float64{1}, Bins: 4, Actions: 3}
	var seen []string
	for number := range g.Candidates(1) {
		var tree rule.Tree
		g.Draw(&tree, 1, []int{number})
		text := ""
		for bin := range 4 {
			text += string(rune('0' + tree.Leaves[tree.Node([]int{bin})]))
		}
		if slices.Contains(seen, text) {
			t.Errorf("candidate %d is a rule that is there: %s", number, text)
		}
		seen = append(seen, text)
	}
}

// needless tells whether a question below a node has one answer for all who reach it, or two answers
// that do the same.
func needless(nodes []policy.Node, at int, in map[string][2]float64) bool {
	n := nodes[at]
	if n.Threshold == nil {
		return false
	}
	if l, r := nodes[n.Left], nodes[n.Right]; l.Probs != nil && slices.Equal(l.Probs, r.Probs) {
		return true
	}
	r, ok := in[n.Input]
	if !ok {
		r = [2]float64{math.Inf(-1), math.Inf(1)}
	}
	below, above := maps.Clone(in), maps.Clone(in)
	below[n.Input], above[n.Input] = [2]float64{r[0], *n.Threshold}, [2]float64{*n.Threshold, r[1]}
	return *n.Threshold <= r[0] || *n.Threshold >= r[1] || needless(nodes, n.Left, below) || needless(nodes, n.Right, above)
}
