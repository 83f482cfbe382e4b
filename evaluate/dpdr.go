package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
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

// dr is a DPDR with its defaults filled in.
type dr struct {
	weightedMean
	kind   string
	guess  *guess // a public baseline
	states int
}

// Plan implements [Estimator]. The baseline is decided from public facts:
//
//   - public: Constant, ActionValues or StateValues, which auto chooses when one
//     of them is given;
//   - none: the middle of the public range. Auto chooses it on-policy, where every
//     ratio is 1 and a baseline cancels;
//   - action: the noisy mean reward of each action, for one-row episodes and a
//     target policy that knows its probabilities. Auto chooses it where the
//     horizon is 1;
//   - state: a noisy value of each state, for features of finitely many states.
//     Auto chooses it when the budget can tell their values apart;
//   - value: one noisy number. Auto chooses it in all other cases.
func (m DPDR) Plan(p Public) (*Plan, error) {
	p = p.clone()
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
	if d.weightedMean, err = newWeightedMean(method, p, d.around(p, cap, p.Returns().Mid()), cap, shares); err != nil {
		return nil, err
	}
	d.tail = thinTail()
	if d.guess != nil {
		d.nest = d.around(p, cap, d.guess.overall)
	}
	plan, err := newPlan(method, p, d.noise.event(), d.prepare)
	if err != nil {
		return nil, err
	}
	plan.Facts["baseline"] = d.kind
	plan.Facts["baseline_share"] = shares.baseline
	plan.Facts["max_weight"] = cap
	plan.Facts["clip_share"] = shares.clip
	plan.Facts["diagnostics_share"] = m.Diagnostics
	if d.guess != nil {
		plan.Facts["baseline_values"] = d.guess.public()
	}
	if err := d.describe(plan); err != nil {
		return nil, err
	}
	return plan, nil
}

// around is the family of clips about a centre. On-policy a contribution is a
// return and its public range bounds it.
func (d dr) around(p Public, cap, centre float64) nest {
	half := cap * p.Returns().Width() / 2
	if policy.OnPolicy(p.Target) {
		centre = p.Returns().Mid()
	}
	return nest{anchor: centre, below: half, above: half, steps: clipSteps}
}

// resolve fixes the baseline and the shares.
func (m DPDR) resolve(method string, p Public) (dr, stages, error) {
	half := m.Diagnostics / 2
	s := stages{weights: half, clipped: half, baseline: m.BaselineShare}
	if m.Clip == "" {
		m.Clip = clipAuto
	}
	var err error
	if s.clip, err = clipShare(method, p, m.Clip, m.ClipShare, clipSteps); err != nil {
		return dr{}, s, err
	}
	d := dr{kind: m.Baseline}
	if f, ok := p.Features.(feature.Finite); ok {
		d.states = f.States()
	}
	if d.guess, err = m.publicGuess(method, p, d.states); err != nil {
		return d, s, err
	}
	if d.kind == "" || d.kind == "auto" {
		reach, err := reach(p)
		if err != nil {
			return d, s, err
		}
		d.kind = d.choose(p, reach, m.BaselineShare)
	}
	if err := d.check(method, p); err != nil {
		return d, s, err
	}
	paid := d.kind != "public" && d.kind != "none"
	switch {
	case !paid && s.baseline != 0:
		return d, s, fmt.Errorf("%w: %s: baseline_share is %v, but the baseline is %s and costs nothing", ErrMethod, method, s.baseline, d.kind)
	case paid && s.baseline == 0:
		s.baseline = defaultBaselineShare(d.kind)
	case d.kind == "none":
		d.guess = &guess{overall: p.Returns().Mid()}
	}
	return d, s, nil
}

func defaultBaselineShare(kind string) float64 {
	if kind == "value" {
		return 0.1
	}
	return 0.3
}

