package policy

import (
	"math"
	"slices"
)

// DifferenceBound tells what public policies say of the difference of two of them,
// whatever the data.
type DifferenceBound struct {
	// Distance is the largest total variation between the two in any state, rounded up.
	Distance float64 `json:"distance"`
	// Weight is the largest that |p(a) - q(a)| / b(a) / 2 + Distance - D can be, as a multiple of
	// Distance: b is what actions are drawn by, and D the total variation in the same state.
	// 0 where that is not bounded.
	Weight float64 `json:"weight,omitempty"`
	// Square and Spread are mean squares if all states were as frequent: of that number, and of its
	// part (p(a) - q(a)) / b(a) / 2, as multiples of Distance. 0 where the three do not tell the same states apart.
	Square float64 `json:"square,omitempty"`
	Spread float64 `json:"spread,omitempty"`
	// Ratios are the same mean squares of p(a) / b(a) and of q(a) / b(a), and Products those of each with the number that Square
	// is of; nil where that is 0.
	Ratios   []float64 `json:"ratios,omitempty"`
	Products []float64 `json:"products,omitempty"`
}

// BoundDifference compares p and q, where actions are drawn by behaviour; nil where that
// is not public. It is false where one of them does not give the probability of every
// action.
func BoundDifference(p, q, behaviour Policy) (DifferenceBound, bool) {
	if !listed(p) || !listed(q) {
		return DifferenceBound{}, false
	}
	out := DifferenceBound{Distance: farthest(p, q)}
	if out.Distance == 0 || behaviour == nil {
		return out, true
	}
	least := leastDrawn(behaviour)
	ratios := math.Inf(1) // |p - q|/b is at most the larger ratio
	if a, ok := BoundRatios(p, behaviour); ok {
		if b, ok := BoundRatios(q, behaviour); ok {
			ratios = max(slices.Max(a.Ratios), slices.Max(b.Ratios))
		}
	}
	if least > 0 { // D >= |p - q|, hence |p - q|/b <= D/least
		far := min(ratios, out.Distance/least)
		out.Weight = upDecimal(1 + max(far*(0.5-least), 0)/out.Distance)
		out.states(p, q, behaviour)
	}
	return out, true
}

// states looks at every state, where all three tell the same ones apart.
func (d *DifferenceBound) states(p, q, behaviour Policy) {
	rows := stateByState(p, q, behaviour)
	if rows == nil {
		return
	}
	d.Ratios, d.Products = make([]float64, 2), make([]float64, 2)
	largest := 1.0
	for _, x := range rows {
		far := TotalVariation(x[0], x[1])
		for a, drawn := range x[2] {
			if drawn == 0 {
				continue
			}
			part := math.Abs(x[0][a]-x[1][a]) / drawn / 2 / d.Distance
			weight := part + 1 - far/d.Distance
			largest = max(largest, weight)
			for i := range 2 {
				part := x[i][a] / float64(len(rows))
				d.Ratios[i] += part * x[i][a] / drawn
				d.Products[i] += part * weight
			}
			d.Square += drawn * weight * weight / float64(len(rows))
			d.Spread += drawn * part * part / float64(len(rows))
		}
	}
	d.Weight = min(d.Weight, upDecimal(largest))
}

// stateByState lists what policies do in each state, of as many actions as any of them has; nil where
// they tell different ones apart.
func stateByState(policies ...Policy) [][][]float64 {
	var in Policy // one that tells states apart
	for _, p := range policies {
		if len(rowsOf(p)) > 1 {
			in = p
		}
	}
	actions, states := 0, 1
	for _, p := range policies {
		actions = max(actions, p.Actions())
	}
	if in != nil {
		states = len(rowsOf(in))
	}
	out := make([][][]float64, states)
	for _, p := range policies {
		rows := rowsOf(p)
		if len(rows) != 1 && (len(rows) != states || !alike(p, in)) {
			return nil
		}
		for s := range out {
			row := make([]float64, actions)
			copy(row, rows[s%len(rows)])
			out[s] = append(out[s], row)
		}
	}
	return out
}

