package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// PolicyAnswer is one of several answers to a question about several policies.
type PolicyAnswer struct {
	// Name is that of the policy, or "A - B" for a contrast, or "best".
	Name string     `json:"name"`
	Kind AnswerKind `json:"kind"`
	// Estimate is the value of the policy, or the difference of two; nil for a
	// selection. Its confidence is that of its interval alone; together all intervals
	// have that of the release, JointConfidence.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Diagnostics are as in a [Release], of this answer.
	Diagnostics map[string]any `json:"diagnostics,omitempty"`
	Selection   *Selection     `json:"selection,omitempty"`
}

// AnswerKind says what an answer is about.
type AnswerKind string

// The kinds of answers.
const (
	OfPolicy   AnswerKind = "policy"
	OfContrast AnswerKind = "contrast"
	OfChoice   AnswerKind = "selection"
)

// plannedAnswer is one answer with all that is fixed beforehand.
type plannedAnswer struct {
	name     string
	kind     AnswerKind
	policies []int // places of the one policy, or of the two
	bounds   scalar.Bounds
	share    float64 // of the answer's budget, for the choice of its cap
}

// ExpectedAnswer is what is known of an answer beforehand, in units of a return: the
// public fact "answers" of a plan is a list of them.
type ExpectedAnswer struct {
	Name string     `json:"name"`
	Kind AnswerKind `json:"kind"`
	// Range is the public range that holds it.
	Range Range `json:"range"`
	// MaxWeight is the largest cap on a person's weight, and Choices from how many caps
	// a paid histogram chooses; 0 where none does.
	MaxWeight float64 `json:"max_weight"`
	Choices   int     `json:"clip_choices,omitempty"`
	// StdPrivacy and StdSampling are as in [Expected]; HalfWidth is that of the joint
	// interval without missing mass.
	StdPrivacy  float64 `json:"std_privacy"`
	StdSampling float64 `json:"std_sampling_at_most"`
	HalfWidth   float64 `json:"half_width"`
}

// several plans one release for several policies: each answer is a release of
// mechanism.Pair with an equal share of mu^2, beside a histogram where its cap is
// chosen. docs/proofs/contrasts.md says why a joint bound on all of them would gain
// nothing.
func (m DPIS) several(method string, p Public, of vouched) (*Plan, error) {
	if m.Diagnostics != 0 {
		return nil, fmt.Errorf("%w: %s: diagnostics are of one policy; with targets leave the parameter out", ErrMethod, method)
	}
	p.answers = len(p.Targets.asked())
	of.confounding = m.Confounding
	answers, caps, err := m.answers(method, p, of)
	if err != nil {
		return nil, err
	}
	event, err := share(*p.Privacy, answers)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(method, p, event, func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		xs, zs, err := contributions(d, p, of)
		if err != nil {
			return nil, err
		}
		return func(_ context.Context, src *noise.Source) (*Release, error) { return answered(p, answers, xs, zs, src) }, nil
	})
	if err != nil {
		return nil, err
	}
	plan.outcome, plan.needsEnds = answersAgain(p, answers), of.needsEnds
	m.describe(plan, caps.Above, answers[0].share)
	delete(plan.Facts, "clip_share")
	delete(plan.Facts, "diagnostics_share")
	return plan, plan.describeAnswers(answers, m.Confounding)
}

// answers fixes range and caps of every answer.
func (m DPIS) answers(method string, p Public, of vouched) ([]plannedAnswer, scalar.Nest, error) {
	caps, _, err := m.caps(method, p)
	if err != nil {
		return nil, caps, err
	}
	clip := m.Clip
	if clip == "" {
		clip = defaultMeanClip
	}
	share, err := askedShare(method, clip, m.ClipShare)
	if err != nil {
		return nil, caps, err
	}
	var out []plannedAnswer
	for _, a := range p.Targets.asked() {
		planned := plannedAnswer{name: a.name, kind: OfPolicy, bounds: scalar.Bounds{
			Public: p.numbers(), Range: of.within, Answers: p.answers, SelfNormalised: of.selfNormalised, Confounded: m.Confounding > 1,
		}}
		one := &planned.bounds
		for _, name := range a.policies {
			planned.policies = append(planned.policies, p.Targets.place(name))
		}
		if len(a.policies) == 2 {
			planned.kind = OfContrast
			one.Range, one.Public.Returns, one.SelfNormalised = mirrored(of.within), mirrored(one.Public.Returns), false
		}
		one.Caps, planned.share = narrowed(p.Targets.cap(planned.policies, caps.Above), share)
		out = append(out, planned)
	}
	return out, caps, nil
}

// mirrored is the range of a difference of two numbers in a range.
func mirrored(r facts.Range) facts.Range { return facts.Range{Min: -r.Width(), Max: r.Width()} }

// cap is a public cap on a person's weight in an answer, where most is that of one
// policy: the weight of the logged policy is 1, and that of a contrast is the mean of
// the weights of both.
func (t *Targets) cap(places []int, most float64) float64 {
	of := func(k int) float64 {
		if policy.OnPolicy(t.Policies[k].Policy) {
			return 1
		}
		return most
	}
	if len(places) == 1 {
		return of(places[0])
	}
	a, b := places[0], places[1]
	if apart(t.Policies[a].Policy, t.Policies[b].Policy) {
		return most / 2
	}
	return (of(a) + of(b)) / 2
}

