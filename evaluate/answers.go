package evaluate

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// PolicyAnswer is an answer about one policy, one of several about several policies, or about
// one policy in several groups of persons.
type PolicyAnswer struct {
	// Name is that of the policy, "value" where a single one is asked about, "A - B" for a
	// contrast, "best", or that of the group.
	Name string     `json:"name"`
	Kind AnswerKind `json:"kind"`
	// Estimate is the value of the policy, in the group where it is one, or the difference of two; nil for a
	// selection and for a pick. Its confidence is that of its interval alone; together all intervals
	// have that of the release, JointConfidence.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Diagnostics are further released statistics of this answer, each paid for.
	Diagnostics map[string]any `json:"diagnostics,omitempty"`
	Selection   *Selection     `json:"selection,omitempty"`
	// Pick is the policy that permute-and-flip drew; nil of other answers.
	Pick *Pick `json:"pick,omitempty"`
}

// run is the answer as the release of its run.
func (a PolicyAnswer) run() *Release {
	return &Release{estimate: a.Estimate, Diagnostics: a.Diagnostics}
}

// AnswerKind says what an answer is about.
type AnswerKind string

// The kinds of answers.
const (
	OfPolicy   AnswerKind = "policy"
	OfContrast AnswerKind = "contrast"
	OfChoice   AnswerKind = "selection"
	OfPick     AnswerKind = "pick"
	OfGroup    AnswerKind = "group"
)

// ExpectedAnswer is what is known of an answer beforehand, in units of a return: the
// public fact "answers" of a plan is a list of them.
type ExpectedAnswer struct {
	Name string     `json:"name"`
	Kind AnswerKind `json:"kind"`
	// Range is the public range that holds it.
	Range Range `json:"range"`
	// MaxWeight is the largest cap on a person's weight, and Choices from how many caps
	// a paid histogram chooses; 0 where none does.
	MaxWeight float64 `json:"max_weight,omitempty"`
	Choices   int     `json:"clip_choices,omitempty"`
	// OfValues tells of a contrast that it is made of the intervals of the two values.
	OfValues bool `json:"of_values,omitempty"`
	// Distance is the largest total variation between the two policies in any state, of a contrast
	// that is made of the difference of their weights.
	Distance float64 `json:"distance,omitempty"`
	// StdPrivacy and StdSampling are as in [Expected], 0 where a forecast supposes how outcomes
	// vary; HalfWidth is that of the joint interval without missing mass, 0 where only the data tell.
	StdPrivacy  float64 `json:"std_privacy"`
	StdSampling float64 `json:"std_sampling_at_most,omitempty"`
	HalfWidth   float64 `json:"half_width"`
}

// preparedAnswers prepares all answers. Where the probabilities of logged actions are
// estimated, that is the first release, and all off-policy weights are made of the same
// limits.
func preparedAnswers(asked quantities, of vouched) byPerson {
	p, answers := asked.public, asked.answers
	m := of.byPerson(p.featureless(), len(p.Targets.Policies))
	c := contributions{targets: p.Targets, apart: map[int]int{}}
	if asked.practice != nil && of.behavior == nil {
		c.practice = m.numbers
		m.numbers += 2
	}
	for i, a := range answers {
		switch {
		case a.apart == nil:
		case a.anchor > 0:
			m.rows, m.moves = true, true
		default:
			c.apart[i] = m.numbers
			m.numbers += 2
		}
	}
	m.check = func(d *trajectory.Dataset) error {
		if err := of.check(d, p); err != nil {
			return err
		}
		return c.bindable(answers, d)
	}
	if of.behavior == nil {
		m.each = func(xz [][]float64, part []*value.Sample) error { return c.each(xz, part, of, answers) }
	}
	m.run = of.run(p, func(rows *value.Samples, xz []scalar.Numbers, src *noise.Source) (*Release, error) {
		c := c
		c.xz, c.rows = xz, rows
		practice, err := c.practised(asked.practice, src)
		if err != nil {
			return nil, err
		}
		r, err := answered(p, answers, c, src)
		if err == nil {
			r.tellPractice(practice)
		}
		return r, err
	})
	return m
}

// tell adds what the probabilities of logged actions were estimated from.
func (r *Release) tell(b propensities, paid *scalar.Estimate) error {
	if b == nil {
		return nil
	}
	told, err := b.recorded(paid)
	if r.Diagnostics == nil {
		r.Diagnostics = map[string]any{}
	}
	r.Diagnostics["behavior"] = told
	return err
}

