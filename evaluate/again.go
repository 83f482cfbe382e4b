package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// ErrRelease marks a release that no run of its own plan makes.
var ErrRelease = errors.New("release does not follow from its plan")

// outcome makes the part of a release that a run adds to its plan again: numbers
// that noise made are taken over from the release, all others computed from them.
type outcome func(r *Release) (*Release, error)

// Replan makes the plan of a release again, from the public facts that the release
// repeats. What it does not hold must be known: its features, where the method
// needs them, and the labels that the caller put there.
func Replan(r *Release, features feature.Map, labels map[string]any) (*Plan, error) {
	var f struct {
		Gamma      float64            `json:"gamma"`
		Discounts  bool               `json:"discounts"`
		Horizon    int64              `json:"horizon"`
		Episodes   int64              `json:"episodes"`
		Persons    int64              `json:"persons"`
		Units      int64              `json:"units"`
		Reward     Range              `json:"reward"`
		Return     *Range             `json:"return"`
		Given      bool               `json:"return_given"`
		One        bool               `json:"one_decision"`
		OnPolicy   bool               `json:"on_policy"`
		Actions    int                `json:"actions"`
		Parameters map[string]any     `json:"parameters"`
		ChosenBy   string             `json:"chosen_by"`
		Xie19      *float64           `json:"xie19_epsilon"`
		Estimated  *EstimatedBehavior `json:"estimated_behavior"`
		Targets    *targetsFact       `json:"targets"`
		Start      []float64          `json:"first_states"`
		Design     *Design            `json:"design"`
		Records    string             `json:"records"`
		By         *groupsFact        `json:"by"`
	}
	if err := fill(&f, r.Public); err != nil {
		return nil, fmt.Errorf("%w: public: %w", ErrRelease, err)
	}
	p := Public{
		Persons: f.Persons + f.Units, Gamma: f.Gamma, Discounts: f.Discounts, Horizon: f.Horizon, Episodes: f.Episodes, OneDecision: f.One,
		Reward: f.Reward, Features: features, Labels: labels, Behavior: f.Estimated, Start: f.Start, Design: f.Design, By: f.By.groups(),
		Complete: f.Records == "complete",
	}
	if f.Given {
		p.Return = f.Return
	}
	var err error
	if f.Targets != nil {
		if p.Targets, err = f.Targets.targets(); err != nil {
			return nil, fmt.Errorf("%w: public.targets: %w", ErrRelease, err)
		}
	} else if p.Target, err = targetLike(f.OnPolicy, f.Actions); err != nil {
		return nil, fmt.Errorf("%w: public.actions: %w", ErrRelease, err)
	}
	if s := r.Privacy; s != nil {
		p.Privacy = s.asked()
		if f.Xie19 != nil {
			p.Privacy.Budget.Epsilon = *f.Xie19
		}
	}
	name := r.Method
	if f.ChosenBy != "" {
		name = f.ChosenBy
	}
	e, err := New(name, f.Parameters)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRelease, err)
	}
	plan, err := e.Plan(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRelease, err)
	}
	return plan, nil
}

// targetLike is a policy of which a plan sees the same as of the target.
func targetLike(onPolicy bool, actions int) (policy.Policy, error) {
	switch {
	case onPolicy:
		return policy.Logged{}, nil
	case actions == 0:
		return policy.ProbColumn{}, nil
	}
	return policy.NewUniform(actions)
}

// asked is the guarantee that was asked for.
func (s *Statement) asked() *Privacy {
	q := &Privacy{Unit: s.Unit, Adjacency: s.Adjacency, Budget: dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}, LargeDelta: true}
	if s.Noise == "fast" {
		q.Noise = mechanism.Fast
	}
	return q
}

// Verify holds a release against the plan: whether a run of it, with some data and
// some noise, could have released just that. Every field that public facts and the
// noisy numbers determine is computed again. What a plan does not know is not
// looked at: what the caller adds to the disclosure, ledger and signature. The
// error wraps [ErrRelease] and names the field.
func (p *Plan) Verify(r *Release) error {
	slack := 1e-12 * p.public.Returns().Width()
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"schema", r.Schema, ReleaseSchema},
		{"method", r.Method, p.Method},
		{"public", r.Public, p.Facts},
		{"expected", r.Expected, p.Expected},
	} {
		if err := same(part.name, part.got, part.want, 0); err != nil {
			return err
		}
	}
	if err := p.verifyPrivacy(r); err != nil {
		return err
	}
	again, err := p.outcome(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRelease, err)
	}
	if again.Diagnostics == nil {
		again.Diagnostics = map[string]any{}
	}
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"theta", r.Theta, again.Theta},
		{"values", r.Values, again.Values},
		{"bands", r.Bands, again.Bands},
		{"start_value", r.Start, p.public.startOf(again)},
		{"estimate", r.Estimate, again.Estimate},
		{"answer", r.Answer, again.Answer},
		{"answers", r.Answers, again.Answers},
		{"joint_confidence", r.JointConfidence, again.JointConfidence},
		{"diagnostics", r.Diagnostics, again.Diagnostics},
		{"notes", r.Notes, p.notes(again)},
	} {
		if err := same(part.name, part.got, part.want, slack); err != nil {
			if part.name == "answers" && named(r.Answers) && !named(again.Answers) {
				err = fmt.Errorf("%w: its largest lower limit is that of several policies, none of which is shown to be best; versions before 0.1.0 named the first of them all the same", err)
			}
			return err
		}
	}
	return nil
}

