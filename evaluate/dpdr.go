package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// DPDR is the doubly robust estimate (Jiang and Li 2016; Thomas and Brunskill
// 2016) under differential privacy: the mean over persons of V_0, where backward
// from the end of an episode
//
//	V_t = Vhat(S_t) + rho_t (R_t + gamma V_{t+1} - Qhat(S_t, A_t)).
//
// The baseline Vhat, Qhat is public or paid for with a share of the budget. Right
// or wrong, it does not move the expectation of what a person adds; a good one
// makes it vary little, so that the clip, and with it the noise, can be small.
// The clip is centred on the baseline's guess of the answer and chosen from a
// paid histogram. The estimate and its second moment are one Gaussian release of
// [mechanism.Moments].
//
// The interval holds the mean of clipped contributions. Where the logs never or hardly
// ever do what the target policy does it may miss the value by far; [DPWIS] and
// [DPPDIS] hold it there too.
//
// Released: a scalar with a 95% interval, and the baseline and clip that were
// paid for. Unit: a person. Adjacency: either. Clip: half the public width of a
// return times MaxWeight, around the baseline, or a narrower range from the
// histogram. Event: dp.Gaussian for baseline, histogram, diagnostics and
// estimate, composed. Proof: docs/proofs/dp-dr.md.
type DPDR struct {
	// Baseline is "auto" (the default), "public", "none", "value", "action" or
	// "state"; see [DPDR.Plan].
	Baseline string `json:"baseline,omitempty"`
	// Constant, ActionValues and StateValues are a public baseline: one number, one
	// for each action (logs of one-row episodes), or one for each state of finitely
	// many. At most one of them may be given.
	Constant     *float64  `json:"constant,omitempty"`
	ActionValues []float64 `json:"action_values,omitempty"`
	StateValues  []float64 `json:"state_values,omitempty"`
	// BaselineShare is the share of the budget (of mu^2) that a paid baseline
	// gets. 0 means 0.1 for a single number and 0.3 for values by state or action.
	BaselineShare float64 `json:"baseline_share,omitempty"`
	// MaxWeight is the public cap in whose products with half the width of a
	// return the widest clip is expressed; on-policy it is 1. 0 means 10 or, where
	// the budget is small, sqrt(m mu/2) for m persons, but at least 1, as in
	// [DPWIS].
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Clip is "auto" (the default) or "public"; ClipShare and Diagnostics are as in
	// [DPIS].
	Clip        string  `json:"clip,omitempty"`
	ClipShare   float64 `json:"clip_share,omitempty"`
	Diagnostics float64 `json:"diagnostics,omitempty"`
}

// Plan implements [Estimator]. The baseline is decided from public facts:
//
//   - public: Constant, ActionValues or StateValues, which auto chooses when one
//     of them is given;
//   - none: the middle of the public range. Auto chooses it on-policy, where every
//     ratio is 1 and a baseline cancels;
//   - action: the noisy mean reward of each action, for one-row episodes and a
//     target policy that knows its probabilities. Auto chooses it where a
//     trajectory has one decision;
//   - state: a noisy value of each state, for features of finitely many states.
//     Auto chooses it when the budget can tell their values apart;
//   - value: one noisy number. Auto chooses it in all other cases.
func (m DPDR) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	m.ActionValues, m.StateValues = slices.Clone(m.ActionValues), slices.Clone(m.StateValues)
	const method = "dp-dr"
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	if m.MaxWeight == 0 {
		var err error
		if m.MaxWeight, err = affordableWeight(p); err != nil {
			return nil, err
		}
	}
	d, shares, err := m.resolve(method, p)
	if err != nil {
		return nil, err
	}
	cap, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return nil, err
	}
	numbers, centre := p.numbers(), p.Returns().Mid()
	if d.Guess != nil {
		centre = d.Guess.Overall
	}
	if d.Mean, err = meanOf(method, p, scalar.Around(numbers, cap, centre), cap, shares); err != nil {
		return nil, err
	}
	d.Tail = scalar.ThinTail()
	plan, err := newPlan(method, p, eventOf(d.Noise), func(_ context.Context, data *trajectory.Dataset) (draw, error) {
		return prepareDR(d, p, data)
	})
	if err != nil {
		return nil, err
	}
	plan.outcome = estimateAgain(d.Again)
	plan.Facts["baseline"] = d.Kind
	plan.Facts["baseline_share"] = shares.Baseline
	plan.Facts["max_weight"] = cap
	plan.Facts["clip_share"] = shares.Clip
	plan.Facts["diagnostics_share"] = m.Diagnostics
	if d.Guess != nil {
		plan.Facts["baseline_values"] = baselineFacts(d.Guess)
	}
	if err := plan.describeMean(d.Mean); err != nil {
		return nil, err
	}
	if !policy.OnPolicy(p.Target) {
		plan.Notes = append(plan.Notes, "The interval holds the mean of clipped contributions, and the value of the policy only as far as nothing lies beyond the clip: where the logs never or hardly ever do what the target policy does, it may miss the value by far. dp-wis, dp-pdis and dp-is hold it there too.")
	}
	return plan, nil
}

