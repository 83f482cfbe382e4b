package evaluate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
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
		Each       int64              `json:"episode_horizon"`
		Episodes   int64              `json:"episodes"`
		Persons    int64              `json:"persons"`
		Units      int64              `json:"units"`
		Reward     *Range             `json:"reward"`
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
		Anchored   bool               `json:"anchored"`
		Together   int                `json:"values_together"`
		ValueNoise NoiseFamily        `json:"values_noise"`
		Forecast   string             `json:"forecast"`
		LeftOut    string             `json:"left_out"`
		Counted    string             `json:"counted"`
		Start      []float64          `json:"first_states"`
		Design     *Design            `json:"design"`
		Records    string             `json:"records"`
		By         *groupsFact        `json:"by"`
		Outcome    *Outcome           `json:"outcome"`
		Precision  float64            `json:"behavior_precision"`
		Family     NoiseFamily        `json:"noise_family"`
		ByCell     [][]float64        `json:"policies_by_cell"`
	}
	if err := fill(&f, r.Public); err != nil {
		return nil, fmt.Errorf("%w: public: %w", ErrRelease, err)
	}
	if !f.Given {
		f.Return = nil
	}
	reward := Range{}
	if f.Reward != nil {
		reward = *f.Reward
	}
	var target policy.Policy
	var targets *Targets
	var err error
	if f.Targets != nil {
		if targets, err = f.Targets.targets(); err != nil {
			return nil, fmt.Errorf("%w: public.targets: %w", ErrRelease, err)
		}
		targets.unanchored, targets.separate, targets.pure = !f.Anchored, f.Together == 0, f.ValueNoise == LaplaceNoise
	} else if target, err = targetLike(f.OnPolicy, f.Actions); err != nil {
		return nil, fmt.Errorf("%w: public.actions: %w", ErrRelease, err)
	}
	for i, probs := range f.ByCell {
		if f.Estimated == nil || probs != nil && !distributions(probs, f.Estimated.Actions) {
			return nil, fmt.Errorf("%w: public.policies_by_cell[%d] holds no probabilities of actions", ErrRelease, i)
		}
	}
	p := Public{
		Persons: f.Persons + f.Units, Gamma: f.Gamma, Discounts: f.Discounts, Horizon: f.Horizon, EpisodeHorizon: f.Each, Episodes: f.Episodes, OneDecision: f.One,
		Reward: reward, Return: f.Return, Features: features, Target: target, Targets: targets, Labels: labels, Behavior: f.Estimated,
		Start: f.Start, Design: f.Design, By: f.By.groups(), Complete: f.Records == "complete", Privacy: r.Privacy.guarantee(f.Xie19, f.Family),
		Outcome: f.Outcome, BehaviorPrecision: f.Precision, byCell: f.ByCell, replanned: true, supposes: f.Forecast == "", unsaid: f.LeftOut == "",
		endless: f.Counted == "", unranged: f.Reward != nil,
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

// guarantee is what the statement promises, by noise of a family: with the epsilon of another accountant, where
// there was one; nil of a reference.
func (s *Statement) guarantee(epsilon *float64, family NoiseFamily) *Privacy {
	if s == nil {
		return nil
	}
	q := &Privacy{Unit: s.Unit, Adjacency: s.Adjacency, Budget: dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}, LargeDelta: true, NoiseFamily: family}
	switch family {
	case GaussianNoise:
		q.NoiseFamily = gaussianCells
	case "":
		q.NoiseFamily = GaussianNoise
	}
	if epsilon != nil {
		q.Budget.Epsilon = *epsilon
	}
	if s.Noise == "fast" {
		q.Fast = true
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
	again, err := p.again(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRelease, err)
	}
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"theta", r.Theta, again.Theta},
		{"values", r.Values, again.Values},
		{"bands", r.Bands, again.Bands},
		{"survival", r.Survival, again.Survival},
		{"learned", r.Learned, again.Learned},
		{"distribution", r.Distribution, again.Distribution},
		{"experiment", r.Experiment, again.Experiment},
		{"start_value", r.Start, p.public.startOf(again)},
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

// again makes the part of a release that a run adds.
func (p *Plan) again(r *Release) (*Release, error) {
	run := r.run()
	again, err := p.outcome(run)
	switch {
	case err == nil:
		again.answer()
	case run.estimate != nil:
		err = fmt.Errorf("answers[0]: %w", err)
	}
	return again, err
}

// notes are all notes of a release: what overturns the others first, then those of the
// plan, then those of the run.
func (p *Plan) notes(r *Release) []string {
	var out []string
	if r.first != "" {
		out = []string{p.public.words(r.first)}
	}
	out = append(out, p.Notes...)
	for _, note := range r.Notes {
		out = append(out, p.public.words(note))
	}
	return out
}

// verifyPrivacy compares the statement and the words about it.
func (p *Plan) verifyPrivacy(r *Release) error {
	if !p.public.private() {
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

// functionAgain makes a value function again: one number a feature and, where the
// features are of finitely many states, the value of each.
// bounded ones lie in the public range of a return.
func functionAgain(p Public, bounded bool) outcome {
	f, within := p.Features, p.Returns()
	return func(r *Release) (*Release, error) {
		if f == nil {
			return nil, errors.New("a value function needs public.features")
		}
		if len(r.Theta) != f.Dim() {
			return nil, fmt.Errorf("theta has %d numbers for %d features", len(r.Theta), f.Dim())
		}
		for i, v := range r.Theta {
			if bounded && !(v >= within.Min && v <= within.Max) {
				return nil, fmt.Errorf("theta[%d] is %v, outside the public range of a return, [%v, %v]", i, v, within.Min, within.Max)
			}
		}
		return functionReleased(f, r.Theta), nil
	}
}

// paid reads the estimate of a release back.
func paid(r *Release) (*scalar.Estimate, error) {
	if r.estimate == nil {
		return nil, errors.New("estimate is missing")
	}
	e := &scalar.Estimate{
		Value: r.estimate.Value, Interval: r.estimate.Interval, Clipping: r.estimate.Clipping,
		StdSampling: r.estimate.StdSampling, StdPrivacy: r.estimate.StdPrivacy, Undetermined: r.estimate.Sampling == PublicBound,
	}
	if err := fill(e, r.Diagnostics); err != nil {
		return nil, fmt.Errorf("diagnostics: %w", err)
	}
	var err error
	e.Counts, e.Rounds, err = estimatedFrom(r)
	return e, err
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

// estimateAgain makes a private estimate again, for which the probabilities of logged actions
// may have been estimated.
func estimateAgain(again func(*scalar.Estimate) (*scalar.Estimate, error), b propensities) outcome {
	return func(r *Release) (*Release, error) {
		e, err := paid(r)
		if err != nil {
			return nil, err
		}
		if e, err = again(e); err != nil {
			return nil, err
		}
		r = estimated(e)
		return r, r.tell(b, e)
	}
}

// numbers reads a list of so many numbers from the diagnostics of a release.
func numbers(r *Release, name string, n int) (list []float64, err error) {
	if err := diagnostic(r, name, &list); err != nil {
		return nil, err
	}
	if len(list) != n {
		return nil, fmt.Errorf("diagnostics.%s holds %d numbers; want %d", name, len(list), n)
	}
	return list, nil
}
