package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
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

	public  Public
	prepare preparation
}

// Expected is the error that is known beforehand, in units of a return. What a
// method cannot predict is zero.
type Expected struct {
	// StdPrivacy is the standard deviation of the error that the noise makes.
	StdPrivacy float64 `json:"std_privacy,omitempty"`
	// StdSampling is an upper bound, from public ranges, on the standard deviation
	// that finitely many persons make.
	StdSampling float64 `json:"std_sampling_at_most,omitempty"`
	// HalfWidth is half the width of the 95% interval at these two.
	HalfWidth float64 `json:"half_width_at_most,omitempty"`
	// RMSE is the expected root mean squared error over the states of a value
	// function that the noise makes.
	RMSE float64 `json:"rmse_privacy,omitempty"`
	// Constant is the error that answering with the middle of the public range
	// makes at worst: a release whose error is not far below it tells little.
	Constant float64 `json:"constant_at_worst,omitempty"`
}

// preparation binds a plan to data. Its errors are for the curator; what it
// returns draws the noise.
type preparation func(ctx context.Context, d *trajectory.Dataset) (draw, error)

// draw makes the private part of a release. It is called once.
type draw func(ctx context.Context, src *noise.Source) (*Release, error)

// newPlan validates the public facts, accounts for the event and holds the
// answer against the budget.
func newPlan(method string, p Public, event dp.Event, prepare preparation) (*Plan, error) {
	plan := &Plan{Method: method, Event: event, Privacy: p.Privacy, Facts: p.facts(), public: p, prepare: prepare}
	if p.Privacy == nil {
		return plan, nil
	}
	if err := plan.account(); err != nil {
		return nil, err
	}
	return plan, nil
}

// account has the event certified against the budget: the plan stands when the
// event's delta at the budget's epsilon is at most the budget's, or its epsilon
// at the budget's delta.
func (p *Plan) account() error {
	budget := p.Privacy.Budget
	accountant := account.New(p.Privacy.Adjacency)
	if err := accountant.Compose(p.Event, 1); err != nil {
		return err
	}
	p.Accountant = accountant.String()
	var err error
	if p.Epsilon, err = accountant.Epsilon(budget.Delta); err != nil {
		return err
	}
	if p.Epsilon.Upper <= budget.Epsilon {
		return nil
	}
	delta, err := accountant.Delta(budget.Epsilon)
	if err != nil {
		return err
	}
	if delta.Upper > budget.Delta {
		return fmt.Errorf("%w: %s: epsilon %v at delta %v is above %v", ErrOverBudget, p.Method, p.Epsilon, budget.Delta, budget.Epsilon)
	}
	p.Epsilon.Upper = budget.Epsilon
	p.Epsilon.Lower = min(p.Epsilon.Lower, budget.Epsilon)
	return nil
}

// Check validates data against the plan and binds the two. Nothing is spent,
// and its errors are for the curator alone.
func (p *Plan) Check(ctx context.Context, d *trajectory.Dataset) (*Ready, error) {
	if err := p.checkPersons(d); err != nil {
		return nil, err
	}
	run, err := p.prepare(ctx, d)
	if err != nil {
		return nil, err
	}
	return &Ready{plan: p, draw: run}, nil
}

func (p *Plan) checkPersons(d *trajectory.Dataset) error {
	if d.Persons() == 0 {
		return fmt.Errorf("%w: the data holds no person", ErrData)
	}
	if p.Privacy == nil {
		return nil
	}
	m := int64(d.Persons())
	switch {
	case p.Privacy.Adjacency == dp.ReplaceOne && m != p.public.Persons:
		return fmt.Errorf("%w: problem.persons says %d persons and the data holds %d; under replace_one their number is public and must be right",
			ErrData, p.public.Persons, m)
	case p.Privacy.Adjacency == dp.AddRemoveOne && m < p.public.Persons:
		return fmt.Errorf("%w: problem.persons promises more persons than the data holds; under add_remove_one give a public lower bound", ErrData)
	}
	return checkContributions(d, p.public)
}

// checkContributions holds every person against the public caps. The reader
// enforces them; this catches a dataset that was made by other hands.
func checkContributions(d *trajectory.Dataset, p Public) error {
	for person := range d.Persons() {
		from, to := d.PersonStart[person], d.PersonStart[person+1]
		if p.Episodes > 0 && int64(to-from) > p.Episodes {
			return fmt.Errorf("%w: a person owns more than %d trajectories; cap them when reading (problem.episodes)", ErrData, p.Episodes)
		}
		if int64(d.EpisodeStart[to]-d.EpisodeStart[from]) > p.Horizon {
			return fmt.Errorf("%w: a person contributes more than %d decisions; cap them when reading (problem.horizon)", ErrData, p.Horizon)
		}
	}
	return nil
}

// Ready is a plan bound to data that passed its check.
type Ready struct {
	plan *Plan
	draw draw
}

// Plan returns the plan that was checked.
func (r *Ready) Plan() *Plan { return r.plan }

// Run redeems the receipt, draws the noise and returns the release. A private
// plan runs only on a receipt that was not used before.
func (r *Ready) Run(ctx context.Context, receipt *ledger.Receipt, src *noise.Source) (*Release, error) {
	if err := receipt.Redeem(); err != nil {
		return nil, err
	}
	release, err := r.draw(ctx, src)
	if err != nil {
		return nil, err
	}
	release.Schema = ReleaseSchema
	release.Method = r.plan.Method
	release.Public = r.plan.Facts
	release.Notes = append(r.plan.Notes, release.Notes...)
	release.Expected = r.plan.Expected
	if release.Diagnostics == nil {
		release.Diagnostics = map[string]any{}
	}
	if r.plan.Privacy != nil {
		release.Privacy = newStatement(r.plan, receipt, src)
	}
	return release, nil
}