// answered draws the noise of all answers, in their order.
func answered(p Public, answers []quantity, all contributions, src *noise.Source) (*Release, error) {
	estimates := make([]*scalar.Estimate, len(answers))
	var err error
	for i, a := range answers {
		if a.values != nil || a.together {
			continue
		}
		if estimates[i], err = all.estimate(i, a, src); err != nil {
			return nil, err
		}
	}
	if err := all.together(answers, estimates, src); err != nil {
		return nil, err
	}
	return joint(p, answers, estimates)
}

// joint is the release of all answers. It is post-processing of their estimates.
func joint(p Public, answers []quantity, estimates []*scalar.Estimate) (*Release, error) {
	guarded, err := guardedAlike(answers, estimates)
	if err != nil {
		return nil, err
	}
	doubted(p, answers, estimates)
	each := make([]*Release, len(answers))
	for i, a := range answers {
		if a.values == nil {
			each[i] = estimated(estimates[i])
			each[i].estimate.Confidence = a.bounds.AloneConfidence()
		} else {
			each[i] = subtracted(a, estimates[a.values[0]], estimates[a.values[1]])
		}
	}
	r := p.gathered(each)
	if guarded {
		r.Notes = append(r.Notes, "All intervals are guarded, because they assume the same design and the same statement, which the missing mass of one answer contradicts.")
	}
	return r, nil
}

// gathered is the release of all estimands, of each of which there is one: that
// of a single policy itself.
func (p Public) gathered(each []*Release) *Release {
	t := p.targets()
	if t.alone && !p.groups().some() {
		return each[0]
	}
	r := &Release{JointConfidence: scalar.Confidence(1), Diagnostics: map[string]any{}}
	if p.judges {
		r.JointConfidence = max(1-0.1*float64(len(each)), 0.1)
	}
	beyond := map[string]float64{}
	for i, a := range p.estimands() {
		one := each[i]
		beyond[a.name] = one.beyond
		r.Answers = append(r.Answers, PolicyAnswer{Name: a.name, Kind: a.kind, Estimate: one.estimate, Diagnostics: one.Diagnostics})
		if one.first != "" && r.first == "" {
			r.first = a.name + ": " + one.first
		}
		for _, note := range one.Notes {
			r.Notes = append(r.Notes, a.name+": "+note)
		}
	}
	if t.Best {
		r.Answers = append(r.Answers, PolicyAnswer{Name: bestName, Kind: OfChoice, Selection: selectBest(t, r.Answers, beyond)})
	}
	return r
}

// guardedAlike brings the guard back in all answers where one of them lacks more than
// chance makes.
func guardedAlike(answers []quantity, estimates []*scalar.Estimate) (bool, error) {
	if !slices.ContainsFunc(estimates, func(e *scalar.Estimate) bool { return e != nil && e.Missing.Doubted }) {
		return false, nil
	}
	for i, a := range answers {
		if e := estimates[i]; e != nil && e.Missing.Unguarded {
			a.bounds.Uncut = nil
			var err error
			if estimates[i], err = a.bounds.Again(e); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// doubted lengthens, where one estimate refutes the logged probabilities, the intervals
// of all others that rest on them.
func doubted(p Public, answers []quantity, estimates []*scalar.Estimate) {
	if !slices.ContainsFunc(estimates, func(e *scalar.Estimate) bool { return e != nil && e.Missing.Refuted }) {
		return
	}
	for i, a := range answers {
		if estimates[i] != nil && a.logged(p.Targets) < 1 {
			estimates[i] = a.bounds.Doubt(estimates[i])
		}
	}
}

// answersAgain makes all answers again from their noisy sums.
func answersAgain(asked quantities) outcome {
	p, answers := asked.public, asked.answers
	return func(r *Release) (*Release, error) {
		if len(r.Answers) < len(answers) {
			return nil, fmt.Errorf("answers: %d, and %d are asked for", len(r.Answers), len(answers))
		}
		estimates := make([]*scalar.Estimate, len(answers))
		for i, a := range answers {
			if a.values != nil {
				continue
			}
			e, err := paid(r.Answers[i].run())
			if err == nil {
				e, err = a.bounds.Again(e)
			}
			if err != nil {
				return nil, fmt.Errorf("answers[%d]: %w", i, err)
			}
			estimates[i] = e
		}
		again, err := joint(p, answers, estimates)
		if err != nil {
			return nil, err
		}
		if last := r.Answers[len(r.Answers)-1].Selection; p.Targets.Best && last != nil && last.Separated == nil {
			again.Answers[len(again.Answers)-1].Selection = selectByLimits(p.Targets, again.Answers)
		}
		counts, rounds, err := estimatedFrom(r)
		if err != nil {
			return nil, err
		}
		practice, err := practiceAgain(asked.practice, r)
		if err != nil {
			return nil, err
		}
		again.tellPractice(practice)
		return again, again.tell(asked.behavior, &scalar.Estimate{Counts: counts, Rounds: rounds})
	}
}
