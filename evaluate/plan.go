package evaluate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Estimator is a method of evaluation. Its implementations are plain structs
// whose fields are the method's public parameters.
type Estimator interface {
	// Plan says what a run would release, what it would cost and how far off it
	// is expected to be. It sees public facts only.
	Plan(p Public) (*Plan, error)
}

// Plan is a computation that is fixed before any data is seen.
type Plan struct {
	// Method is the name of the estimator.
	Method string
	// Event describes everything that a run will release; nil for a non-private
	// reference.
	Event dp.Event
	// Privacy is the guarantee that was asked for; nil for a non-private reference.
	Privacy *Privacy
	// Accountant names what turned the event into an epsilon, and Epsilon brackets
	// the smallest epsilon that holds at the budget's delta.
	Accountant string
	Epsilon    account.Bracket
	// Expected says how far off the release is expected to be.
	Expected Expected
	// Facts are the public parameters that the release repeats.
	Facts map[string]any
	// Notes tell a reader what the numbers rest on.
	Notes []string
	// Outlook says what is to be expected, to whoever plans; no release repeats it.
	Outlook []string

	// What the guarantee rests on. The fields above are for readers; changing them
	// changes nothing.
	draft
	accounted accounted
}

// draft is what an estimator decides from public facts, all that a plan is made of.
type draft struct {
	method  string
	public  Public
	event   dp.Event // nil for a non-private reference
	prepare preparation
	slim    bool // see [Plan.Slim]
	// outcome makes a release again from its own numbers, see [Plan.Verify].
	outcome outcome
	summary summary
	outlook []string
	// estimates tells that the method pays for [Public.Behavior], and perState that it
	// answers with a value for every state.
	estimates, perState bool
	// lowers tells that it allows for [Public.BehaviorPrecision].
	lowers bool
	// bootstraps and needsEnds tell that it matters how episodes end.
	bootstraps, needsEnds bool
	// onMeans tells that max_weight caps discounted means of weights over decisions, and
	// uncut that nothing is above it: neither is a cap on weights of trajectories.
	onMeans, uncut bool
	// drawn is the event as noise is drawn for it, where that is more than what one person
	// can touch; nil where it is the event.
	drawn    dp.Event
	outcomes bool // the method answers about Public.Outcome
	laplace  bool // its noise may be Laplace
	learns   bool // it learns a policy
	// bounds are what the estimate of one of several groups is made with; nil of other plans.
	bounds *scalar.Bounds
	// least is the half width that is expected where large weights are of rare states alone; 0 where a forecast supposes nothing of states.
	least float64
}

// accounted is what an accountant certified.
type accounted struct {
	by      string
	epsilon account.Bracket
}

// Expected is the error that is known beforehand, in units of a return. What a
// method cannot predict is zero.
type Expected struct {
	// StdPrivacy is the standard deviation of the error that the noise makes.
	StdPrivacy float64 `json:"std_privacy,omitempty"`
	// StdSampling is the standard deviation that finitely many persons make if returns vary as
	// much as their range allows: for the logged policy a bound, otherwise for weights as supposed.
	StdSampling float64 `json:"std_sampling_at_most,omitempty"`
	// HalfWidth is half the width of the 95% interval at these two or, where public
	// policies tell how weights vary, with these. It is a forecast: an interval also covers what a clip may have hidden, and a ratio
	// whose noisy denominator is too small answers with the whole public range.
	HalfWidth float64 `json:"half_width,omitempty"`
	// RMSE is the expected root mean squared error over the states of a value
	// function that the noise makes.
	RMSE float64 `json:"rmse_privacy,omitempty"`
	// Constant is the error that answering with the middle of the public range
	// makes at worst: a release whose error is not far below it tells little. Of
	// several answers it is the largest: a difference has twice the range of a value.
	Constant float64 `json:"constant_at_worst,omitempty"`
}

// draw makes the private part of a release. Where a plan can [Plan.Gather] it may be called
// again, and by several goroutines; else once.
type draw func(ctx context.Context, src *noise.Source) (*Release, error)