// upDecimal rounds up. What differs from a decimal number by the rounding of a sum alone is that
// number.
func upDecimal(x float64) float64 {
	if near := math.Round(x*1e9) / 1e9; math.Abs(near-x) <= 1e-15*max(x, 1) {
		return near
	}
	return up(x)
}

// TotalVariation is the total variation between two distributions: half of the summed
// distances, where both add up to 1. Where they do so but for rounding it is the larger
// sum of what one of the two has more.
func TotalVariation(p, q []float64) float64 {
	more, less := 0.0, 0.0
	for a := range max(len(p), len(q)) {
		var x, y float64
		if a < len(p) {
			x = p[a]
		}
		if a < len(q) {
			y = q[a]
		}
		more += max(x-y, 0)
		less += max(y-x, 0)
	}
	return min(max(more, less), 1)
}

// TellsApart reports whether what a policy does may depend on more than how many decisions an
// episode had before.
func TellsApart(p Policy) bool {
	switch p := p.(type) {
	case Uniform, Constant, byStep:
		return false
	case Table:
		return p.States() > 1
	}
	return true
}

// listed tells that a policy gives the probability of every action in every state.
func listed(p Policy) bool {
	_, steps := p.(byStep)
	return !steps && p.Actions() > 0 && p.Actions() <= largestListed
}

// farthest is the largest total variation between two policies in one state, rounded up; 1 where
// their distributions are not known, or too many to compare each with each.
func farthest(p, q Policy) float64 {
	first, second := rowsOf(p), rowsOf(q)
	far := 0.0
	switch {
	case first == nil || second == nil:
		return 1
	case len(first) == len(second) && alike(p, q):
		for s := range first {
			far = max(far, TotalVariation(first[s], second[s]))
		}
	case len(first)*len(second) > largestListed:
		return 1
	default:
		for _, x := range first {
			for _, y := range second {
				far = max(far, TotalVariation(x, y))
			}
		}
	}
	return min(upDecimal(far), 1)
}

// rowsOf are the distributions of a policy, one a state that it tells apart; nil where
// these are not finitely many.
func rowsOf(p Policy) [][]float64 {
	var out [][]float64
	switch p := p.(type) {
	case Uniform:
		k := p.Actions()
		return [][]float64{slices.Repeat([]float64{1 / float64(k)}, k)}
	case Constant:
		probs := make([]float64, p.Actions())
		probs[p.action] = 1
		return [][]float64{probs}
	case Table:
		for s := range p.States() {
			out = append(out, p.row(s))
		}
	case tree:
		for _, n := range p.nodes {
			if n.probs != nil {
				out = append(out, n.probs)
			}
		}
	}
	return out
}

// alike tells that two policies tell the same states apart, in the same order.
func alike(p, q Policy) bool {
	switch p := p.(type) {
	case Table:
		o, ok := q.(Table)
		return ok && slices.Equal(p.Columns(), o.Columns())
	case tree:
		o, ok := q.(tree)
		return ok && p.float32 == o.float32 && slices.Equal(p.Columns(), o.Columns()) && slices.EqualFunc(p.nodes, o.nodes, treeNode.asksAs)
	}
	return false
}

// asksAs tells that two nodes ask the same question, or that both are leaves.
func (n treeNode) asksAs(o treeNode) bool {
	return n.input == o.input && n.threshold == o.threshold && n.left == o.left && n.right == o.right
}

// leastDrawn is the least probability of any action that is drawn in any state; 0 where it
// is not bounded.
func leastDrawn(p Policy) float64 {
	least := 1.0
	if s, ok := p.(byStep); ok {
		for _, probs := range s.probs {
			for _, x := range probs {
				if x > 0 {
					least = min(least, x)
				}
			}
		}
		return least
	}
	drawn, known := extentOf(p, 0)
	if !known {
		return 0
	}
	for _, e := range drawn {
		if e.most > 0 {
			least = min(least, e.least)
		}
	}
	return least
}
