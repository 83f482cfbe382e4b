package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// EstimatedBehavior asks for the probabilities of logged actions that nobody wrote down,
// in public cells: within a cell every decision was made with the same probabilities,
// whatever else was known of the person. They are estimated from paid counts of the
// same persons, or, with By, from the paid rounds of a regression, and the interval allows for the error of that.
// Several targets rest on one estimate, and groups have one each. Where a person has one decision
// and policies are functions of the cell, dp-is, dp-pdis and dp-wis with no other parameter make one release
// of masses by cell and action, which answers everything; Floor and Share are not used there.
// docs/proofs/propensities.md has the argument.
type EstimatedBehavior struct {
	// By is "" for cells, or "features": then the probabilities are a multinomial logistic
	// function of the features of the question, an intercept among them where these have
	// one, and States and Column are left out.
	By string `json:"by,omitempty"`
	// States is the number of cells and Column the observation that holds the cell's
	// number, from 0; 0 and "" where all decisions are of one cell.
	States int    `json:"states,omitempty"`
	Column string `json:"column,omitempty"`
	// Actions is the number of actions, numbered from 0.
	Actions int `json:"actions"`
	// Floor is the least that a probability is taken to be, for its upper limit; 0
	// means 0.02.
	Floor float64 `json:"floor,omitempty"`
	// Share is the share of the budget that pays for the counts or rounds; 0 means 0.2.
	Share float64 `json:"share,omitempty"`
	// Once says that the first decision of an episode was drawn and later ones followed
	// from it, as in a trial: first decisions alone count, and later ones have
	// probability 1, which none exceeds, so that the interval holds for those too who
	// left the arm that was drawn. Without it every decision is taken for drawn.
	Once bool `json:"once,omitempty"`
}

// mostBins bounds the number of cells times that of actions.
const mostBins = 1 << 16

// byFeatures asks for a regression.
const byFeatures = "features"

func (e EstimatedBehavior) validate(f feature.Map) error {
	if e.By == byFeatures {
		if err := e.regresses(f); err != nil {
			return err
		}
	}
	switch {
	case e.By != "" && e.By != byFeatures:
		return fmt.Errorf("%w: data.behavior: by is %q; want features, or leave it out to count in cells", ErrPublic, e.By)
	case (e.States == 0) != (e.Column == "") || e.States < 0:
		return fmt.Errorf("%w: data.behavior: %d states in column %q; give both, the number of cells and the column that holds the number of the cell, or neither for a single cell", ErrPublic, e.States, e.Column)
	case e.Actions < 2:
		return fmt.Errorf("%w: data.behavior: actions is %d; want the number of actions, 2 or more", ErrPublic, e.Actions)
	case float64(max(e.States, 1))*float64(e.Actions) > mostBins:
		return fmt.Errorf("%w: data.behavior: %d cells of %d actions are more than %d counts", ErrPublic, e.States, e.Actions, mostBins)
	case !(e.Floor >= 0 && e.Floor < 1):
		return fmt.Errorf("%w: data.behavior: floor is %v; want between 0 and 1", ErrPublic, e.Floor)
	case !(e.Share >= 0 && e.Share < 1):
		return fmt.Errorf("%w: data.behavior: share is %v; want between 0 and 1", ErrPublic, e.Share)
	}
	return nil
}

// Map is the map of observations to cells; nil where there is a single one.
func (e *EstimatedBehavior) Map() (feature.Map, error) {
	if e == nil || e.States == 0 {
		return nil, nil
	}
	return feature.NewTabular(e.States, e.Column)
}

// visits are the bins of all rows.
func (e EstimatedBehavior) visits(d *trajectory.Dataset) (scalar.Visits, error) {
	cell := func([]float64) (int, bool) { return 0, true }
	if e.States > 0 {
		f, err := feature.NewTabular(e.States, e.Column)
		if err != nil {
			return nil, err
		}
		r, err := f.BindState(d.Columns)
		if err != nil {
			return nil, err
		}
		cell = r.State
	}
	visits := make(scalar.Visits, d.Rows())
	for episode := range d.Episodes() {
		for row := d.EpisodeStart[episode]; row < d.EpisodeStart[episode+1]; row++ {
			visits[row] = -1
			if e.Once && row > d.EpisodeStart[episode] {
				visits[row] = scalar.Sure
			} else if c, ok := cell(d.Observation(row)); ok && d.Action[row] >= 0 && int(d.Action[row]) < e.Actions {
				visits[row] = c*e.Actions + int(d.Action[row])
			}
		}
	}
	return visits, nil
}