// newPlan makes every plan, and nothing is written to one afterwards. It validates the
// public facts, accounts for the event and holds the answer against the budget.
func newPlan(d draft) (*Plan, error) {
	p := d.public
	for _, check := range []func() error{d.usesAll, d.roundable, d.startable, d.answersOutcome} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	d.public = p.clone()
	plan := &Plan{Method: d.method, Event: d.event, Privacy: p.clone().Privacy, Expected: d.summary.expected, Facts: p.facts(), draft: d}
	maps.Copy(plan.Facts, d.summary.facts)
	plan.Outlook = slices.Concat(d.outlook, d.summary.outlook)
	if p.chosen != "" {
		plan.Facts["chosen_by"] = "auto"
		plan.Notes = append(plan.Notes, fmt.Sprintf("Method auto chose %s: %s.", d.method, p.chosen))
	}
	plan.Notes = append(plan.Notes, d.summary.heading...)
	if counted := p.counted(); counted != "" {
		plan.Notes = append(plan.Notes, counted)
	}
	if p.largeDelta() {
		plan.Notes = append(plan.Notes, p.words("Delta is not below 1/persons: such a guarantee permits a release that publishes the data of a person outright."))
	}
	plan.Notes = append(plan.Notes, d.summary.notes...)
	if !p.private() {
		if p.BehaviorPrecision > 0 && !p.onPolicy() {
			plan.Notes = append(plan.Notes, "Recorded probabilities are used as they stand; nothing here allows for their precision.")
		}
		return plan, nil
	}
	var err error
	if plan.event, err = cloneEvent(d.event); err != nil {
		return nil, err
	}
	if plan.accounted, err = certify(d.method, plan.event, *p.Privacy); err != nil {
		return nil, err
	}
	plan.Accountant, plan.Epsilon = plan.accounted.by, plan.accounted.epsilon
	return plan, nil
}

// answersOutcome refuses an outcome, and a family of noise, that the method would ignore.
func (d draft) answersOutcome() error {
	switch p := d.public; {
	case d.outcomes:
		return nil
	case p.Outcome != nil:
		return fmt.Errorf("%w: data.outcome asks for survival, which %s does not estimate; use dp-survival, dp-learn to learn who should get which arm, or leave the key out", ErrMethod, d.method)
	case p.guarantee().NoiseFamily != "" && p.guarantee().NoiseFamily != GaussianNoise && !d.laplace:
		return fmt.Errorf("%w: privacy.noise_family is %s, and the noise of %s is Gaussian here; dp-survival, trees and tables of dp-learn without budget and monotone, and, of dp-is, dp-pdis and dp-wis, the mean return of the logged policy without by, a value or contrast alone without a guard and estimated probabilities of one decision in cells, have several", ErrMethod, p.Privacy.NoiseFamily, d.method)
	}
	return nil
}

// usesAll refuses probabilities that are to be estimated in vain, and episodes that end sooner than values of states.
func (d draft) usesAll() error {
	switch p := d.public; {
	case p.estimates() && !d.estimates:
		return fmt.Errorf("%w: %s does not estimate the probabilities of logged actions; only dp-is, dp-pdis, dp-wis and dp-dr do, off-policy; give the probabilities, or leave data.behavior out where nothing divides by them", ErrMethod, d.method)
	case p.EpisodeHorizon > 0 && d.bootstraps:
		return fmt.Errorf("%w: %s gives values of states, whatever the number of decisions that are left, and would go on after decision %d (problem.episode_horizon); leave the key out, or use dp-is, dp-pdis, dp-wis, dp-dr or dp-fqe", ErrMethod, d.method, p.EpisodeHorizon)
	}
	return nil
}

// cloneEvent copies an event through its JSON form, so that nobody else holds a
// part of it.
func cloneEvent(e dp.Event) (dp.Event, error) {
	text, err := dp.MarshalEvent(e)
	if err != nil {
		return nil, err
	}
	return dp.ParseEvent(text)
}

// certify holds the event against the budget: the plan stands when the event's
// epsilon at the budget's delta is at most the budget's, or its delta at the
// budget's epsilon.
func certify(method string, event dp.Event, q Privacy) (accounted, error) {
	accountant := account.New(q.Adjacency) // planning is not interrupted: it takes no context
	if err := accountant.Compose(context.Background(), event, 1); err != nil {
		return accounted{}, err
	}
	out := accounted{by: accountant.String()}
	var err error
	if out.epsilon, err = accountant.Epsilon(context.Background(), q.Budget.Delta); err != nil {
		return out, err
	}
	if out.epsilon.Upper <= q.Budget.Epsilon {
		return out, nil
	}
	delta, err := accountant.Delta(context.Background(), q.Budget.Epsilon)
	if err != nil {
		return out, err
	}
	if !(delta.Upper <= q.Budget.Delta) {
		return out, fmt.Errorf("%w: %s: epsilon %v at delta %v is above %v", ErrOverBudget, method, out.epsilon, q.Budget.Delta, q.Budget.Epsilon)
	}
	out.epsilon.Upper = q.Budget.Epsilon
	out.epsilon.Lower = min(out.epsilon.Lower, q.Budget.Epsilon)
	return out, nil
}

