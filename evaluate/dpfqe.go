package evaluate

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// DPFQE is the direct method (fitted-Q evaluation; Le, Voloshin and Yue 2019) under
// differential privacy. A model of what follows a decision is paid for with one vector
// of noisy counts and sums of rewards, pooled over time ([mechanism.Transitions]).
// From it values of the target policy follow by backward induction, with 1, 2, ...
// decisions to go; rows that noise hides lean on those of their state, and these on all.
// The answer is the paid mean over persons of the value of the first state.
//
// It is a plug-in: right where the numbered states are all that matters for what
// follows, and off by an unknown amount elsewhere. So the interval is not the model's.
// It is that of [DPPDIS], or of [DPWIS] where returns have a public range of their own, paid for with a share of the budget, which holds the value of
// the policy whatever the model says; the answer is the model's where it lies in
// that interval, else the nearer end. With Interval "none" nothing is paid for, and the
// interval is the whole public range. The standard deviations are those that noise and
// sampling make in the model's answer, if the model is right. Where a public design and the
// curator's statement make a guard needless, the interval has none, as that of [DPPDIS].
//
// Where features are vectors the model is linear in them: ridge regressions, step by step,
// made of one release of noisy second moments ([mechanism.VectorSum]).
//
// Released: a scalar with a 95% interval, and the model's values by state, or its weights. Unit: a
// person. Adjacency: either. Assumes: features over numbered states, or of bounded norm; right logged
// probabilities; known ends of episodes. Clip: a person's weights by state and action, or
// moments, to an l2 norm that the mechanism enforces; then as DPPDIS. Event: composed dp.Gaussian.
// Proofs: docs/proofs/fqe.md, docs/proofs/overlap.md.
type DPFQE struct {
	// Form says what the model tells apart: "action" (what follows each action in each
	// state; the target policy must be a public function of the state), "state" (what
	// follows each state, weighted by the ratio of the decision) or "pooled" (all
	// states for one). "" and "auto" take the first that the public number of persons
	// and the budget can resolve; see [DPFQE.Plan]. "linear-state" fits a value that is
	// linear in any features of bounded norm, decisions weighted by their ratios, and is
	// what "auto" takes for features that are not over numbered states; "linear" fits one
	// to features and action, and needs the policy's probability of every action.
	Form string `json:"form,omitempty"`
	// MaxRatio is the public cap on the ratio of one decision in all forms but action and linear.
	// 0 means 5; on-policy it is 1.
	MaxRatio float64 `json:"max_ratio,omitempty"`
	// StartShare is the share of the budget (of mu^2) for the mean over first states.
	// 0 means 0.05.
	StartShare float64 `json:"start_share,omitempty"`
	// Interval is "bounds" (the default) or "none".
	Interval string `json:"interval,omitempty"`
	// IntervalShare is the share of the budget for the interval. 0 means 0.3.
	IntervalShare float64 `json:"interval_share,omitempty"`
	// MaxWeight is that of [DPPDIS], for the interval.
	MaxWeight float64 `json:"max_weight,omitempty"`
}

// Values of the parameter interval.
const (
	intervalBounds = "bounds"
	intervalNone   = "none"
)

// Plan implements [Estimator]. Form auto takes the finest table in which the noise is
// expected to be no larger than what it is to tell apart: with N decisions in K rows,
// of sensitivity C and noise multiplier s, C s 2 <= N/K, and for a single decision an
// episode the same of rewards. Pooled is always taken where the others are not.
func (m DPFQE) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	const method = "dp-fqe"
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	if err := m.checkAsked(method, p); err != nil {
		return nil, err
	}
	var f feature.Finite
	var err error
	if !m.isLinear(p) {
		if f, err = m.check(method, p); err != nil {
			return nil, err
		}
	}
	d, err := m.split(method, p, f)
	if err != nil {
		return nil, err
	}
	var target []float64
	if d.linear == nil && d.table.Form == fqe.ByAction {
		if target, err = fqe.Target(p.Target, f); err != nil {
			return nil, fmt.Errorf("%w: %s: form action: %w; give the policy as uniform, constant or table over the column of the states, or use form state", ErrMethod, method, err)
		}
	}
	d.target = target
	plan, err := newPlan(method, p, gaussians(d.multipliers...), func(_ context.Context, data *trajectory.Dataset) (draw, error) {
		return d.prepare(p, data)
	})
	if err != nil {
		return nil, err
	}
	plan.needsEnds = p.decisions() > 1
	plan.onMeans, plan.uncut = d.vouched.stepwise, d.bounds != nil && d.bounds.Uncut != nil
	plan.outcome = d.again
	return plan, d.describe(plan)
}

