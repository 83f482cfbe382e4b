package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// DPLearn learns a policy, a tree or scores that are linear in covariates for a single decision
// or a table over numbered states for any number of them, and certifies what it is worth. [Public.Target] stands for it: the uniform policy over
// the actions.
//
// A secret half of the persons, drawn afresh in every run, is learned from: a noisy mean, of
// several decisions one of each of them, and weighted returns about it. By these a tree, or the action
// of a state, of a single decision is drawn by permute-and-flip; under a budget or an order, with
// Gaussian noise, and of all other rules, it follows from noisy sums. Of several decisions it is
// the best in a model of what follows each action, as [DPFQE] makes it, where noise hides little, and
// tells decisions apart there unless all episodes are cut off.
// The other half is asked for the differences between the learned policy and the logged one, and
// between it and every constant action, as several policies are: [DPIS]. A person is in one of
// the halves, so that both have the whole budget.
//
// Released: [Learned], and the differences as answers with 90% intervals: each lower limit holds
// with 95% by itself. Assumes: right logged probabilities, or [EstimatedBehavior]. Unit: a person. Adjacency: either.
// Clip: l2, or of draws the size, of the outcomes' public range times the cap on weights. Event:
// dp.Gaussian, that of one half, or of draws dp.ApproximateDP. Proof: docs/proofs/learn.md.
type DPLearn struct {
	// Rule is tree, which "" means, or linear: the action whose score, an intercept and a weight
	// for each covariate, is largest. Never is a limit on trees and tables.
	Rule string `json:"rule,omitempty"`
	// Depth is that of the tree, 1 to 3; 0 means 2. Of numbered states a table is made.
	Depth int `json:"depth,omitempty"`
	// Bins is into how many equal parts the range of a covariate is cut, at whose ends a tree
	// may split; 0 means 8.
	Bins int `json:"bins,omitempty"`
	// Share is the share of persons who are learned from; 0 means one half, or a quarter where a
	// model of several decisions needs no more and certificates are within reach.
	Share float64 `json:"share,omitempty"`
	// MaxWeight is the public cap on weights; 0 means as in [DPIS], and for what is learned
	// what suits the budget.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Budget is the largest share of persons who may get another action than 0; 0 means any.
	Budget float64 `json:"budget,omitempty"`
	// Monotone says of columns "up", where the number of the action must not fall as the column
	// rises and all else is alike, or "down".
	Monotone map[string]string `json:"monotone,omitempty"`
	// Stationary keeps a policy of several decisions to one action for each state, however many
	// decisions are left.
	Stationary bool `json:"stationary,omitempty"`
	// Never are actions that must not be taken somewhere.
	Never []Forbidden `json:"never,omitempty"`
}

// Learned is a policy with its certificate.
type Learned struct {
	// Policy is the policy as a file, of kind tree or, of a linear rule, soft-greedy.
	Policy PolicyFile `json:"policy"`
	// OverLogged is what the policy is worth more than the logged one at least, and OverConstant
	// more than the best constant action, each with 95% confidence by itself.
	OverLogged   float64 `json:"over_logged_at_least"`
	OverConstant float64 `json:"over_best_constant_at_least"`
	// Differs is in how many of their decisions, in the mean over persons, another action was logged than the policy
	// takes, with a 90% interval; nil where outcomes are times, whose arms are drawn.
	Differs *Estimate `json:"differs_from_logged,omitempty"`
	// Deviations are, of a linear rule without limits, standard deviations by noise and the choice of persons of the
	// intercept and of each weight of an action less those of action 0, and not what regularization does.
	Deviations []float64 `json:"deviations,omitempty"`
}

// PolicyFile is a decision tree, or the scores of actions, in the form of docs/policies.md.
type PolicyFile struct {
	Schema    string        `json:"schema"`
	Kind      string        `json:"kind"`
	Inputs    []string      `json:"inputs"`
	Precision string        `json:"precision,omitempty"`
	Nodes     []policy.Node `json:"nodes,omitempty"`
	Weights   [][]float64   `json:"weights,omitempty"`
	Intercept []float64     `json:"intercept,omitempty"`
}

const (
	defaultDepth    = 2
	mostDepth       = 3
	defaultRuleBins = 8
	mostRuleBins    = 64
	mostRuleActions = 8
	defaultLearnOn  = 0.5
	meanShare       = 0.04 // of what is learned from, for the mean
	learnedName     = "learned"
	loggedPolicy    = "logged"
	actionName      = "action %d"
)

// learnQuestion is all that is fixed before data are seen.
type learnQuestion struct {
	public  Public
	names   []string
	grid    rule.Grid      // of a tree
	states  feature.Finite // of a table; nil of a tree
	scores  bool           // of a linear rule
	opening roundKind      // the first round of sums
	rounds  []roundKind    // of sums and draws
	learnOn int64          // persons
	noise   []float64      // multipliers, of every round of sums
	// of draws, for every round: what it spends, and how many levels are drawn together
	epsilons []float64
	levels   []int
	table    *fqe.Table        // of what follows, of several decisions where noise hides little of it
	blur     float64           // how much
	byStep   bool              // whether the policy tells decisions apart
	most     float64           // cap on weights
	judge    quantities        // of the other half
	lives    *survivalQuestion // of the other half, where the outcome is a time; nil of values
	masses   *learnCells       // of both halves, where probabilities are estimated of one decision
	of       vouched

	unrecorded bool // whether probabilities are estimated
}