// resolve fixes the baseline and the shares.
func (m DPDR) resolve(method string, p Public) (scalar.DR, scalar.Stages, error) {
	half := m.Diagnostics / 2
	s := scalar.Stages{Weights: half, Clipped: half, Baseline: m.BaselineShare}
	if m.Clip == "" {
		m.Clip = defaultDRClip
	}
	var err error
	if s.Clip, err = clipShare(method, p, m.Clip, m.ClipShare, scalar.ClipSteps); err != nil {
		return scalar.DR{}, s, err
	}
	d := scalar.DR{Kind: m.Baseline}
	if f, ok := p.Features.(feature.Finite); ok {
		d.States = f.States()
	}
	if d.Guess, err = m.publicGuess(method, p, d.States); err != nil {
		return d, s, err
	}
	if d.Kind == "" || d.Kind == "auto" {
		reach, err := reach(p)
		if err != nil {
			return d, s, err
		}
		d.Kind = chooseBaseline(d, p, reach, m.BaselineShare)
	}
	if err := checkBaseline(d, method, p); err != nil {
		return d, s, err
	}
	paid := d.Kind != "public" && d.Kind != "none"
	switch {
	case !paid && s.Baseline != 0:
		return d, s, fmt.Errorf("%w: %s: baseline_share is %v, but the baseline is %s and costs nothing", ErrMethod, method, s.Baseline, d.Kind)
	case paid && s.Baseline == 0:
		s.Baseline = defaultBaselineShare(d.Kind)
	case d.Kind == "none":
		d.Guess = &scalar.Guess{Overall: p.Returns().Mid()}
	}
	return d, s, nil
}

func defaultBaselineShare(kind string) float64 {
	if kind == scalar.BaselineValue {
		return defaultValueShare
	}
	return defaultTableShare
}

// chooseBaseline is the rule of baseline auto.
func chooseBaseline(d scalar.DR, p Public, reach, share float64) string {
	switch {
	case d.Guess != nil:
		return "public"
	case policy.OnPolicy(p.Target):
		return "none"
	case p.decisions() == 1 && p.Target.Actions() > 0:
		return "action"
	}
	if share == 0 {
		share = defaultBaselineShare("state")
	}
	// The noise in one coordinate is about 2/mu, and a state's coordinate grows to
	// about m/sqrt(2 states); see payByState. Below twelve deviations values by state
	// were no better than one number, at three times its cost.
	if d.States > 0 && reach*math.Sqrt(share) > 24*math.Sqrt(2*float64(d.States)) {
		return "state"
	}
	return "value"
}

// checkBaseline refuses a baseline that the public facts do not allow.
func checkBaseline(d scalar.DR, method string, p Public) error {
	public := d.Guess != nil
	switch d.Kind {
	case "none", "value":
	case "public":
		if !public {
			return fmt.Errorf("%w: %s: baseline is public; give constant, action_values or state_values", ErrMethod, method)
		}
	case "action":
		if p.Target.Actions() == 0 {
			return fmt.Errorf("%w: %s: a baseline by action needs the target policy's probability of every action; give the policy as uniform, constant, table or softmax, or use baseline: value", ErrMethod, method)
		}
	case "state":
		if d.States == 0 {
			return fmt.Errorf("%w: %s: a baseline by state needs features over numbered states; give features of kind tabular or aggregate, or use baseline: value", ErrMethod, method)
		}
	default:
		return fmt.Errorf("%w: %s: baseline is %q; want auto, public, none, value, action or state", ErrMethod, method, d.Kind)
	}
	if public && d.Kind != "public" {
		return fmt.Errorf("%w: %s: baseline is %s, but constant, action_values or state_values is given; leave one of them out", ErrMethod, method, d.Kind)
	}
	return nil
}

// publicGuess reads a public baseline; nil when there is none.
func (m DPDR) publicGuess(method string, p Public, states int) (*scalar.Guess, error) {
	var given []float64
	g := &scalar.Guess{Action: m.ActionValues, State: m.StateValues}
	given = append(append(given, m.ActionValues...), m.StateValues...)
	kinds := 0
	for _, there := range []bool{m.Constant != nil, len(m.ActionValues) > 0, len(m.StateValues) > 0} {
		if there {
			kinds++
		}
	}
	if m.Constant != nil {
		given = append(given, *m.Constant)
	}
	if kinds == 0 {
		return nil, nil
	}
	for _, v := range given {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: %s: a public baseline holds %v; want finite numbers", ErrMethod, method, v)
		}
		g.Overall += v / float64(len(given))
	}
	switch {
	case kinds > 1:
		return nil, fmt.Errorf("%w: %s: give one of constant, action_values and state_values", ErrMethod, method)
	case g.State != nil && len(g.State) != states:
		return nil, fmt.Errorf("%w: %s: %d state_values for %d states; give features over numbered states and one number for each", ErrMethod, method, len(g.State), states)
	case g.Action != nil && len(g.Action) != p.Target.Actions():
		return nil, fmt.Errorf("%w: %s: %d action_values; the target policy knows of %d actions", ErrMethod, method, len(g.Action), p.Target.Actions())
	}
	g.Overall = min(max(g.Overall, p.Returns().Min), p.Returns().Max)
	return g, nil
}

// prepareDR binds the plan to data. Whatever may fail, fails here.
func prepareDR(d scalar.DR, p Public, data *trajectory.Dataset) (draw, error) {
	if d.ByState() {
		if err := feature.Check(p.Features, data); err != nil {
			return nil, err
		}
	}
	s, err := sampleFor(data, p)
	if err != nil {
		return nil, err
	}
	if err := roomFor(data, 2*max(s.States, s.Policy.Actions(), 2)); err != nil {
		return nil, err
	}
	var rows []float64
	if d.ByAction() {
		if data.Rows() != data.Episodes() {
			return nil, fmt.Errorf("%w: dp-dr: a baseline by action needs episodes of one row", ErrData)
		}
		if rows, err = scalar.Distributions(s, p.Target); err != nil {
			return nil, err
		}
	}
	weight := scalar.PersonWeights(s)
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		e, err := d.Run(s, weight, rows, src)
		if err != nil {
			return nil, err
		}
		return estimated(e), nil
	}, nil
}
