package policy_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestRatioBoundOfTreesIsThatOfAllObservations: of two trees over whole numbers and the number of the decision, the
// three numbers are those of what both do at every observation there is.
func TestRatioBoundOfTreesIsThatOfAllObservations(t *testing.T) {
	const actions, decisions = 3, 4
	d := &trajectory.Dataset{Columns: []string{"obs_x", "obs_y"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	of := []float64{0, 1, 2, 3}
	for _, x := range of {
		for _, y := range of {
			for range decisions {
				d.Obs, d.Action, d.Reward = append(d.Obs, x, y), append(d.Action, 0), append(d.Reward, 0)
			}
			d.EpisodeStart = append(d.EpisodeStart, len(d.Action))
			d.PersonStart = append(d.PersonStart, len(d.EpisodeStart)-1)
		}
	}
	columns := []string{"obs_y", "obs_x"} // not in the order of the data
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) policy.Policy {
			var nodes []policy.Node
			var grow func(depth int) int
			grow = func(depth int) int {
				at := len(nodes)
				nodes = append(nodes, policy.Node{})
				if depth == 0 || rapid.IntRange(0, 3).Draw(t, name) == 0 {
					nodes[at] = policy.Node{Probs: distribution(t, actions, name)}
					return at
				}
				threshold := float64(rapid.IntRange(0, 2).Draw(t, name)) + 0.5
				n := policy.Node{Threshold: &threshold}
				if k := rapid.IntRange(0, 2).Draw(t, name); k < 2 {
					n.Input = columns[k]
				} else {
					n.Step = true
				}
				n.Left = grow(depth - 1)
				n.Right = grow(depth - 1)
				nodes[at] = n
				return at
			}
			grow(3)
			return must(policy.NewTree(columns, nodes, false))
		}
		pi, b := draw("pi"), draw("b")
		boundPi, boundB := must(pi.Bind(d)), must(b.Bind(d))
		ratio, square, supported := 0.0, 0.0, true
		p, q := make([]float64, actions), make([]float64, actions)
		for row := range d.Action {
			if !boundPi.Distribution(p, row) || !boundB.Distribution(q, row) {
				t.Fatalf("row %d cannot be read", row)
			}
			sum := 0.0
			for a := range p {
				if q[a] > 0 {
					ratio, sum = max(ratio, p[a]/q[a]), sum+p[a]*p[a]/q[a]
				}
				supported = supported && (p[a] == 0 || q[a] > 0)
			}
			square = max(square, sum)
		}
		got, ok := policy.BoundRatios(pi, b)
		if !ok || math.Abs(got.Ratios[0]-ratio) > 1e-9 || got.Ratios[0] < ratio || math.Abs(got.Squares[0]-square) > 1e-9 || got.Supported != supported {
			t.Fatalf("%+v; want ratio %v, square %v, supported %v", got, ratio, square, supported)
		}
	})
}

// TestTreesOfOtherPrecisionMeetEverywhere: 0.1 is above 0.1 where it is rounded to single precision, and only there.
func TestTreesOfOtherPrecisionMeetEverywhere(t *testing.T) {
	tenth := 0.1
	at := func(single bool, below, above []float64) policy.Policy {
		return must(policy.NewTree([]string{"obs_x"}, []policy.Node{{Input: "obs_x", Threshold: &tenth, Left: 1, Right: 2}, {Probs: below}, {Probs: above}}, single))
	}
	drawn, pi := at(false, []float64{0.25, 0.75}, []float64{0.5, 0.5}), []float64{1, 0}
	for single, want := range map[bool]float64{true: 4, false: 2} {
		if got, ok := policy.BoundRatios(at(single, []float64{0, 1}, pi), drawn); !ok || got.Ratios[0] < want || got.Ratios[0] > want+1e-9 {
			t.Errorf("single precision %v: %+v; want a ratio of %v", single, got, want)
		}
	}
}

// TestUsualRatioOfTrees: of two trees that each ask once, about the same column or about two, the usual mean square is the mean
// over the pairs of leaves that an observation may be in.
func TestUsualRatioOfTrees(t *testing.T) {
	stump := func(column string, threshold, low, high float64) policy.Policy {
		return must(policy.NewTree([]string{"obs_x", "obs_y"}, []policy.Node{{Input: column, Threshold: &threshold, Left: 1, Right: 2},
			{Probs: []float64{low, 1 - low}}, {Probs: []float64{high, 1 - high}}}, false))
	}
	square := func(p, b float64) float64 { return p*p/b + (1-p)*(1-p)/(1-b) }
	for name, c := range map[string]struct {
		behaviour policy.Policy
		want      float64
	}{
		"of another column":     {stump("obs_y", 0, 0.5, 0.2), (square(0.9, 0.5) + square(0.9, 0.2) + square(0.1, 0.5) + square(0.1, 0.2)) / 4},
		"of another threshold":  {stump("obs_x", 1, 0.5, 0.2), (square(0.9, 0.5) + square(0.1, 0.5) + square(0.1, 0.2)) / 3},
		"of the same threshold": {stump("obs_x", 0, 0.5, 0.2), (square(0.9, 0.5) + square(0.1, 0.2)) / 2},
	} {
		found, ok := policy.BoundRatios(stump("obs_x", 0, 0.9, 0.1), c.behaviour)
		if !ok || math.Abs(found.Usual[0]-c.want) > 1e-9 {
			t.Errorf("%s: usual %v; want %v", name, found.Usual, c.want)
		}
	}
}