// Plan implements [Estimator].
func (m DPLearn) Plan(p Public) (*Plan, error) { return planned("dp-learn", m, p, m.draft) }

func (m DPLearn) draft(method string, p Public) (draft, error) {
	q, err := m.question(method, p)
	if err != nil {
		return draft{}, err
	}
	event, drawn, err := q.spent()
	if err != nil {
		return draft{}, err
	}
	s, err := q.about()
	if err != nil {
		return draft{}, err
	}
	outlook, err := q.outlook()
	if err != nil {
		return draft{}, err
	}
	prepare := q.prepare
	if q.masses != nil {
		prepare = q.prepareCells
	}
	s.facts["learned_from"] = q.learnOn
	s.notes = append(s.notes, m.limited()...)
	if q.states == nil && !q.scores {
		s.facts["depth"], s.facts["bins"] = cmp.Or(m.Depth, defaultDepth), q.grid.Bins
	}
	return draft{
		method: method, public: p, event: event, prepare: packing(prepare), outcome: q.again, summary: s, outlook: outlook, lowers: true, needsEnds: q.of.needsEnds, onMeans: q.of.stepwise, uncut: q.judge.guard.number == 0,
		drawn: drawn, laplace: q.epsilons != nil || q.masses != nil, estimates: q.unrecorded, outcomes: q.lives != nil, learns: true,
	}, nil
}

// question checks the parameters.
func (m DPLearn) question(method string, p Public) (learnQuestion, error) {
	q := learnQuestion{public: p, unrecorded: p.estimates()}
	q.grid.Actions = p.Target.Actions()
	refuse := func(sentinel error, text string, args ...any) (learnQuestion, error) {
		return q, fmt.Errorf("%w: %s: "+text, append([]any{sentinel, method}, args...)...)
	}
	switch {
	case p.onPolicy():
		return refuse(ErrPublic, "the target stands for the policy that is learned, of which the number of actions is known; let it be uniform over these")
	case p.Target.Actions() < 2 || p.Target.Actions() > mostRuleActions:
		return refuse(ErrPublic, "the target has %d actions; want 2 to %d", p.Target.Actions(), mostRuleActions)
	case q.unrecorded && p.Behavior.Actions != p.Target.Actions():
		return refuse(ErrPublic, "the target has %d actions and data.behavior %d; give the same number", p.Target.Actions(), p.Behavior.Actions)
	case m.Share < 0 || m.Share >= 1:
		return refuse(ErrMethod, "share is %v; want the share of persons who are learned from, above 0 and below 1", m.Share)
	case m.Stationary && p.decisions() < 2:
		return refuse(ErrMethod, "stationary is of several decisions, and an episode has one; leave it out")
	case !(p.Returns().Width() > 0):
		return refuse(ErrPublic, "the public range of a return is a single point; give problem.reward or problem.return a width")
	}
	levels, err := q.covariates(m, method)
	if err != nil {
		return q, err
	}
	if err := q.limits(m, method); err != nil {
		return q, err
	}
	if err := q.linear(m, method); err != nil {
		return q, err
	}
	if p.decisions() > 1 && q.states == nil {
		return refuse(ErrPublic, "an episode has up to %d decisions, and trees are learned for one; give numbered states, or set problem.horizon or episode_horizon to 1 where that is so", p.decisions())
	}
	q.learnOn = int64(math.Round(cmp.Or(m.Share, defaultLearnOn) * float64(p.Persons)))
	rest := p.Persons - q.learnOn
	if p.Privacy.Adjacency == dp.AddRemoveOne { // halves are drawn person by person: fewer than this in one of a million runs
		rest = max(rest-int64(5*math.Sqrt(float64(p.Persons))/2)-1, 1)
	}
	if min(q.learnOn, rest) < 1 {
		return refuse(ErrPublic, "of %d persons %d are learned from and %d judge what is learned; want both", p.Persons, q.learnOn, rest)
	}
	if q.unrecorded && p.Horizon == 1 {
		return q, q.counts(m, method, rest)
	}
	if p.Outcome != nil {
		q.opening = ofExits
	}
	if q.draws(m) {
		q.drawing(levels)
	} else if q.noise, err = multipliers(*p.Privacy, q.plan(levels)...); err != nil {
		return q, err
	}
	if p.Outcome != nil {
		return q, q.follows(m, method, rest)
	}
	if err := q.models(m); err != nil {
		return q, err
	}
	if q.unrecorded && q.table == nil {
		return refuse(ErrPublic, "data.behavior is {kind: estimate}, of which a rule is learned where a person has one decision, or episodes have several, problem.reward a range, and noise hides at most half of what follows an action; take more persons, a larger epsilon or fewer states, or record the probabilities")
	}
	if m.Share == 0 && q.needsFewer() {
		m.Share = fewerLearnOn
		return m.question(method, p)
	}
	return q, q.judges(m, method, rest)
}