// check refuses what the public facts do not allow a table.
func (m DPFQE) check(method string, p Public) (feature.Finite, error) {
	f, ok := p.Features.(feature.Finite)
	if !ok {
		return nil, fmt.Errorf("%w: %s needs features over numbered states; give features of kind tabular or aggregate", ErrPublic, method)
	}
	return f, m.checkAsked(method, p)
}

// checkAsked refuses what the public facts do not allow any model.
func (m DPFQE) checkAsked(method string, p Public) error {
	switch {
	case !(p.Reward.Width() > 0):
		return fmt.Errorf("%w: %s makes values of rewards and needs problem.reward, the public range of one", ErrPublic, method)
	case p.decisions() > longestInduction:
		return fmt.Errorf("%w: %s takes at most %d decisions an episode, and problem.horizon is %d", ErrPublic, method, longestInduction, p.Horizon)
	case m.Interval != "" && m.Interval != intervalBounds && m.Interval != intervalNone:
		return fmt.Errorf("%w: %s: interval is %q; want bounds or none", ErrMethod, method, m.Interval)
	case m.Interval == intervalNone && (m.IntervalShare != 0 || m.MaxWeight != 0):
		return fmt.Errorf("%w: %s: interval is none, but interval_share or max_weight is given; leave them out", ErrMethod, method)
	case m.MaxRatio != 0 && !(m.MaxRatio >= 1 && m.MaxRatio <= 1e6):
		return fmt.Errorf("%w: %s: max_ratio is %v; want 1 to 1e6", ErrMethod, method, m.MaxRatio)
	}
	for _, x := range []float64{m.StartShare, m.IntervalShare} {
		if !(x >= 0 && x < 1) {
			return fmt.Errorf("%w: %s: a share of the budget is %v; want between 0 and 1", ErrMethod, method, x)
		}
	}
	return nil
}

// longestInduction keeps values by decision within memory.
const longestInduction = 10000

// split divides the budget: model, first states, and the interval's stages.
func (m DPFQE) split(method string, p Public, f feature.Finite) (direct, error) {
	d := direct{start: fqe.Start{Public: p.numbers()}}
	start, interval := m.StartShare, m.IntervalShare
	if start == 0 {
		start = defaultStartShare
	}
	if m.Interval != intervalNone && interval == 0 {
		interval = defaultIntervalShare
	}
	if start+interval >= 1 {
		return d, fmt.Errorf("%w: %s: start_share and interval_share add up to %v; want below 1, so that something is left for the model", ErrMethod, method, start+interval)
	}
	d.shares = []float64{1 - start - interval, start}
	if m.Interval != intervalNone {
		clip, err := m.bound(method, p, interval, &d)
		if err != nil {
			return d, err
		}
		d.shares = d.withInterval(interval, clip)
	}
	var err error
	if d.multipliers, err = multipliers(*p.Privacy, d.shares...); err != nil {
		return d, err
	}
	d.start.Multiplier = d.multipliers[1]
	if f == nil {
		d.linear, err = m.linearFor(method, p, d.multipliers[0])
	} else {
		d.table, err = m.tableFor(method, p, f, d.multipliers[0])
	}
	return d, err
}

// withInterval adds, to the shares of model and first states, those of the interval's stages.
func (d direct) withInterval(interval, clip float64) []float64 {
	shares := slices.Clone(d.shares)
	if clip > 0 {
		shares = append(shares, clip*interval)
	}
	return append(shares, (1-clip)*interval)
}

// bound plans the interval at its share of the budget, of which the choice of a cap gets
// the share clip.
func (m DPFQE) bound(method string, p Public, interval float64, d *direct) (clip float64, err error) {
	d.vouched = narrowest(p)
	is := DPIS{MaxWeight: m.MaxWeight}
	caps, clip, err := is.caps(method, p, d.vouched.weights.largest)
	if err != nil {
		return 0, err
	}
	b := scalar.Bounds{Public: p.numbers(), Range: d.vouched.within, Caps: caps, SelfNormalised: true, Usable: p.onPolicy()}
	split := func(s scalar.Stages) (scalar.Stages, error) {
		found, err := multipliers(*p.Privacy, d.withInterval(interval, s.Clip)...)
		if err != nil {
			return s, err
		}
		if s.Main = found[len(found)-1]; s.Clip > 0 {
			s.Clip = found[2]
		}
		return s, nil
	}
	b, d.tier, err = is.tier(p, d.vouched, b, scalar.Stages{Clip: clip}, split)
	d.bounds = &b
	return d.tier.clip, err
}