// notes are all notes of a release: what overturns the others first, then those of the
// plan, then those of the run.
func (p *Plan) notes(r *Release) []string {
	var out []string
	if r.first != "" {
		out = []string{p.words(r.first)}
	}
	out = append(out, p.Notes...)
	for _, note := range r.Notes {
		out = append(out, p.words(note))
	}
	return out
}

// verifyPrivacy compares the statement and the words about it.
func (p *Plan) verifyPrivacy(r *Release) error {
	if p.public.Privacy == nil {
		if r.Disclosure != nil || r.Ledger != nil {
			return fmt.Errorf("%w: a reference has no disclosure and no ledger", ErrRelease)
		}
		return nil
	}
	want := newStatement(p)
	want.Charged, want.Seeded = r.Privacy.Charged, r.Privacy.Seeded
	if err := same("privacy", r.Privacy, want, 0); err != nil {
		return err
	}
	if r.Disclosure == nil {
		return fmt.Errorf("%w: disclosure is missing", ErrRelease)
	}
	words := newDisclosure(p, r.Privacy.Seeded)
	words.Justification, words.CodeVersion, words.ConfigHash = r.Disclosure.Justification, r.Disclosure.CodeVersion, r.Disclosure.ConfigHash
	if r.Ledger != nil {
		words.Composition, words.Series = r.Disclosure.Composition, r.Disclosure.Series
	}
	return same("disclosure", r.Disclosure, words, 0)
}

// fill reads members of a release's map.
func fill(into any, m map[string]any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// functionAgain makes a value function again: one number a feature and, where the
// features are of finitely many states, the value of each.
func functionAgain(f feature.Map, within *Range) outcome {
	return func(r *Release) (*Release, error) {
		if f == nil {
			return nil, errors.New("a value function needs public.features")
		}
		if len(r.Theta) != f.Dim() {
			return nil, fmt.Errorf("theta has %d numbers for %d features", len(r.Theta), f.Dim())
		}
		for i, v := range r.Theta {
			if within != nil && !(v >= within.Min && v <= within.Max) {
				return nil, fmt.Errorf("theta[%d] is %v, outside the public range of a return, [%v, %v]", i, v, within.Min, within.Max)
			}
		}
		again := &Release{Theta: r.Theta}
		if finite, ok := f.(feature.Finite); ok {
			again.Values = statesOf(finite, r.Theta)
		}
		return again, nil
	}
}

// paid reads the estimate of a release back.
func paid(r *Release) (*scalar.Estimate, error) {
	if r.Estimate == nil {
		return nil, errors.New("estimate is missing")
	}
	var d struct {
		Clip      *Range   `json:"clip"`
		MaxWeight *float64 `json:"max_weight"`
		Overlap   *Overlap `json:"overlap"`
		Sums      *sums    `json:"sums"`
		Baseline  *struct {
			Value  float64   `json:"value"`
			Action []float64 `json:"action_values"`
			State  []float64 `json:"state_values"`
		} `json:"baseline"`
	}
	if err := fill(&d, r.Diagnostics); err != nil {
		return nil, fmt.Errorf("diagnostics: %w", err)
	}
	e := &scalar.Estimate{
		Value: r.Estimate.Value, Interval: r.Estimate.Interval, Clipping: r.Estimate.Clipping,
		StdSampling: r.Estimate.StdSampling, StdPrivacy: r.Estimate.StdPrivacy, Undetermined: r.Estimate.Sampling == PublicBound,
		MaxWeight: d.MaxWeight, Overlap: (*scalar.Overlap)(d.Overlap), Sums: (*scalar.Sums)(d.Sums),
	}
	var err error
	if e.Counts, e.Rounds, err = estimatedFrom(r); err != nil {
		return nil, err
	}
	if d.Clip != nil {
		e.Clip = &facts.Range{Min: d.Clip.Min, Max: d.Clip.Max}
	}
	if b := d.Baseline; b != nil {
		e.Baseline = &scalar.Guess{Overall: b.Value, Action: b.Action, State: b.State}
	}
	return e, nil
}

// estimatedFrom are the noisy counts, or the noisy sums of rounds, that the probabilities
// of logged actions were estimated from; nil where they were known.
func estimatedFrom(r *Release) (counts []float64, rounds [][]float64, err error) {
	var d struct {
		Behavior *struct {
			Counts [][]float64 `json:"counts"`
			Sums   [][]float64 `json:"sums"`
		} `json:"behavior"`
	}
	if err := fill(&d, r.Diagnostics); err != nil {
		return nil, nil, fmt.Errorf("diagnostics: %w", err)
	}
	if d.Behavior == nil {
		return nil, nil, nil
	}
	return slices.Concat(d.Behavior.Counts...), d.Behavior.Sums, nil
}

// estimateAgain makes a private estimate again.
func estimateAgain(again func(*scalar.Estimate) (*scalar.Estimate, error)) outcome {
	return func(r *Release) (*Release, error) {
		e, err := paid(r)
		if err != nil {
			return nil, err
		}
		if e, err = again(e); err != nil {
			return nil, err
		}
		return estimated(e), nil
	}
}