// covariates says over what the rule is made, and how many levels a tree has.
func (q *learnQuestion) covariates(m DPLearn, method string) (levels int, err error) {
	f := q.public.Features
	if finite, ok := f.(feature.Finite); ok {
		if m.Depth != 0 || m.Bins != 0 {
			return 0, fmt.Errorf("%w: %s: depth and bins are those of a tree, and numbered states have a table; leave them out", ErrMethod, method)
		}
		q.states, q.names = finite, finite.Columns()
		return 1, listable(method, finite.States(), mostRuled)
	}
	ranged, ok := f.(interface{ Ranges() []feature.Range })
	if !ok || ranged.Ranges() == nil {
		return 0, fmt.Errorf("%w: %s: a tree asks about columns with public ranges; give features of kind columns, without intercept and products, or numbered states", ErrMethod, method)
	}
	depth, bins := m.Depth, m.Bins
	if depth == 0 {
		depth = defaultDepth
	}
	if bins == 0 {
		bins = defaultRuleBins
	}
	if depth < 1 || depth > mostDepth || bins < 2 || bins > mostRuleBins {
		return 0, fmt.Errorf("%w: %s: depth is %d and bins is %d; want 1 to %d and 2 to %d", ErrMethod, method, depth, bins, mostDepth, mostRuleBins)
	}
	q.names = f.Columns()
	q.grid.Bins = bins
	for _, r := range ranged.Ranges() {
		q.grid.Lows, q.grid.Highs = append(q.grid.Lows, r.Low), append(q.grid.Highs, r.High)
	}
	if n := q.grid.Cells(1 << (depth - 1)); n > mostCells {
		return 0, fmt.Errorf("%w: %s: covariates, bins, actions and depth make %d cells; want at most %d", ErrPublic, method, n, mostCells)
	}
	return depth, nil
}

// judging are the facts of so many persons who judge.
func (q *learnQuestion) judging(persons int64) (Public, error) {
	// Of the learned policy a plan sees the number of its actions alone.
	t := &Targets{Policies: []NamedPolicy{{learnedName, q.public.Target}, {loggedPolicy, policy.Logged{}}}, Contrasts: [][2]string{{learnedName, loggedPolicy}}, stated: true, bounds: []*policy.DifferenceBound{nil}}
	apart := policy.DifferenceBound{Distance: 1} // from a constant action, whatever is learned
	if d := q.public.Design; d != nil {
		apart.Weight = max(slices.Max(d.Ratios)/2, 1)
	}
	for a := range q.grid.Actions {
		constant, err := policy.NewConstant(a)
		if err != nil {
			return Public{}, err
		}
		name := fmt.Sprintf(actionName, a)
		t.Policies = append(t.Policies, NamedPolicy{name, constant})
		t.Contrasts, t.bounds = append(t.Contrasts, [2]string{learnedName, name}), append(t.bounds, &apart)
	}
	return q.public.judging(t, persons), nil
}

// judges plans what the other half is asked.
func (q *learnQuestion) judges(m DPLearn, method string, persons int64) error {
	p, err := q.judging(persons)
	if err != nil {
		return err
	}
	q.of = narrowest(p)
	is := DPIS{MaxWeight: m.MaxWeight}
	if q.judge, err = is.answersFor(method, p, q.of); err != nil {
		return err
	}
	q.of.behavior = q.judge.behavior
	largest := q.of.weights.largest
	if d := p.Design; d != nil && p.decisions() > 1 {
		largest = slices.Max(d.Ratios) // of one decision
	}
	q.most, err = affordableCap(method, p, m.MaxWeight, largest)
	return err
}

// prepare binds the plan to data. Whatever may fail, fails here.
func (q learnQuestion) prepare(_ context.Context, all packed) (draw, error) {
	samples, err := q.check(all.parts)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, src *noise.Source) (*Release, error) {
		everybody := &trajectory.Dataset{PersonStart: make([]int, samples.Persons()+1)}
		if all.names != nil {
			everybody.PersonID = all.names()
		}
		learn, judge := q.halves(everybody, src)
		sums, err := q.learn(learners{q: &q, all: samples, walk: samples.Walk()}, learn, src)
		if err != nil {
			return nil, err
		}
		learned, err := q.policy(sums).policy()
		if err != nil {
			return nil, err
		}
		if q.lives != nil {
			return q.followUp(all.parts, judge, learned, sums, src)
		}
		asked := q.judge
		asked.public = asked.public.withFirst(learned)
		ask := preparedAnswers(asked, q.of)
		judged, err := halfOf(all.parts, judge, learned, ask)
		if err != nil {
			return nil, err
		}
		draw, err := ask.ready(judged)
		if err != nil {
			return nil, err
		}
		r, err := draw(ctx, src)
		if err != nil {
			return nil, err
		}
		return q.certified(r, sums), nil
	}, nil
}
