package evaluate

import (
	"cmp"
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/feature"
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
func (m DPFQE) Plan(p Public) (*Plan, error) { return planned("dp-fqe", m, p, m.draft) }

func (m DPFQE) draft(method string, p Public) (draft, error) {
	f, err := m.check(method, p)
	if err != nil {
		return draft{}, err
	}
	d, err := m.split(method, p, f)
	if err != nil {
		return draft{}, err
	}
	about, err := d.about(p)
	return draft{
		method: method, public: p, event: eventOf(d.noise), outcome: d.again, summary: about,
		prepare:   d.preparation(p),
		needsEnds: p.decisions() > 1, onMeans: d.vouched.stepwise, uncut: d.bounds != nil && d.bounds.Uncut != nil,
	}, err
}

// check refuses what the public facts do not allow the model, and returns the features of a
// table; nil for a linear model.
func (m DPFQE) check(method string, p Public) (feature.Finite, error) {
	if err := m.checkAsked(method, p); err != nil || m.isLinear(p) {
		return nil, err
	}
	f, ok := p.Features.(feature.Finite)
	if !ok {
		return nil, fmt.Errorf("%w: %s needs features over numbered states; give features of kind tabular or aggregate", ErrPublic, method)
	}
	return f, nil
}

// checkAsked refuses what the public facts do not allow any model.
func (m DPFQE) checkAsked(method string, p Public) error {
	switch {
	case !(p.Reward.Width() > 0):
		return fmt.Errorf("%w: %s makes values of rewards and needs problem.reward, the public range of one", ErrPublic, method)
	case p.decisions() > longestInduction:
		return fmt.Errorf("%w: %s takes at most %d decisions an episode, and the public facts allow %d (problem.episode_horizon, or problem.horizon)", ErrPublic, method, longestInduction, p.decisions())
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
	start, interval := cmp.Or(m.StartShare, defaultStartShare), 0.0
	if m.Interval != intervalNone {
		interval = cmp.Or(m.IntervalShare, defaultIntervalShare)
	}
	if start+interval >= 1 {
		return d, fmt.Errorf("%w: %s: start_share and interval_share add up to %v; want below 1, so that something is left for the model", ErrMethod, method, start+interval)
	}
	d.shares = scalar.Stages{Baseline: 1 - start - interval, Start: start}
	if m.Interval != intervalNone {
		if err := m.bound(method, p, interval, &d); err != nil {
			return d, err
		}
	}
	var err error
	if d.noise, err = noiseOf(*p.Privacy, d.shares); err != nil {
		return d, err
	}
	d.start.Multiplier = d.noise.Start
	d.model, err = m.modelFor(method, p, f, d.noise.Baseline, method+": form action", "form state")
	return d, err
}

// modelFor is the model at a noise multiplier. what and other are for the error of a policy
// that does not tell the probability of every action in every state.
func (m DPFQE) modelFor(method string, p Public, f feature.Finite, multiplier float64, what, other string) (model, error) {
	if f == nil {
		return m.linearFor(method, p, multiplier)
	}
	t, err := m.tableFor(method, p, f, multiplier)
	if err != nil || t.Form != fqe.ByAction {
		return table{Table: t}, err
	}
	target, err := fqe.Target(p.Target, f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; give the policy as uniform, constant or table over the column of the states, or use %s", ErrMethod, what, err, other)
	}
	return table{t, target}, nil
}

// bound plans the interval at its share of the budget, and adds its stages to those of model
// and first states.
func (m DPFQE) bound(method string, p Public, interval float64, d *direct) error {
	d.vouched = narrowest(p)
	is := DPIS{MaxWeight: m.MaxWeight}
	caps, clip, err := is.caps(method, p, d.vouched.weights.largest)
	if err != nil {
		return err
	}
	d.vouched.selfNormalised = true
	b := p.boundsOf(d.vouched)
	b.Caps = caps
	split := func(s scalar.Stages) (scalar.Stages, error) {
		all := d.shares
		all.Clip, all.Main = s.Clip*interval, (1-s.Clip)*interval
		noise, err := noiseOf(*p.Privacy, all)
		return scalar.Stages{Clip: noise.Clip, Main: noise.Main}, err
	}
	b, d.tier, err = is.tier(p, d.vouched, b, scalar.Stages{Clip: clip}, split)
	d.bounds = &b
	d.shares.Clip, d.shares.Main = d.tier.clip*interval, (1-d.tier.clip)*interval
	return err
}

// maxRatio is the cap on the ratio of one decision.
func (m DPFQE) maxRatio(p Public) float64 {
	if p.onPolicy() {
		return 1
	}
	return cmp.Or(m.MaxRatio, defaultMaxRatio)
}

// tableFor chooses the form.
func (m DPFQE) tableFor(method string, p Public, f feature.Finite, multiplier float64) (fqe.Table, error) {
	t := fqe.Table{Public: p.numbers(), Cells: f.Dim(), Decisions: p.decisions(), Multiplier: multiplier, Discounts: p.Discounts}
	if p.Discounts {
		t.Public.Gamma = 1
	}
	of := func(form string) fqe.Table {
		t := t
		t.Form, t.MaxWeight = form, m.maxRatio(p)
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
		return bounded(method, of(m.Form))
	case fqe.ByState, fqe.Pooled:
		return bounded(method, of(m.Form))
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

// bounded refuses a table whose noise takes gigabytes.
func bounded(method string, t fqe.Table) (fqe.Table, error) {
	if n := t.Coordinates(); n > mostNumbers {
		return t, fmt.Errorf("%w: %s: form %s makes %d noisy numbers of the states; want at most %d: use fewer states, or form pooled", ErrPublic, method, t.Form, n, mostNumbers)
	}
	return t, nil
}

// mostNumbers is the largest number of noisy numbers of a form that was asked for.
const mostNumbers = 1 << 25

// about is what is known of the answer beforehand.
func (d direct) about(p Public) (summary, error) {
	model := summary{facts: d.model.facts(), expected: Expected{Constant: p.Returns().Width() / 2}, notes: d.model.notes()}
	model.facts["shares"] = d.shares.Taken()
	if t, ok := d.model.(table); ok && t.Form != fqe.ByAction {
		model.facts["max_ratio"] = t.MaxWeight
	}
	if d.bounds == nil {
		model.facts["clip"] = p.Returns()
		model.notes = append(model.notes, "No budget was spent on an interval: the one given is the whole public range of a return.")
		return model, nil
	}
	model.facts["max_weight"] = d.bounds.Caps.At(0).Max
	if d.bounds.Bare() {
		interval, err := p.aboutUncut(*d.bounds)
		interval.notes = append(interval.notes, "The interval does not come from the model, but from importance sampling with a share of the budget. A model value outside the interval is moved to its nearer end. The expected errors are those of the interval; the error of the model is not known in advance.")
		return model.and(interval, d.tier.summary(p, nil)), err
	}
	interval, cap, err := p.atCap(*d.bounds)
	interval.notes = append(interval.notes, "The interval does not come from the model, but from importance sampling with a share of the budget. It extends from a lower estimate of the value to an upper one, and covers the value of the policy whatever the model says and whatever was never logged, assuming correct logged probabilities. A model value outside the interval is moved to its nearer end. "+fmt.Sprintf("The expected errors are those of the interval, with weights capped at %.3g and without missing mass; the error of the model is not known in advance.", cap))
	interval.notes = append(interval.notes, p.episodesNote()...)
	if p.onPolicy() {
		return model.and(interval), err
	}
	if err == nil && d.tier.half == 0 && !p.supposes {
		err = interval.unforecast(p, *d.bounds, false)
	}
	return model.and(interval, d.tier.summary(p, nil)), err
}

// endWords say what ends of episodes mean to the model.
func endWords(decisions int64) string {
	if decisions <= 1 {
		return ""
	}
	return fmt.Sprintf(" An episode that ends before decision %d, the last that problem.horizon allows, is taken to have ended because of its state, and what follows that decision does not count: if all episodes end after the same number of decisions, problem.horizon must be that number.", decisions)
}
