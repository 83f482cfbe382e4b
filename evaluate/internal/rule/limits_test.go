package rule_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
)

// TestATreeKeepsItsLimits: whatever the sums, at any two points that differ in one covariate the
// actions are in order, nothing is done that must not be, and few enough are treated.
func TestATreeKeepsItsLimits(t *testing.T) {
	names := []string{"obs_a", "obs_b", "obs_c"}
	rapid.Check(t, func(r *rapid.T) {
		g := rule.Grid{Lows: []float64{0, 0, 0}, Highs: []float64{1, 1, 1}, Bins: rapid.IntRange(2, 5).Draw(r, "bins"), Actions: rapid.IntRange(2, 4).Draw(r, "actions")}
		ordered := rapid.Bool().Draw(r, "ordered")
		if ordered {
			g.Order = rapid.SliceOfN(rapid.IntRange(-1, 1), 3, 3).Draw(r, "order")
		}
		g.Treated = rapid.SampledFrom([]float64{0, 0.1, 0.4}).Draw(r, "treated")
		for range rapid.IntRange(0, 3).Draw(r, "never") {
			p := rule.Prohibition{Action: rapid.IntRange(1, g.Actions-1).Draw(r, "action"), Covariate: rapid.IntRange(0, 2).Draw(r, "of"), Above: rapid.Float64Range(0, 0.8).Draw(r, "above"), AtMost: math.Inf(1)}
			if rapid.Bool().Draw(r, "both") {
				p.AtMost = p.Above + 0.2
			}
			if !ordered || g.Actions == 2 && g.Order[p.Covariate] == 0 {
				g.Never = append(g.Never, p)
			}
		}
		var tree rule.Tree
		var s rule.Sums
		for level := range rapid.IntRange(1, 3).Draw(r, "depth") {
			n := g.Cells(1 << level)
			s = rule.Sums{Gains: rapid.SliceOfN(rapid.Float64Range(-50, 50), n, n).Draw(r, "sums"), GainSD: 1}
			if g.Treated > 0 {
				s.Persons, s.PersonsSD = rapid.SliceOfN(rapid.Float64Range(-5, 50), n/g.Actions, n/g.Actions).Draw(r, "persons"), 3
			}
			g.Grow(&tree, s)
		}
		nodes := g.Nodes(tree, names)
		points := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "points"), 0))
		for range 60 {
			x := []float64{points.Float64(), points.Float64(), 1.4*points.Float64() - 0.2}
			one := chosen(r, names, nodes, x, g.Actions)
			if g.Banned(x)>>one&1 == 1 {
				r.Fatalf("action %d is taken at %v, against %+v", one, x, g.Never)
			}
			for j := range g.Order {
				y := slices.Clone(x)
				y[j] += points.Float64()
				if two := chosen(r, names, nodes, y, g.Actions); g.Order[j]*(two-one) < 0 {
					r.Fatalf("%d at %v and %d at %v, where the order of covariate %d is %d: %+v", one, x, two, y, j, g.Order[j], tree)
				}
			}
		}
		if g.Treated > 0 {
			treated, all := counted(g, tree, s.Persons)
			if treated > 1e-9 && treated+1.95*math.Sqrt(max(all, 0)*g.Treated*(1-g.Treated)) > g.Treated*all {
				r.Fatalf("%v of %v are treated; want a share of at most %v with some to spare", treated, all, g.Treated)
			}
		}
	})
}

// counted is how many are treated of how many by the last level's sums, one covariate at a time
// where covariates disagree on how many there are: each side as its share of what all agree on.
func counted(g rule.Grid, t rule.Tree, persons []float64) (treated, all float64) {
	level := t.Splits[len(t.Splits)-1]
	cell := func(node, j, bin int) float64 { return persons[(node*3+j)*g.Bins+bin] }
	for node, s := range level {
		whole, side, here := 0.0, 0.0, 0.0
		for j := range 3 {
			for bin := range g.Bins {
				whole += cell(node, j, bin) / 3
				if j == s.Covariate {
					here += cell(node, j, bin)
					if bin < s.Bins {
						side += cell(node, j, bin)
					}
				}
			}
		}
		side += (whole - here) * float64(s.Bins) / float64(g.Bins)
		all += whole
		for i, n := range []float64{side, whole - side} {
			if t.Leaves[2*node+i] > 0 {
				treated += n
			}
		}
	}
	return treated, all
}