// Shares say, row by row of some of all persons, the share of the decisions of the same cell that took the
// same action, or what a regression on the features says of it, and 1 where a decision
// follows from another. They are not private: they are for the curator of the data alone.
func (e EstimatedBehavior) Shares(all iter.Seq[*trajectory.Dataset], features feature.Map) (func(some *trajectory.Dataset) ([]float64, error), error) {
	if e.By == byFeatures {
		return e.fitted(all, features)
	}
	of, total := make([]float64, max(e.States, 1)*e.Actions), make([]float64, max(e.States, 1))
	for d := range all {
		visits, err := e.visits(d)
		if err != nil {
			return nil, err
		}
		for _, bin := range visits {
			if bin >= 0 {
				of[bin]++
				total[bin/e.Actions]++
			}
		}
	}
	return func(d *trajectory.Dataset) ([]float64, error) {
		visits, err := e.visits(d)
		out := make([]float64, len(visits))
		for row, bin := range visits {
			if out[row] = 1; bin >= 0 {
				out[row] = of[bin] / total[bin/e.Actions]
			}
		}
		return out, err
	}, nil
}

// fitted are the shares of a regression.
func (e EstimatedBehavior) fitted(all iter.Seq[*trajectory.Dataset], features feature.Map) (func(some *trajectory.Dataset) ([]float64, error), error) {
	var fault error
	fit := scalar.Logistic{Dim: features.Dim(), Actions: e.Actions}.Unprotected(func(yield func(scalar.Choices) bool) {
		for d := range all {
			c, err := e.choices(d, features)
			if fault = err; err != nil || !yield(c) {
				return
			}
		}
	})
	return func(d *trajectory.Dataset) ([]float64, error) {
		c, err := e.choices(d, features)
		if err != nil {
			return nil, err
		}
		return fit(c), nil
	}, fault
}

// behaviorCounts are noisy counts of persons by cell and action, and the upper limits of
// probabilities that follow from them.
type behaviorCounts struct {
	Counts [][]float64 `json:"counts"`
	Upper  [][]float64 `json:"upper"`
}

// propensities are a way to estimate the probabilities of logged actions.
type propensities interface {
	// check holds data against what it needs.
	check(d *trajectory.Dataset, p Public) error
	// pay makes the releases and notes in an estimate what was paid for.
	pay(all value.Persons, p Public, paid *scalar.Estimate, src *noise.Source) error
	// divider divides the ratios of samples of the same data, one a policy, by the upper limits that follow from what was paid for.
	divider(p Public, paid *scalar.Estimate) (func(same []*value.Sample) error, error)
	// size is how many numbers a sum has.
	size() int
	// recorded is what a release says of it, made from what was paid for.
	recorded(e *scalar.Estimate) (any, error)
}

// checkActions refuses actions, in complete records, that no estimate of probabilities counts.
func (p Public) checkActions(d *trajectory.Dataset) error {
	for _, a := range d.Action {
		if p.Complete && int(a) >= p.Behavior.Actions {
			return fmt.Errorf("%w: problem.records is complete, and an action is beyond the %d of data.behavior, numbered from 0; mend the data, state all actions, or leave the key out", ErrData, p.Behavior.Actions)
		}
	}
	return nil
}

// counted are probabilities from counts.
type counted struct{ scalar.Behavior }

func (c counted) size() int { return c.Cells * c.Actions }

func (c counted) check(d *trajectory.Dataset, p Public) error {
	if _, err := p.Behavior.visits(d.Nobody()); err != nil {
		return err
	}
	return p.checkActions(d)
}

func (c counted) pay(all value.Persons, p Public, paid *scalar.Estimate, src *noise.Source) (err error) {
	paid.Counts, err = c.Release(all, func(s *value.Sample) (scalar.Visits, error) { return p.Behavior.visits(s.Data) }, src)
	return err
}

func (c counted) divider(p Public, paid *scalar.Estimate) (func(same []*value.Sample) error, error) {
	divide, err := c.Divider(paid.Counts)
	return func(same []*value.Sample) error {
		visits, err := p.Behavior.visits(same[0].Data)
		return weighted(same, err, func(s *value.Sample) { divide(s, visits) })
	}, err
}

