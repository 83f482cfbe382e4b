package overview

import (
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// look is what a report rests on beside warnings: of numbers those of each part.
type look struct {
	rows                                               int
	perPerson, lengths, rewards, returns, propensities [][]float64
	probabilities                                      bool

	read    bool // actions were
	many    bool // actions are too many for a table
	actions []int
	steps   []Step
}

// mostSteps and mostActions bound the tables of a report.
const (
	mostSteps   = 12
	mostActions = 64
)

func (l *look) add(d *trajectory.Dataset, f Facts) {
	l.rows += d.Rows()
	l.perPerson, l.lengths = append(l.perPerson, differences(d.PersonStart)), append(l.lengths, differences(d.EpisodeStart))
	l.rewards, l.returns = append(l.rewards, slices.Clone(d.Reward)), append(l.returns, returns(d, f.Gamma))
	if l.probabilities = d.BehaviorProb != nil && !policy.OnPolicy(f.Target); l.probabilities {
		l.propensities = append(l.propensities, slices.Clone(d.BehaviorProb))
	}
	if l.read = d.Action != nil; l.read {
		l.count(d)
	}
}

// count counts actions, in all and by step.
func (l *look) count(d *trajectory.Dataset) {
	for e := range d.Episodes() {
		lo := d.EpisodeStart[e]
		for step, a := range d.Action[lo:d.EpisodeStart[e+1]] {
			switch {
			case a < 0:
				continue
			case a >= mostActions:
				l.many = true
				return
			}
			l.actions = counted(l.actions, int(a), 1)
			if step < mostSteps {
				for len(l.steps) <= step {
					l.steps = append(l.steps, Step{Step: len(l.steps)})
				}
				l.steps[step].Episodes++
				l.steps[step].Actions = counted(l.steps[step].Actions, int(a), 1)
			}
		}
	}
}

// counted are counts with n more of an action.
func counted(counts []int, action, n int) []int {
	for len(counts) <= action {
		counts = append(counts, 0)
	}
	counts[action] += n
	return counts
}

func (l *look) merge(o *look) {
	l.rows += o.rows
	l.perPerson, l.lengths = append(l.perPerson, o.perPerson...), append(l.lengths, o.lengths...)
	l.rewards, l.returns = append(l.rewards, o.rewards...), append(l.returns, o.returns...)
	l.propensities = append(l.propensities, o.propensities...)
	l.probabilities, l.read, l.many = l.probabilities || o.probabilities, l.read || o.read, l.many || o.many
	for a, n := range o.actions {
		l.actions = counted(l.actions, a, n)
	}
	for i, step := range o.steps {
		if i == len(l.steps) {
			l.steps = append(l.steps, Step{Step: i})
		}
		l.steps[i].Episodes += step.Episodes
		for a, n := range step.Actions {
			l.steps[i].Actions = counted(l.steps[i].Actions, a, n)
		}
	}
}

// Report describes what was watched. It is used up.
func (w *Watch) Report() (r *Report, err error) {
	l, f := w.look, w.facts
	r = &Report{Persons: w.persons, Episodes: w.episodes, Rows: l.rows, CutOff: w.cut}
	r.EpisodesPerPerson, r.Lengths = spread(slices.Concat(l.perPerson...)), spread(slices.Concat(l.lengths...))
	r.Rewards = bounded(&l.rewards, f.Reward, f.Reward)
	r.Returns = bounded(&l.returns, f.Return, rounded(f.Return))
	r.actions(l, f.Words)
	if l.probabilities {
		s := spread(slices.Concat(l.propensities...))
		r.Propensity = &Propensity{Spread: s, Constant: len(l.propensities) > 0 && l.rows > 0 && s.Min == s.Max}
		l.propensities = nil
	}
	if len(w.weights) > 0 {
		r.Weights = w.weights[0].describe(f.Cap)
		r.Weights.Uniform = f.Learned
	}
	if r.Outcome, err = w.Outcome(); err == nil {
		r.Warnings, err = w.Warnings()
	}
	return r, err
}

// bounded describes numbers, which are used up, beside their public range; of those that lie
// without it the least is counted that a person can be told of.
func bounded(parts *[][]float64, public, holding *evaluate.Range) Bounded {
	x := slices.Concat(*parts...)
	*parts = nil
	if public != nil {
		public = &evaluate.Range{Min: public.Min + 0, Max: public.Max + 0} // no zero has a sign
	}
	return Bounded{Range: public, Outside: outside(x, holding), Spread: spread(x)}
}

// actions fills in the counts of actions. One that has a word is counted although it was never taken.
func (r *Report) actions(l *look, words map[int]string) {
	if !l.read || l.many {
		return
	}
	k := len(l.actions)
	for a := range words {
		if a < mostActions {
			k = max(k, a+1)
		}
	}
	r.Actions, r.Steps = padded(l.actions, k), l.steps
	for i := range r.Steps {
		r.Steps[i].Actions = padded(r.Steps[i].Actions, k)
	}
	if words != nil {
		r.Words = make([]string, k)
		for a := range r.Words {
			r.Words[a] = words[a]
		}
	}
}

func padded(counts []int, n int) []int { return append(counts, make([]int, n-len(counts))...) }

func differences(start []int) []float64 {
	out := make([]float64, 0, len(start))
	for i := 1; i < len(start); i++ {
		out = append(out, float64(start[i]-start[i-1]))
	}
	return out
}