// tableFor chooses the form.
func (m DPFQE) tableFor(method string, p Public, f feature.Finite, multiplier float64) (fqe.Table, error) {
	t := fqe.Table{Public: p.numbers(), Cells: f.Dim(), Decisions: p.decisions(), Multiplier: multiplier, Discounts: p.Discounts}
	if p.Discounts {
		t.Public.Gamma = 1
	}
	ratio := m.MaxRatio
	switch {
	case policy.OnPolicy(p.Target):
		ratio = 1
	case ratio == 0:
		ratio = defaultMaxRatio
	}
	of := func(form string) fqe.Table {
		t := t
		t.Form, t.MaxWeight = form, ratio
		if form == fqe.ByAction {
			t.Actions, t.MaxWeight = p.Target.Actions(), 1
		}
		return t
	}
	switch m.Form {
	case fqe.ByAction:
		if p.Target.Actions() == 0 {
			return t, fmt.Errorf("%w: %s: form action needs the target policy's probability of every action; give the policy as uniform, constant or table, or use form state", ErrMethod, method)
		}
		return of(m.Form), nil
	case fqe.ByState, fqe.Pooled:
		return of(m.Form), nil
	case "", "auto":
	default:
		return t, fmt.Errorf("%w: %s: form is %q; want auto, action, state, pooled, linear or linear-state", ErrMethod, method, m.Form)
	}
	forms := []string{fqe.ByAction, fqe.ByState}
	if p.Target.Actions() == 0 {
		forms = forms[1:]
	}
	for _, form := range forms {
		if c := of(form); c.Coordinates() <= largestTable {
			if blur, err := c.Blur(); err != nil || blur <= 1 {
				return c, err
			}
		}
	}
	return of(fqe.Pooled), nil
}

// largestTable is the largest number of noisy numbers that form auto asks for.
const largestTable = 1 << 20

// describe tells the plan.
func (d direct) describe(plan *Plan) error {
	plan.Facts["shares"] = d.shares
	plan.Expected.Constant = plan.public.Returns().Width() / 2
	if d.linear != nil {
		d.describeLinear(plan)
	} else {
		d.describeTable(plan)
	}
	if d.bounds == nil {
		plan.Facts["clip"] = plan.public.Returns()
		plan.Notes = append(plan.Notes, "No budget was spent on an interval: the one given is the whole public range of a return.")
		return nil
	}
	plan.Facts["max_weight"] = d.bounds.Caps.At(0).Max
	if d.bounds.Uncut != nil {
		if err := plan.describeUncut(*d.bounds); err != nil {
			return err
		}
		plan.Notes = append(plan.Notes, "The interval does not come from the model, but from importance sampling with a share of the budget. A model value outside the interval is moved to its nearer end. The expected errors are those of the interval; the error of the model is not known in advance.")
		d.tier.describe(plan, nil)
		return nil
	}
	cap, err := plan.expectBounds(*d.bounds)
	if err != nil {
		return err
	}
	if !policy.OnPolicy(plan.public.Target) {
		defer d.tier.describe(plan, nil)
	}
	plan.Notes = append(plan.Notes, "The interval does not come from the model, but from importance sampling with a share of the budget. It extends from a lower estimate of the value to an upper one, and covers the value of the policy whatever the model says and whatever was never logged, assuming correct logged probabilities. A model value outside the interval is moved to its nearer end. "+fmt.Sprintf("The expected errors are those of the interval, with weights capped at %.3g and without missing mass; the error of the model is not known in advance.", cap))
	plan.describeEpisodes()
	return nil
}

// describeTable tells of the table.
func (d direct) describeTable(plan *Plan) {
	plan.Facts["form"] = d.table.Form
	plan.Facts["coordinates"] = d.table.Coordinates()
	plan.Facts["model_norm"] = d.table.Most()
	if d.table.Form != fqe.ByAction {
		plan.Facts["max_ratio"] = d.table.MaxWeight
	}
	plan.Notes = append(plan.Notes, "A plug-in estimate: the value is the prediction of a model that is computed from noisy counts of what followed each "+rowWords(d.table.Form)+". It is biased by an unknown amount if more than the numbered state and the number of decisions left matters, and nothing here bounds that bias. The standard deviations are the model's own and assume that it is right."+endWords(d.table.Decisions))
}

// endWords say what ends of episodes mean to the model.
func endWords(decisions int64) string {
	if decisions <= 1 {
		return ""
	}
	return fmt.Sprintf(" An episode that ends before decision %d, the last that problem.horizon allows, is taken to have ended because of its state, and what follows that decision does not count: if all episodes end after the same number of decisions, problem.horizon must be that number.", decisions)
}

func rowWords(form string) string {
	switch form {
	case fqe.ByAction:
		return "action in each state"
	case fqe.ByState:
		return "state, weighted by the ratio of the decision"
	}
	return "decision, weighted by its ratio, with all states pooled"
}
