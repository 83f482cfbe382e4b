package policy

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestBoundDifferenceHolds draws tables over the same states and looks at every state and action:
// the total variation by its definition, half of the summed distances, and the largest weight.
func TestBoundDifferenceHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states, actions := rapid.IntRange(1, 4).Draw(t, "states"), rapid.IntRange(2, 4).Draw(t, "actions")
		draw := func(name string) Table {
			var probs []float64
			for range states {
				row, sum := make([]float64, actions), 0.0
				for a := range row {
					row[a] = rapid.SampledFrom([]float64{0, 0.1, 1, 5}).Draw(t, name)
					sum += row[a]
				}
				if sum == 0 {
					row[0], sum = 1, 1
				}
				for a := range row {
					probs = append(probs, row[a]/sum)
				}
			}
			table, err := NewTable(probs, actions, "state")
			if err != nil {
				t.Fatal(err)
			}
			return table
		}
		p, q, b := draw("p"), draw("q"), draw("b")
		bound, ok := BoundDifference(p, q, b)
		if !ok {
			t.Fatal("tables tell the probabilities of all actions")
		}
		most, square, spread := 1.0, 0.0, 0.0
		var ratios, products [2]float64
		for s := range states {
			far := 0.0
			for a := range actions {
				far += math.Abs(p.row(s)[a]-q.row(s)[a]) / 2
			}
			if far > bound.Distance+1e-12 {
				t.Errorf("state %d: a distance of %v above %v", s, far, bound.Distance)
			}
			for a := range actions {
				drawn := b.row(s)[a]
				if drawn == 0 || bound.Distance == 0 || bound.Weight == 0 {
					continue
				}
				part := math.Abs(p.row(s)[a]-q.row(s)[a]) / drawn / 2 / bound.Distance
				w := part + (bound.Distance-far)/bound.Distance
				most = max(most, w)
				for i, pi := range []float64{p.row(s)[a], q.row(s)[a]} {
					ratios[i] += pi * pi / drawn / float64(states)
					products[i] += pi * w / float64(states)
				}
				square, spread = square+drawn*w*w/float64(states), spread+drawn*part*part/float64(states)
				if w > bound.Weight+1e-9 {
					t.Errorf("state %d, action %d: a weight of %v above %v", s, a, w, bound.Weight)
				}
			}
		}
		if bound.Weight > 0 && (math.Abs(bound.Weight-most) > 1e-8*most || math.Abs(bound.Square-square) > 1e-8*max(square, 1e-6) || math.Abs(bound.Spread-spread) > 1e-8*max(square, 1e-6)) {
			t.Errorf("%+v; want the largest weight %v, and mean squares %v and %v", bound, most, square, spread)
		}
		for i := range bound.Ratios {
			if math.Abs(bound.Ratios[i]-ratios[i]) > 1e-8*max(ratios[i], 1e-6) || math.Abs(bound.Products[i]-products[i]) > 1e-8*max(products[i], 1e-6) {
				t.Errorf("%+v; want mean squares of ratios %v and products %v", bound, ratios, products)
			}
		}
	})
}

// TestBoundDifferenceOfOtherPolicies: two constants never agree, a tree is compared leaf by leaf
// with one that asks the same, with others by the farthest leaves, and what is not listed is
// not compared.
func TestBoundDifferenceOfOtherPolicies(t *testing.T) {
	tree := func(left, right float64) Policy {
		at := 1.0
		out, err := NewTree([]string{"x"}, []Node{{Input: "x", Threshold: &at, Left: 1, Right: 2}, {Probs: []float64{left, 1 - left}}, {Probs: []float64{right, 1 - right}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	zero, one, even := Constant{0}, Constant{1}, Uniform{2}
	for _, c := range []struct {
		p, q     Policy
		distance float64
	}{{zero, one, 1}, {zero, zero, 0}, {zero, even, 0.5}, {tree(0.2, 0.8), tree(0.3, 0.75), 0.1}, {tree(0.2, 0.8), one, 0.8}} {
		if b, ok := BoundDifference(c.p, c.q, even); !ok || math.Abs(b.Distance-c.distance) > 1e-12 {
			t.Errorf("%v and %v: %+v; want a distance of %v", c.p, c.q, b, c.distance)
		}
	}
	for _, p := range []Policy{Logged{}, ProbColumn{}} {
		if _, ok := BoundDifference(p, even, even); ok {
			t.Errorf("%T has no list of probabilities", p)
		}
	}
}