// TestATableIsTheBestThatIsAllowed: of all tables of four states, by trying each. Under a limit
// on who is treated, and without an order, it is at most by one state's gain worse than the best
// (Dantzig 1957).
func TestATableIsTheBestThatIsAllowed(t *testing.T) {
	const states, actions = 4, 3
	rapid.Check(t, func(r *rapid.T) {
		l := rule.Limits{Order: []int{rapid.IntRange(-1, 1).Draw(r, "order")}, Treated: rapid.SampledFrom([]float64{0, 0.3, 0.6}).Draw(r, "treated")}
		for range rapid.IntRange(0, 3).Draw(r, "never") {
			at := float64(rapid.IntRange(0, states-1).Draw(r, "state"))
			l.Never = append(l.Never, rule.Prohibition{Action: rapid.IntRange(1, 2).Draw(r, "action"), Above: at - 1, AtMost: at})
		}
		s := rule.Sums{Gains: rapid.SliceOfN(rapid.Float64Range(-9, 9), states*actions, states*actions).Draw(r, "gains"), GainSD: 1}
		if l.Treated > 0 {
			s.Persons, s.PersonsSD = rapid.SliceOfN(rapid.Float64Range(50, 500), states, states).Draw(r, "persons"), 5
		}
		of := l.Table(s, actions)
		gain := func(of []int) (g, treated, all float64) {
			for state, a := range of {
				if l.Banned([]float64{float64(state)})>>a&1 == 1 || state > 0 && l.Order[0]*(a-of[state-1]) < 0 {
					return math.Inf(-1), 0, 0
				}
				g += s.Gains[state*actions+a]
				if l.Treated > 0 {
					if all += s.Persons[state]; a > 0 {
						treated += s.Persons[state]
					}
				}
			}
			return g, treated, all
		}
		fits := func(treated, all float64, of []int) bool {
			n := 4.0
			for _, a := range of {
				n -= float64(max(1-a, 0))
			}
			return treated == 0 || treated+2*math.Sqrt(25*n+l.Treated*l.Treated*100+all*l.Treated*(1-l.Treated)) <= l.Treated*all
		}
		mine, treated, all := gain(of)
		if math.IsInf(mine, -1) || l.Treated > 0 && !fits(treated, all, of) {
			r.Fatalf("%v against %+v", of, l)
		}
		slack := 1e-9
		if l.Treated > 0 {
			slack = 0
			for state := range states {
				at := s.Gains[state*actions : (state+1)*actions]
				slack = max(slack, slices.Max(at)-slices.Min(at))
			}
		}
		for i := range 81 {
			other := []int{i % 3, i / 3 % 3, i / 9 % 3, i / 27}
			if g, n, _ := gain(other); g > mine+slack && (l.Treated == 0 || l.Order[0] == 0 && fits(n, all, other)) {
				r.Errorf("%v gains %v; %v gains %v", of, mine, other, g)
			}
		}
	})
	if (rule.Limits{Order: []int{1}, Never: []rule.Prohibition{{Action: 0, Above: 0, AtMost: 1}, {Action: 1, Above: 1, AtMost: 2}}}).Possible(3, 2) {
		t.Error("1 in state 1 and 0 in state 2 is in order; want no table")
	}
	open := rule.Grid{Lows: []float64{0, 0}, Highs: []float64{1, 1}, Actions: 2}
	open.Never = []rule.Prohibition{{Action: 0, Above: 0.5, AtMost: 1}, {Action: 1, Above: 0, AtMost: 0.5}}
	if !open.Open() {
		t.Error("each half has one action left; want open")
	}
	if open.Never[1].Covariate = 1; open.Open() {
		t.Error("at (0.6, 0.2) nothing is left; want it found")
	}
}

// TestATreeKeepsItsLimitsBetweenTheirBounds: where sums speak for an action everywhere, it is taken on both
// sides of where it must not be, and at the lower bound, which is not in it.
func TestATreeKeepsItsLimitsBetweenTheirBounds(t *testing.T) {
	g := rule.Grid{Lows: []float64{0}, Highs: []float64{1}, Bins: 2, Actions: 3}
	g.Never = []rule.Prohibition{{Action: 1, Above: 0.2, AtMost: 0.4}, {Action: 1, Above: 0.7, AtMost: math.Inf(1)}, {Action: 2, Above: 0.3, AtMost: 0.35}}
	var tree rule.Tree
	gains := make([]float64, g.Cells(1))
	for bin := range g.Bins {
		gains[g.Cell(0, 0, bin, 1)], gains[g.Cell(0, 0, bin, 2)] = 50, 10
	}
	g.Grow(&tree, rule.Sums{Gains: gains, GainSD: 1})
	nodes := g.Nodes(tree, []string{"obs_a"})
	for x, want := range map[float64]int{0.1: 1, 0.2: 1, 0.25: 2, 0.32: 0, 0.4: 2, 0.41: 1, 0.7: 1, 0.71: 2, 5: 2} {
		if got := chosen(t, []string{"obs_a"}, nodes, []float64{x}, g.Actions); got != want {
			t.Errorf("action %d at %v; want %d", got, x, want)
		}
	}
}