// Bootstraps reports whether the method goes on from the observation after the
// last decision of an episode that was cut off, and leaves that decision out where
// the observation is not known. Such a method refuses data that do not say how
// episodes end.
func (p *Plan) Bootstraps() bool { return p.bootstraps }

// TrajectoryCap is the cap on the weights of whole trajectories; 0 where these are not
// capped, or none of them can be above it.
func (p *Plan) TrajectoryCap() float64 {
	if p.onMeans || p.uncut {
		return 0
	}
	most, _ := p.Facts["max_weight"].(float64)
	return most
}

// Check validates data against the plan and binds the two. Nothing is spent,
// and its errors are for the curator alone.
func (p *Plan) Check(ctx context.Context, d *trajectory.Dataset) (*Ready, error) {
	sizes, err := p.sized(d)
	if err != nil {
		return nil, err
	}
	if err := p.checkNumbers(d.Persons(), sizes); err != nil {
		return nil, err
	}
	return p.bind(ctx, d)
}

func (p *Plan) bind(ctx context.Context, d *trajectory.Dataset) (*Ready, error) {
	kept, err := p.prepare.part(d, nil, true)
	if err != nil {
		return nil, err
	}
	run, err := p.prepare.bind(ctx, kept)
	if err != nil {
		return nil, err
	}
	return &Ready{plan: p, draw: run}, nil
}

// CheckEnds refuses data that do not say how episodes end where the method needs
// to know: a method that bootstraps would take every last decision for one whose
// outcome is unknown, and leave it out with its reward; dp-pdis would not know
// whether rewards could have followed.
func (p *Plan) CheckEnds(known bool) error {
	switch {
	case known:
		return nil
	case p.public.Complete && p.public.decisions() > 1 && p.public.Outcome == nil:
		return errEnds(p.Method, "nobody can tell whether an episode was cut off, and problem.records is complete")
	case p.bootstraps:
		return errEnds(p.Method, "every last decision would be left out with its reward")
	case p.needsEnds:
		if p.public.Outcome != nil {
			return errEnds(p.Method, "nobody can tell an event from censoring")
		}
		return errEnds(p.Method, "nobody can tell whether rewards could have followed the last")
	}
	return nil
}

func errEnds(method, otherwise string) error {
	return fmt.Errorf("%w: %s needs to know how episodes end, and without a column terminated %s; add or map the column, or set problem.end to terminated (nothing follows the last row) or truncated (the record was cut off there)",
		ErrData, method, otherwise)
}

// sized checks some of the persons, whatever their number, and counts them as [Plan.Sizes] does.
func (p *Plan) sized(d *trajectory.Dataset) ([]int64, error) {
	if err := p.CheckEnds(d.Terminated != nil); err != nil {
		return nil, err
	}
	if p.public.Discounts && d.Discount == nil {
		return nil, errDiscounts
	}
	if !p.public.private() {
		return nil, nil
	}
	if err := checkContributions(d, p.public); err != nil {
		return nil, err
	}
	return p.Sizes(d)
}

// checkNumbers holds the number of all persons, and those in groups, against the public ones.
func (p *Plan) checkNumbers(persons int, sizes []int64) error {
	if persons == 0 {
		return errNobody
	}
	return errors.Join(p.CheckPersons(int64(persons)), p.CheckSizes(sizes))
}

// CheckPersons holds the number of persons in the data against the public one.
func (p *Plan) CheckPersons(m int64) error {
	switch q := p.public.guarantee(); {
	case q.Adjacency == dp.ReplaceOne && m != p.public.Persons:
		look := "missing or extra records"
		if q.Unit.String() == Person.String() && m > p.public.Persons {
			look += ", or for one person's ids in several forms that may be different ids, such as P7, p7 and P07"
		}
		return fmt.Errorf("%w: problem.persons says %d %ss, but the data has %d; under replace_one this number is public and must be exact: correct it, or look for %s",
			ErrData, p.public.Persons, q.Unit, m, look)
	case q.Adjacency == dp.AddRemoveOne && m < p.public.Persons:
		return fmt.Errorf("%w: problem.persons promises more %ss than the data has; under add_remove_one give a public lower bound", ErrData, q.Unit)
	}
	return nil
}

