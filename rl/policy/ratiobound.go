package policy

import (
	"math"
	"slices"
)

// RatioBound tells what two public policies say of the importance ratios of the one to
// the other, whatever the data. Entry t of a list is of decision t of an episode,
// counted from 0, the last of all later decisions too.
type RatioBound struct {
	// Ratios are the largest ratios, rounded up.
	Ratios []float64
	// Squares are the largest means of the squared ratio over the actions drawn in one
	// state, rounded up.
	Squares []float64
	// Usual are means of the squared ratio if all states are as frequent; as Squares where these are not known.
	Usual []float64
	// Cubes are those of the cubed ratio; nil where they are not known, or follow from the largest ratio being one of two.
	Cubes []float64
	// Supported tells that whatever action the target takes is drawn with probability
	// above 0, so that in every state the mean ratio is 1.
	Supported bool
}

// BoundRatios compares a target with the policy that made the data, and is false
// where they do not bound the ratio: one reads probabilities from the data, or those of
// actions drawn come as near to 0 as one likes.
//
// Where a policy by step ([NewByStep]) gives a single probability it says nothing of who takes which
// action, so that no target is supported; but where it lists those of decision 0 and all
// later ones are sure, as in a trial that drew an arm and kept to it, a [Constant] is.
func BoundRatios(target, behaviour Policy) (RatioBound, bool) {
	var out RatioBound
	usual, cube := usualRatio(target, behaviour)
	steps := 1
	if s, ok := behaviour.(byStep); ok {
		steps = len(s.probs)
	}
	out.Supported = true
	for t := range steps {
		ratio, square, supported := boundAt(target, behaviour, t)
		if math.IsInf(ratio, 1) {
			return RatioBound{}, false
		}
		out.Ratios = append(out.Ratios, up(ratio))
		out.Squares = append(out.Squares, min(up(square), up(ratio)))
		u := min(usual, out.Squares[t])
		out.Usual = append(out.Usual, u)
		if low := 1 - (u-1)/max(ratio-1, u-1); cube > 0 && cube < (1-1e-9)*(u*(low+ratio)-low*ratio) {
			out.Cubes = append(out.Cubes, cube)
		}
		out.Supported = out.Supported && supported
	}
	return out, true
}

// usualRatio are the mean squared and the mean cubed ratio over all states alike, or of two trees all pairs of leaves that meet; +Inf and 0 where these are not known.
func usualRatio(target, behaviour Policy) (square, cube float64) {
	rows := stateByState(target, behaviour)
	if rows == nil {
		rows = leafByLeaf(target, behaviour)
	}
	if rows == nil {
		return math.Inf(1), 0
	}
	for _, x := range rows {
		for a, drawn := range x[1] {
			if drawn > 0 && a < len(x[0]) {
				part := x[0][a] * x[0][a] / drawn / float64(len(rows))
				square += part
				cube += part * x[0][a] / drawn
			}
		}
	}
	return square, cube
}

// up rounds up, beyond the rounding of the few operations before. Whole numbers stay.
func up(x float64) float64 {
	if x == math.Trunc(x) {
		return x
	}
	return x * (1 + 1e-12)
}

// boundAt is the bound at one decision: over the states, where both know the same ones, or the
// pairs of leaves of two trees that an observation may fall into,
// else over what each may do in any state.
func boundAt(target, behaviour Policy, t int) (ratio, square float64, supported bool) {
	p, pok := target.(Table)
	b, bok := behaviour.(Table)
	if pok && bok && p.States() == b.States() && slices.Equal(p.Columns(), b.Columns()) {
		supported = true
		for s := range p.States() {
			r, q, ok := ratioOf(exactly(p.row(s)), exactly(b.row(s)))
			ratio, square, supported = max(ratio, r), max(square, q), supported && ok
		}
		return ratio, square, supported
	}
	if pairs := leafByLeaf(target, behaviour); pairs != nil {
		supported = true
		for _, x := range pairs {
			r, q, ok := ratioOf(exactly(x[0]), exactly(x[1]))
			ratio, square, supported = max(ratio, r), max(square, q), supported && ok
		}
		return ratio, square, supported
	}
	if s, ok := behaviour.(byStep); ok {
		if at := s.at(t); len(at) == 1 {
			// Of a mean of squares no more is known than of the largest.
			_, constant := target.(Constant)
			return target.MaxProb() / at[0], target.MaxProb() / at[0], constant && s.keeps(t)
		}
	}
	pi, _ := extentOf(target, t)
	drawn, known := extentOf(behaviour, t)
	if !known {
		return math.Inf(1), 0, false
	}
	if pi == nil { // any action, with any probability
		floor := math.Inf(1)
		for _, e := range drawn {
			if e.most > 0 {
				floor = min(floor, e.least)
			}
		}
		r := target.MaxProb() / floor
		return r, r, false
	}
	return ratioOf(pi, drawn)
}

// extent is what the probability of an action may be: 0 where some state has it so,
// and from least, above 0, to most where it is not.
type extent struct {
	least, most float64
	zero        bool
}

func (e *extent) add(p float64) {
	if p > 0 {
		if e.most == 0 {
			e.least = p
		}
		e.least, e.most = min(e.least, p), max(e.most, p)
		return
	}
	e.zero = true
}

func exactly(probs []float64) []extent {
	out := make([]extent, len(probs))
	for a, p := range probs {
		out[a].add(p)
	}
	return out
}

// largestListed bounds the number of actions for which extents are listed.
const largestListed = 1 << 16

// extentOf are the probabilities that a policy may give each action at a decision; nil
// where it does not know of actions or they are too many, and false where it does not
// bound them away from 0.
func extentOf(p Policy, t int) ([]extent, bool) {
	k := p.Actions()
	if k < 1 || k > largestListed {
		return nil, false
	}
	switch p := p.(type) {
	case Uniform:
		return exactly(slices.Repeat([]float64{1 / float64(k)}, k)), true
	case Constant:
		probs := make([]float64, k)
		probs[p.action] = 1
		return exactly(probs), true
	case byStep:
		return exactly(p.at(t)), true
	case Table:
		out := make([]extent, k)
		for s := range p.States() {
			for a, x := range p.row(s) {
				out[a].add(x)
			}
		}
		return out, true
	case tree:
		out := make([]extent, k)
		for _, n := range p.nodes {
			for a, x := range n.probs {
				out[a].add(x)
			}
		}
		return out, true
	}
	// Nothing more is known of it than its largest probability.
	return slices.Repeat([]extent{{most: p.MaxProb(), zero: true}}, k), false
}

// ratioOf bounds the ratio, and its mean square, of probabilities pi to those drawn.
// An action that is never drawn is in no record.
func ratioOf(pi, drawn []extent) (ratio, square float64, supported bool) {
	supported = true
	for a, e := range pi {
		if e.most == 0 {
			continue
		}
		if a >= len(drawn) || drawn[a].most == 0 {
			supported = false
			continue
		}
		r := e.most / drawn[a].least
		ratio = max(ratio, r)
		square += e.most * r
		supported = supported && !drawn[a].zero
	}
	return ratio, min(square, ratio), supported
}

// at are the probabilities at a decision.
func (p byStep) at(t int) []float64 { return p.probs[min(t, len(p.probs)-1)] }

// keeps tells that decision 0 was drawn from a list and that those up to t are sure.
func (p byStep) keeps(t int) bool {
	for k := 1; k <= t; k++ {
		if at := p.at(k); len(at) != 1 || at[0] != 1 {
			return false
		}
	}
	return t > 0 && len(p.at(0)) > 1
}
