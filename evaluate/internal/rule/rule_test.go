package rule_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// chosen is the action that a policy file's tree takes.
func chosen(t interface{ Fatal(...any) }, names []string, nodes []policy.Node, x []float64, actions int) int {
	p, err := policy.NewTree(names, nodes, false)
	if err != nil {
		t.Fatal(err)
	}
	rows := len(x) / len(names)
	d := &trajectory.Dataset{Columns: names, Obs: x, Action: make([]int32, rows), PersonStart: []int{0, 1}, EpisodeStart: []int{0, rows}, Reward: make([]float64, rows)}
	b, err := p.Bind(d)
	if err != nil {
		t.Fatal(err)
	}
	for a := range actions {
		d.Action[rows-1] = int32(a)
		if v, ok := b.Prob(rows - 1); ok && v == 1 {
			return a
		}
	}
	return -1
}

// TestAFileDoesAsTheTree: whatever the sums, and wherever an observation lies, at a threshold and
// beyond the range too.
func TestAFileDoesAsTheTree(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := rule.Grid{Lows: []float64{-1, 20}, Highs: []float64{2, 80}, Bins: rapid.IntRange(2, 6).Draw(r, "bins"), Actions: rapid.IntRange(2, 3).Draw(r, "actions")}
		names := []string{"obs_a", "obs_b"}
		var tree rule.Tree
		for level := range rapid.IntRange(1, 3).Draw(r, "depth") {
			n := g.Cells(1 << level)
			g.Grow(&tree, rule.Sums{Gains: rapid.SliceOfN(rapid.Float64Range(-50, 50), n, n).Draw(r, "sums"), GainSD: rapid.SampledFrom([]float64{0, 10}).Draw(r, "sd")})
		}
		x := make([]float64, 2)
		bins := make([]int, 2)
		for j := range x {
			x[j] = rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Custom(func(r *rapid.T) float64 { return g.Threshold(j, rapid.IntRange(0, g.Bins).Draw(r, "at")) })).Draw(r, "x")
			bins[j] = g.Bin(j, x[j])
		}
		if got, want := chosen(r, names, g.Nodes(tree, names), x, g.Actions), tree.Leaves[tree.Node(bins)]; got != want {
			r.Fatalf("at %v the file takes %d and the tree %d", x, got, want)
		}
	})
}

// TestATableDoesAsItsLists at every decision, and a state alone is its own leaf.
func TestATableDoesAsItsLists(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		states := rapid.IntRange(1, 12).Draw(r, "states")
		of := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 2), states, states), 1, 5).Draw(r, "actions")
		nodes := rule.TableNodes("obs_state", of, 3)
		for step := range 7 {
			for s, want := range of[min(step, len(of)-1)] {
				if got := chosen(r, []string{"obs_state"}, nodes, slices.Repeat([]float64{float64(s)}, step+1), 3); got != want {
					r.Fatalf("in state %d at step %d the file takes %d; want %d of %v", s, step, got, want, of)
				}
			}
		}
	})
	if got := (rule.Limits{}).Table(rule.Sums{Gains: []float64{1, 2, 5, -1, 0, 0}}, 2); !slices.Equal(got, []int{1, 0, 0}) {
		t.Errorf("%v; want the largest of each state", got)
	}
}

// TestTheBestQuestionIsAsked: of sums without noise, the one that is worked out by hand; and
// none where none is better.
func TestTheBestQuestionIsAsked(t *testing.T) {
	g := rule.Grid{Lows: []float64{0, 0}, Highs: []float64{4, 4}, Bins: 4, Actions: 2}
	sums := make([]float64, g.Cells(1))
	set := func(j, bin int, first, second float64) {
		sums[g.Cell(0, j, bin, 0)], sums[g.Cell(0, j, bin, 1)] = first, second
	}
	for bin, v := range []float64{3, 2, 1, -6} { // action 0 below 3, action 1 above
		set(0, bin, v, -v)
	}
	var tree rule.Tree
	g.Grow(&tree, rule.Sums{Gains: sums})
	if s := tree.Splits[0][0]; s != (rule.Split{Covariate: 0, Bins: 3}) || !slices.Equal(tree.Leaves, []int{0, 1}) {
		t.Errorf("asked %+v, leaves %v; want covariate 0 in its first 3 bins, 0 and 1", s, tree.Leaves)
	}
	var plain rule.Tree
	g.Grow(&plain, rule.Sums{Gains: sums, GainSD: 100}) // noise that drowns all of it
	if s := plain.Splits[0][0]; s.Bins != 0 || plain.Leaves[0] != plain.Leaves[1] {
		t.Errorf("of noise alone it asks %+v, leaves %v", s, plain.Leaves)
	}
}