// choose is the rule of baseline auto.
func (d dr) choose(p Public, reach, share float64) string {
	switch {
	case d.guess != nil:
		return "public"
	case policy.OnPolicy(p.Target):
		return "none"
	case p.Horizon == 1 && p.Target.Actions() > 0:
		return "action"
	}
	if share == 0 {
		share = defaultBaselineShare("state")
	}
	// The noise in one coordinate is about 2/mu, and a state's coordinate grows to
	// about m/sqrt(2 states); see payByState. Below twelve deviations values by state
	// were no better than one number, at three times its cost.
	if d.states > 0 && reach*math.Sqrt(share) > 24*math.Sqrt(2*float64(d.states)) {
		return "state"
	}
	return "value"
}

// check refuses a baseline that the public facts do not allow.
func (d dr) check(method string, p Public) error {
	public := d.guess != nil
	switch d.kind {
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
		if d.states == 0 {
			return fmt.Errorf("%w: %s: a baseline by state needs features over numbered states; give features of kind tabular or aggregate, or use baseline: value", ErrMethod, method)
		}
	default:
		return fmt.Errorf("%w: %s: baseline is %q; want auto, public, none, value, action or state", ErrMethod, method, d.kind)
	}
	if public && d.kind != "public" {
		return fmt.Errorf("%w: %s: baseline is %s, but constant, action_values or state_values is given; leave one of them out", ErrMethod, method, d.kind)
	}
	return nil
}

// publicGuess reads a public baseline; nil when there is none.
func (m DPDR) publicGuess(method string, p Public, states int) (*guess, error) {
	var given []float64
	g := &guess{action: m.ActionValues, state: m.StateValues}
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
		g.overall += v / float64(len(given))
	}
	switch {
	case kinds > 1:
		return nil, fmt.Errorf("%w: %s: give one of constant, action_values and state_values", ErrMethod, method)
	case g.state != nil && len(g.state) != states:
		return nil, fmt.Errorf("%w: %s: %d state_values for %d states; give features over numbered states and one number for each", ErrMethod, method, len(g.state), states)
	case g.action != nil && len(g.action) != p.Target.Actions():
		return nil, fmt.Errorf("%w: %s: %d action_values; the target policy knows of %d actions", ErrMethod, method, len(g.action), p.Target.Actions())
	}
	g.overall = min(max(g.overall, p.Returns().Min), p.Returns().Max)
	return g, nil
}

// prepare binds the plan to data. Whatever may fail, fails here.
func (d dr) prepare(_ context.Context, data *trajectory.Dataset) (draw, error) {
	if d.kind == "state" || d.guess != nil && d.guess.state != nil {
		if err := feature.Check(d.public.Features, data); err != nil {
			return nil, err
		}
	}
	s, err := sampleFor(data, d.public)
	if err != nil {
		return nil, err
	}
	if err := roomFor(data, 2*max(s.States, s.Policy.Actions(), 2)); err != nil {
		return nil, err
	}
	byAction := d.kind == "action" || d.guess != nil && d.guess.action != nil
	if byAction && data.Rows() != data.Episodes() {
		return nil, fmt.Errorf("%w: dp-dr: a baseline by action needs episodes of one row", ErrData)
	}
	var rows []float64
	if byAction {
		rows = make([]float64, data.Rows()*d.public.Target.Actions())
		if err := distributions(rows, s, d.public.Target); err != nil {
			return nil, err
		}
	}
	weight := personWeights(s)
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		g := d.guess
		if g == nil {
			if g, err = d.pay(s, src); err != nil {
				return nil, err
			}
		}
		x := make([]float64, len(weight))
		g.contributions(x, s, rows)
		r, err := d.run(x, weight, d.around(d.public, d.cap, g.overall), src)
		if err == nil && d.noise.baseline != 0 {
			r.Diagnostics["baseline"] = g.public()
		}
		return r, err
	}, nil
}

// distributions writes the target policy's probability of every action, row by
// row.
func distributions(dst []float64, s *value.Sample, p policy.Policy) error {
	b, err := p.Bind(s.Data)
	if err != nil {
		return err
	}
	k := p.Actions()
	for row := range s.Data.Rows() {
		b.Distribution(dst[row*k:row*k+k], row)
	}
	return nil
}
