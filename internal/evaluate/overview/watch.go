package overview

import (
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Watch counts what a [Report] rests on, or its warnings alone. Data may come in
// parts of whole persons, each of which is watched by itself and then added in order:
// for a report it keeps some bytes an episode and up to 16 a row.
type Watch struct {
	facts             Facts
	persons, episodes int
	rewards, returns  int // outside their ranges
	unlisted          int // returns that are none of [Facts.Listed]
	cut               int // episodes that were cut off

	weights []weights     // of episodes, by policy whose weights are known
	drawn   []*value.Part // actions and observations, where probabilities are estimated
	studied []*value.Part // where outcomes are asked for
	outcome *Outcome      // once it was asked for

	look *look // where a report is asked for

	draws   drawsOnce
	inverse inverse
	left    int // episodes that leave the action that was drawn once for them
}

// NewWatch holds data against public facts.
func NewWatch(f Facts) *Watch {
	w := &Watch{facts: f}
	if f.Report {
		w.look = new(look)
	}
	return w
}

// Add watches persons. rho are the ratios by row of the target policy, and of the others that are
// not the logged one; none on-policy, and where probabilities are not known.
func (w *Watch) Add(d *trajectory.Dataset, rho ...[]float64) { w.add(d, rho, value.Pack) }

func (w *Watch) add(d *trajectory.Dataset, rho [][]float64, keep func(*trajectory.Dataset, [][]float64) *value.Part) {
	w.persons += d.Persons()
	w.episodes += d.Episodes()
	w.cut += cutOff(d, w.facts.Horizon)
	if w.look != nil {
		w.look.add(d, w.facts)
	}
	w.rewards += outside(d.Reward, w.facts.Reward)
	if r := rounded(w.facts.Return); r != nil {
		for e := range d.Episodes() {
			if g := returnOf(d, e, w.facts.Gamma); !(g >= r.Min && g <= r.Max) {
				w.returns++
			}
		}
	}
	if w.facts.Listed != nil {
		w.unlisted += unlisted(d, w.facts)
	}
	if w.facts.Outcome != nil {
		w.studied = append(w.studied, keep(d, nil))
	}
	for i, of := range rho {
		if i == len(w.weights) {
			w.weights = append(w.weights, weights{})
		}
		w.weights[i].add(d, of, w.facts.Cap, i == 0 && w.look != nil)
	}
	if d.Action == nil {
		return
	}
	if w.facts.Estimated != nil {
		w.drawn = append(w.drawn, keep(&trajectory.Dataset{Columns: d.Columns, Obs: d.Obs, Action: d.Action, Reward: d.Reward, PersonStart: d.PersonStart, EpisodeStart: d.EpisodeStart}, nil))
	} else if d.BehaviorProb != nil {
		w.draws.add(d, d.BehaviorProb)
		w.inverse.add(d, d.BehaviorProb)
	}
	if w.once() {
		w.left += leaving(d)
	}
}

// Outcome counts the outcomes of all, nil where a value is asked for.
func (w *Watch) Outcome() (*Outcome, error) {
	if len(w.studied) == 0 || w.outcome != nil {
		return w.outcome, nil
	}
	var err error
	w.outcome, err = outcome(value.Joined(w.studied), w.facts.Outcome)
	return w.outcome, err
}

// estimate holds what was done against the probabilities that are estimated from it.
func (w *Watch) estimate() error {
	if len(w.drawn) == 0 {
		return nil
	}
	shares, err := w.facts.Estimated.Shares(value.Datasets(w.drawn), w.facts.Features)
	if err != nil {
		return err
	}
	w.draws, w.inverse = drawsOnce{}, inverse{}
	draws, inverses := make([]drawsOnce, len(w.drawn)), make([]inverse, len(w.drawn))
	err = value.Each(w.drawn, func(i int, d *trajectory.Dataset) error {
		prob, err := shares(d)
		if err != nil {
			return err
		}
		draws[i].add(d, prob)
		inverses[i].add(d, prob)
		return nil
	})
	for i := range w.drawn {
		w.draws.merge(&draws[i])
		w.inverse.merge(&inverses[i])
	}
	return err
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
	for i := range o.weights {
		if i == len(w.weights) {
			w.weights = append(w.weights, weights{})
		}
		w.weights[i].merge(&o.weights[i])
	}
	w.drawn, w.studied = append(w.drawn, o.drawn...), append(w.studied, o.studied...)
	if w.look != nil {
		w.look.merge(o.look)
	}
	w.draws.merge(&o.draws)
	w.inverse.merge(&o.inverse)
	w.left += o.left
}

// Watched watches a whole dataset.
func Watched(d *trajectory.Dataset, f Facts) (*Watch, error) {
	w := NewWatch(f)
	var rho [][]float64
	for _, target := range f.targets() {
		if policy.OnPolicy(target) || d.BehaviorProb == nil {
			continue
		}
		of := make([]float64, d.Rows())
		if err := policy.Ratios(of, target, d); err != nil {
			return nil, err
		}
		rho = append(rho, of)
	}
	w.add(d, rho, value.Keep)
	return w, nil
}

// targets are the target policy and the others.
func (f Facts) targets() []policy.Policy {
	out := []policy.Policy{f.Target}
	for _, a := range f.Others {
		out = append(out, a.Policy)
	}
	return out
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