// weighted calls f for the samples of policies that are not the logged one, whose weights are 1.
func weighted(same []*value.Sample, err error, f func(s *value.Sample)) error {
	for _, s := range same {
		if err == nil && s.Rho != nil {
			f(s)
		}
	}
	return err
}

func (c counted) recorded(e *scalar.Estimate) (any, error) {
	if len(e.Counts) != c.size() {
		return nil, errors.New("diagnostics.behavior.counts are not those of the cells and actions")
	}
	upper, err := c.Upper(e.Counts)
	if err != nil {
		return nil, err
	}
	byCell := func(x []float64) [][]float64 { return slices.Collect(slices.Chunk(x, c.Actions)) }
	return behaviorCounts{byCell(e.Counts), byCell(upper)}, nil
}

// regressed are probabilities from a regression.
type regressed struct{ scalar.Logistic }

func (r regressed) size() int { return r.Size() }

func (r regressed) check(d *trajectory.Dataset, p Public) error {
	if _, err := p.Behavior.choices(d.Nobody(), p.Features); err != nil {
		return err
	}
	return p.checkActions(d)
}

func (r regressed) pay(all value.Persons, p Public, paid *scalar.Estimate, src *noise.Source) (err error) {
	paid.Rounds, err = r.Release(all, func(s *value.Sample) (scalar.Choices, error) { return p.Behavior.choices(s.Data, p.Features) }, src)
	return err
}

func (r regressed) divider(p Public, paid *scalar.Estimate) (func(same []*value.Sample) error, error) {
	divide := r.Divider(paid.Rounds)
	return func(same []*value.Sample) error {
		choices, err := p.Behavior.choices(same[0].Data, p.Features)
		return weighted(same, err, func(s *value.Sample) { divide(s, choices) })
	}, nil
}

// behaviorModel is a regression of logged actions: the noisy sums of its rounds, and the
// coefficients that follow from them, by action from 1. Those of action 0 are 0. Unlimited
// tells that the rounds did not reach the coefficients, or that noise leaves open how steep
// they are, so that every limit is 1.
type behaviorModel struct {
	Sums         [][]float64 `json:"sums"`
	Coefficients [][]float64 `json:"coefficients"`
	Unlimited    bool        `json:"unlimited,omitempty"`
}

func (r regressed) recorded(e *scalar.Estimate) (any, error) {
	fits := len(e.Rounds) == scalar.LogisticRounds
	for _, sum := range e.Rounds {
		fits = fits && len(sum) == r.Size()
	}
	if !fits {
		return nil, errors.New("diagnostics.behavior.sums are not those of the rounds of the regression")
	}
	f := r.Fit(e.Rounds)
	return behaviorModel{e.Rounds, slices.Collect(slices.Chunk(f.Theta, r.Dim)), !f.Settled}, nil
}

// estimation adds the shares of the budget that an estimate of probabilities takes; on-policy there is none.
func (p Public) estimation(s *scalar.Stages) {
	if !p.estimates() || p.onPolicy() {
		return
	}
	e := p.Behavior
	share := cmp.Or(e.Share, defaultBehaviorShare)
	if e.By != byFeatures {
		s.Behavior = share
		return
	}
	for k, part := range scalar.LogisticShares() {
		s.Rounds[k] = part * share
	}
}

// propensities are the numerics of that estimate, at noise multipliers; nil where there is none.
func (p Public) propensities(method string, noise scalar.Stages) (propensities, error) {
	if !p.estimates() || p.onPolicy() {
		return nil, nil
	}
	e, draws := p.Behavior, p.Horizon // that a person is part of at most
	if e.Once && p.Episodes > 0 {
		draws = min(draws, p.Episodes)
	}
	if e.By != byFeatures {
		cells := max(e.States, 1)
		return counted{scalar.Behavior{
			Cells: cells, Actions: e.Actions, Most: int(min(int64(cells), draws)), Floor: cmp.Or(e.Floor, defaultFloor), Noise: noise.Behavior,
			Adjacency: p.Privacy.Adjacency, Kind: p.Privacy.noise(), Together: p.share.intervals,
		}}, nil
	}
	l := scalar.Logistic{
		Dim: p.Features.Dim(), Actions: e.Actions, Decisions: int(draws), Floor: cmp.Or(e.Floor, defaultFloor), Noise: noise.Rounds,
		Adjacency: p.Privacy.Adjacency, Kind: p.Privacy.noise(), Together: p.share.intervals,
	}
	if !l.Resolves(p.Persons) {
		return nil, fmt.Errorf("%w: %s: data.behavior: with %d %ss at this budget noise drowns a regression of %d actions on %d features, and no probability could be limited below 1; use fewer features, a larger share or budget, or count in cells (states and column)",
			ErrMethod, method, p.Persons, p.Privacy.Unit, l.Actions, l.Dim)
	}
	return regressed{l}, nil
}