// checkContributions holds every person against the public caps, and complete data against
// what is stated of them. The reader enforces the caps; this catches a dataset that was made
// by other hands.
func checkContributions(d *trajectory.Dataset, p Public) error {
	if d.Discount != nil && !p.Discounts {
		return fmt.Errorf("%w: the data brings a discount for each decision; set problem.discounts, or leave the column out", ErrData)
	}
	if p.OneDecision && d.Rows() != d.Episodes() {
		return fmt.Errorf("%w: a trajectory has several decisions, and the public facts say that each has one", ErrData)
	}
	if p.Outcome != nil && p.Outcome.Event != "" {
		return nil // a person adds to one cell, and whoever has several rows to that of unusable outcomes
	}
	for e := 0; p.EpisodeHorizon > 0 && e < d.Episodes(); e++ {
		if int64(d.EpisodeStart[e+1]-d.EpisodeStart[e]) > p.EpisodeHorizon {
			return fmt.Errorf("%w: a trajectory has more than %d decisions; cap it when reading (problem.episode_horizon)", ErrData, p.EpisodeHorizon)
		}
	}
	for person := range d.Persons() {
		from, to := d.PersonStart[person], d.PersonStart[person+1]
		if p.Complete {
			if err := p.checkComplete(d, person); err != nil {
				return err
			}
		}
		if p.Episodes > 0 && int64(to-from) > p.Episodes {
			return fmt.Errorf("%w: %s owns more than %d trajectories; cap them when reading (problem.episodes)", ErrData, p.unit().Words("a person"), p.Episodes)
		}
		if int64(d.EpisodeStart[to]-d.EpisodeStart[from]) > p.Horizon {
			return fmt.Errorf("%w: %s contributes more than %d decisions; cap them when reading (problem.horizon)", ErrData, p.unit().Words("a person"), p.Horizon)
		}
	}
	return nil
}

// checkComplete refuses what complete data do not show of a person.
func (p Public) checkComplete(d *trajectory.Dataset, person int) error {
	from, to := d.PersonStart[person], d.PersonStart[person+1]
	if from == to || d.Counted(person) > to-from {
		return fmt.Errorf("%w: problem.records is complete, and the data have no decision of %s, or an episode was left out; mend the data, or leave the key out", ErrData, p.unit().Words("a person"))
	}
	for e := from; e < to && p.Outcome == nil; e++ { // of an outcome the end is what is asked for
		if int64(d.EpisodeStart[e+1]-d.EpisodeStart[e]) >= p.decisions() || d.Ended(e) {
			continue
		}
		return fmt.Errorf("%w: problem.records is complete, and an episode was cut off before decision %d, the last of the problem; leave the key out, so that the interval allows for what would have followed", ErrData, p.decisions())
	}
	return nil
}

// checkCapacity refuses data with more persons than an integer sum of vectors of dim
// coordinates can certainly hold, whatever its clip and its noise: a clip is less
// than 2^31 sqrt(dim) lattice steps, and a sum at most 2^62. It is part of the
// check, because a sum that fails later would cost budget.
func checkCapacity(persons, dim int) error {
	most := 0x1p31 / math.Sqrt(float64(dim)) / 2
	if float64(persons) > most {
		return fmt.Errorf("%w: at most %.0f persons fit sums of %d coordinates; use fewer features", ErrData, most, dim)
	}
	return nil
}

// Ready is a plan bound to data that passed its check.
type Ready struct {
	plan *Plan
	draw draw
	used atomic.Bool
}

// Plan returns the plan that was checked.
func (r *Ready) Plan() *Plan { return r.plan }

// Run redeems the receipt, draws the noise and returns the release. It runs once,
// on a receipt that was not used before. src may be nil without privacy.
func (r *Ready) Run(ctx context.Context, paid *receipt.Receipt, src *noise.Source) (*Release, error) {
	if src == nil && r.plan.public.private() {
		return nil, fmt.Errorf("%w: a private run needs a source of noise; use noise.NewSource", errUsed)
	}
	if !r.used.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("%w: this check was run before; check the data again", errUsed)
	}
	redeem := paid.Redeem
	if src != nil && src.Sums() != nil {
		redeem = paid.Continue // a source that keeps every sum before it is used
	}
	if err := redeem(r.plan.public.guarantee().Adjacency, r.plan.event); err != nil {
		return nil, err
	}
	release, err := r.draw(ctx, src)
	if err != nil {
		return nil, err
	}
	release.answer()
	release.Start = r.plan.public.startOf(release)
	release.Schema = ReleaseSchema
	release.Method = r.plan.Method
	release.Public = r.plan.Facts
	release.Notes = r.plan.notes(release)
	release.Expected = r.plan.Expected
	if r.plan.public.private() {
		release.Privacy = newStatement(r.plan)
		release.Privacy.Charged, release.Privacy.Seeded = paid.Charged(), src.Seeded()
		release.Disclosure = newDisclosure(r.plan, src.Seeded())
	}
	return release, nil
}