// share gives every answer the same part of mu^2, and returns the event of all.
func share(q Privacy, answers []plannedAnswer) (dp.Event, error) {
	var shares []float64
	for _, a := range answers {
		if a.share > 0 {
			shares = append(shares, a.share)
		}
		shares = append(shares, 1-a.share)
	}
	found, err := multipliers(q, shares...)
	if err != nil {
		return nil, err
	}
	k := 0
	for i := range answers {
		n := &answers[i].bounds.Noise
		if answers[i].share > 0 {
			n.Clip = found[k]
			k++
		}
		n.Main = found[k]
		k++
	}
	return gaussians(found...), nil
}

// contributions are what every person adds to the estimates of every policy.
func contributions(d *trajectory.Dataset, p Public, of vouched) (xs, zs [][]float64, err error) {
	if err := roomFor(d, 6); err != nil {
		return nil, nil, err
	}
	for _, a := range p.Targets.Policies {
		p.Target = a.Policy
		s, err := sampleFor(d, p)
		if err != nil {
			return nil, nil, fmt.Errorf("targets: %s: %w", a.Name, err)
		}
		if of.confounding > 1 && !policy.OnPolicy(a.Policy) {
			scalar.Confound(s, of.confounding)
		}
		x, z := make([]float64, d.Persons()), make([]float64, d.Persons())
		of.each(x, z, s)
		xs, zs = append(xs, x), append(zs, z)
	}
	return xs, zs, nil
}

// answered draws the noise of all answers, in their order.
func answered(p Public, answers []plannedAnswer, xs, zs [][]float64, src *noise.Source) (*Release, error) {
	var estimates []*scalar.Estimate
	for _, a := range answers {
		k := a.policies[0]
		x, z := xs[k], zs[k]
		if a.kind == OfContrast {
			l := a.policies[1]
			x, z = make([]float64, len(x)), make([]float64, len(x))
			scalar.Contrast(x, z, xs[k], zs[k], xs[l], zs[l])
		}
		e, err := a.bounds.Run(x, z, src)
		if err != nil {
			return nil, err
		}
		estimates = append(estimates, e)
	}
	return joint(p, answers, estimates), nil
}

// joint is the release of all answers. It is post-processing of their estimates.
func joint(p Public, answers []plannedAnswer, estimates []*scalar.Estimate) *Release {
	r := &Release{JointConfidence: scalar.Confidence(1)}
	for i, a := range answers {
		one := estimated(estimates[i])
		one.Estimate.Confidence = scalar.Confidence(len(answers))
		r.Answers = append(r.Answers, PolicyAnswer{Name: a.name, Kind: a.kind, Estimate: one.Estimate, Diagnostics: one.Diagnostics})
		for _, note := range one.Notes {
			r.Notes = append(r.Notes, a.name+": "+note)
		}
	}
	if p.Targets.Best {
		r.Answers = append(r.Answers, PolicyAnswer{Name: bestName, Kind: OfChoice, Selection: selectBest(p.Targets, r.Answers)})
	}
	return r
}

// answersAgain makes all answers again from their noisy sums.
func answersAgain(p Public, answers []plannedAnswer) outcome {
	return func(r *Release) (*Release, error) {
		if len(r.Answers) < len(answers) {
			return nil, fmt.Errorf("answers: %d, and %d are asked for", len(r.Answers), len(answers))
		}
		var estimates []*scalar.Estimate
		for i, a := range answers {
			e, err := paid(&Release{Estimate: r.Answers[i].Estimate, Diagnostics: r.Answers[i].Diagnostics})
			if err == nil {
				e, err = a.bounds.Again(e)
			}
			if err != nil {
				return nil, fmt.Errorf("answers[%d]: %w", i, err)
			}
			estimates = append(estimates, e)
		}
		return joint(p, answers, estimates), nil
	}
}

// describeAnswers tells what is known of every answer beforehand, at the cap that
// suits its budget where the cap is yet to be chosen.
func (p *Plan) describeAnswers(answers []plannedAnswer, confounding float64) error {
	affordable, err := affordableWeight(p.public)
	if err != nil {
		return err
	}
	z := math.Sqrt2 * math.Erfinv(scalar.Confidence(len(answers)))
	var told []ExpectedAnswer
	for _, a := range answers {
		widest := a.bounds.Caps.At(0).Max
		f := ExpectedAnswer{Name: a.name, Kind: a.kind, Range: Range(a.bounds.Public.Returns), MaxWeight: widest}
		cap := widest
		if a.share > 0 {
			f.Choices, cap = a.bounds.Caps.Steps+1, min(widest, affordable)
		}
		if f.StdPrivacy, f.StdSampling, err = a.bounds.Expected(cap); err != nil {
			return err
		}
		f.HalfWidth = z * math.Hypot(f.StdPrivacy, f.StdSampling)
		told = append(told, f)
	}
	p.Facts["answers"] = told
	if confounding > 1 {
		p.Facts["confounding"] = confounding
	}
	p.Expected.Constant = p.public.Returns().Width() / 2
	p.Notes = append(p.Notes,
		jointNote(len(answers), confounding),
		"A contrast is an estimate of its own: what two policies do alike cancels in it, person by person, and its interval is not made of those of the two.")
	return nil
}

func jointNote(intervals int, confounding float64) string {
	whatever := ", whatever weights are cut and whatever the logs never tried; resting on " + restsOn(confounding) + "."
	if intervals == 1 {
		return "The interval holds with 95%" + whatever
	}
	return fmt.Sprintf("All %d intervals hold together with 95%%", intervals) + whatever + " Each has an equal share of the budget and of the error."
}