// estimated makes the releases that estimate the probabilities of logged actions, and returns rows whose
// ratios are divided and then lowered, with what persons add; all as it is where nothing is to
// be estimated.
func (p Public) estimated(of vouched, rows *value.Samples, xz []scalar.Numbers, src *noise.Source) (*value.Samples, []scalar.Numbers, *scalar.Estimate, error) {
	paid := new(scalar.Estimate)
	if of.behavior == nil {
		return rows, xz, paid, nil
	}
	if err := of.behavior.pay(rows, p, paid, src); err != nil {
		return nil, nil, nil, err
	}
	divide, err := of.behavior.divider(p, paid)
	if err != nil {
		return nil, nil, nil, err
	}
	out := *rows
	out.Change = func(same []*value.Sample) error {
		err := divide(same)
		return weighted(same, err, of.lower)
	}
	xz = make([]scalar.Numbers, 2*len(p.targets().Policies))
	for walk, at := out.Walk(), 0; at < out.Persons(); {
		part, _ := walk.Of(at)
		n := part[0].Persons()
		for i, s := range part {
			x, z := make([]float64, n), make([]float64, n)
			of.each(x, z, s)
			xz[2*i], xz[2*i+1] = append(xz[2*i], x), append(xz[2*i+1], z)
		}
		at += n
	}
	return &out, xz, paid, nil
}

// mostCoefficients bounds a regression.
const mostCoefficients = 64

// regresses refuses what a regression cannot use.
func (e EstimatedBehavior) regresses(f feature.Map) error {
	switch _, finite := f.(feature.Finite); {
	case f == nil:
		return fmt.Errorf("%w: data.behavior: by is features, and features are missing; give features, such as {kind: columns, names: [obs_age], low: [0], high: [100], intercept: true}", ErrPublic)
	case finite:
		return fmt.Errorf("%w: data.behavior: by is features, and the features number states: count in these instead; give states and column, and leave by out", ErrPublic)
	case math.IsInf(f.NormBound(), 0):
		return fmt.Errorf("%w: data.behavior: by is features, and the features have no public bound; give their ranges", ErrPublic)
	case e.States != 0 || e.Column != "":
		return fmt.Errorf("%w: data.behavior: states and column are of cells, and by is features; leave either out", ErrPublic)
	case e.Actions > 1 && (e.Actions-1)*f.Dim() > mostCoefficients:
		return fmt.Errorf("%w: data.behavior: %d actions and %d features make %d coefficients; want %d at most: use fewer features", ErrPublic, e.Actions, f.Dim(), (e.Actions-1)*f.Dim(), mostCoefficients)
	}
	return nil
}

// choices are what was done in all rows, with the features scaled to norm 1 at most.
func (e EstimatedBehavior) choices(d *trajectory.Dataset, f feature.Map) (scalar.Choices, error) {
	bound, err := f.Bind(d.Columns)
	if err != nil {
		return scalar.Choices{}, err
	}
	dim, scale := f.Dim(), f.NormBound()
	c := scalar.Choices{Action: make([]int, d.Rows()), X: make([]float64, d.Rows()*dim)}
	for episode := range d.Episodes() {
		for row := d.EpisodeStart[episode]; row < d.EpisodeStart[episode+1]; row++ {
			x := c.X[row*dim : (row+1)*dim]
			if known := bound.Apply(x, d.Observation(row)); e.Once && row > d.EpisodeStart[episode] {
				c.Action[row] = scalar.Sure
			} else if c.Action[row] = -1; known && d.Action[row] >= 0 && int(d.Action[row]) < e.Actions {
				c.Action[row] = int(d.Action[row])
			}
			for i := range x {
				x[i] /= scale
			}
		}
	}
	return c, nil
}
