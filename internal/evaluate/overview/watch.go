package overview

import (
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Watch counts what the warnings of a [Report] rest on, and no more. Data may come in
// parts of whole persons, each of which is watched by itself and then added in order:
// it keeps 8 bytes an episode.
type Watch struct {
	facts             Facts
	persons, episodes int
	rewards, returns  int // outside their ranges
	unlisted          int // returns that are none of [Facts.Listed]
	cut               int // episodes that were cut off

	weighed bool        // weights are known
	weight  [][]float64 // of episodes, by part

	draws   drawsOnce
	inverse inverse
	left    int // episodes that leave the action that was drawn once for them
}

// NewWatch holds data against public facts.
func NewWatch(f Facts) *Watch { return &Watch{facts: f} }

// Add watches persons. rho are the ratios of the target policy by row, nil on-policy
// and where probabilities are not known.
func (w *Watch) Add(d *trajectory.Dataset, rho []float64) {
	w.add(d, rho, d.BehaviorProb)
}

// add takes the behaviour probabilities of rows, nil where they are not known.
func (w *Watch) add(d *trajectory.Dataset, rho, prob []float64) {
	w.persons += d.Persons()
	w.episodes += d.Episodes()
	w.cut += cutOff(d, w.facts.Horizon)
	w.rewards += outside(d.Reward, w.facts.Reward)
	if r := w.facts.Return; r != nil {
		w.returns += outside(returns(d, w.facts.Gamma), rounded(r))
	}
	if w.facts.Listed != nil {
		w.unlisted += unlisted(d, w.facts)
	}
	if rho != nil {
		w.weighed = true
		w.weight = append(w.weight, weightsOf(d, rho))
	}
	if d.Action == nil {
		return
	}
	if prob != nil {
		w.draws.add(d, prob)
		w.inverse.add(d, prob)
	}
	if w.once() {
		w.left += leaving(d)
	}
}

// once tells whether data are said to have one draw an episode, and it is to be held
// against them.
func (w *Watch) once() bool { return w.facts.Estimated != nil && w.facts.Estimated.Once }

// Merge adds what another watch of the same facts has seen, of persons that come after
// those of w. It may keep memory of o, which is used up.
func (w *Watch) Merge(o *Watch) {
	w.persons += o.persons
	w.episodes += o.episodes
	w.cut += o.cut
	w.rewards += o.rewards
	w.returns += o.returns
	w.unlisted += o.unlisted
	w.weighed = w.weighed || o.weighed
	w.weight = append(w.weight, o.weight...)
	w.draws.merge(&o.draws)
	w.inverse.merge(&o.inverse)
	w.left += o.left
}

// weights describes the weights, nil where none are known.
func (w *Watch) weights(order bool) *Weights {
	if !w.weighed {
		return nil
	}
	return describe(w.weight, w.facts.Cap, order)
}

// watched watches a whole dataset.
func watched(d *trajectory.Dataset, f Facts) (*Watch, error) {
	w := NewWatch(f)
	var rho []float64
	if !policy.OnPolicy(f.Target) && d.BehaviorProb != nil {
		rho = make([]float64, d.Rows())
		if err := policy.Ratios(rho, f.Target, d); err != nil {
			return nil, err
		}
	}
	prob := d.BehaviorProb
	if f.Estimated != nil && d.Action != nil {
		var err error
		if prob, err = f.Estimated.Shares(d, f.Features); err != nil {
			return nil, err
		}
	}
	w.add(d, rho, prob)
	return w, nil
}

// Warn gives the warnings of a [Report] without the rest of it.
func Warn(d *trajectory.Dataset, f Facts) ([]string, error) {
	w, err := watched(d, f)
	if err != nil {
		return nil, err
	}
	o, err := outcome(d, f.Outcome)
	return append(w.Warnings(), o.warnings()...), err
}

// cutOff counts the episodes that end neither by the problem's own rule nor with decision
// horizon; none where nobody knows.
func cutOff(d *trajectory.Dataset, horizon int64) int {
	if d.Terminated == nil {
		return 0
	}
	n := 0
	for e, ended := range d.Terminated {
		if !ended && int64(d.EpisodeStart[e+1]-d.EpisodeStart[e]) < horizon {
			n++
		}
	}
	return n
}

// outside counts the numbers beyond a range, none where there is no range.
func outside(x []float64, r *evaluate.Range) int {
	n := 0
	if r == nil {
		return n
	}
	for _, v := range x {
		if !(v >= r.Min && v <= r.Max) {
			n++
		}
	}
	return n
}

// rounding is by how much of the width of a range a sum of rewards may be off.
const rounding = 1e-9

// rounded is a range of sums of rewards, wider by their rounding; nil of none.
func rounded(r *evaluate.Range) *evaluate.Range {
	if r == nil {
		return nil
	}
	slack := rounding * r.Width()
	return &evaluate.Range{Min: r.Min - slack, Max: r.Max + slack}
}

// unlisted counts the returns of whole episodes that are not listed.
func unlisted(d *trajectory.Dataset, f Facts) int {
	n, last := 0, f.Listed[len(f.Listed)-1]
	slack := rounding * (last - f.Listed[0])
	for e, g := range returns(d, f.Gamma) {
		if d.Terminated != nil && !d.Terminated[e] && int64(d.EpisodeStart[e+1]-d.EpisodeStart[e]) < f.Horizon {
			continue
		}
		g = min(g, last)
		if j, _ := slices.BinarySearch(f.Listed, g-slack); j == len(f.Listed) || f.Listed[j] > g+slack {
			n++
		}
	}
	return n
}
