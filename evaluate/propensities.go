package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// propensities are a way to estimate the probabilities of logged actions.
type propensities interface {
	// bind binds it to data.
	bind(d *trajectory.Dataset, p Public) (*estimation, error)
	// size is how many numbers a sum has.
	size() int
	// told is what a release says of it, made from what was paid for.
	told(e *scalar.Estimate) (any, error)
	// into tells the bounds whose ratios it divides.
	into(b *scalar.Bounds)
}

// estimation is a way to estimate probabilities, bound to data.
type estimation struct {
	// pay makes the releases and notes in an estimate what was paid for.
	pay func(*value.Sample, *scalar.Estimate, *noise.Source) error
	// lower divides the ratios of a sample of these data by the upper limits that follow
	// from what was paid for. It is called once a sample.
	lower func(*value.Sample, *scalar.Estimate) error
}

// counted are probabilities from counts.
type counted struct{ scalar.Behavior }

func (c counted) size() int             { return c.Cells * c.Actions }
func (c counted) into(b *scalar.Bounds) { b.Behavior = &c.Behavior }

func (c counted) bind(d *trajectory.Dataset, p Public) (*estimation, error) {
	visits, err := p.Behavior.visits(d)
	if err != nil {
		return nil, err
	}
	return &estimation{
		pay: func(s *value.Sample, e *scalar.Estimate, src *noise.Source) (err error) {
			e.Counts, err = c.Release(s, visits, src)
			return err
		},
		lower: func(s *value.Sample, e *scalar.Estimate) error { return c.Apply(s, visits, e.Counts) },
	}, nil
}

func (c counted) told(e *scalar.Estimate) (any, error) {
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

func (r regressed) size() int             { return r.Size() }
func (r regressed) into(b *scalar.Bounds) { b.Logistic = &r.Logistic }

func (r regressed) bind(d *trajectory.Dataset, p Public) (*estimation, error) {
	choices, err := p.Behavior.choices(d, p.Features)
	if err != nil {
		return nil, err
	}
	return &estimation{
		pay: func(s *value.Sample, e *scalar.Estimate, src *noise.Source) (err error) {
			e.Rounds, err = r.Release(s, choices, src)
			return err
		},
		lower: func(s *value.Sample, e *scalar.Estimate) error {
			r.Apply(s, choices, e.Rounds)
			return nil
		},
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

func (r regressed) told(e *scalar.Estimate) (any, error) {
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

// stages are the shares of the budget that the estimation takes.
func (e EstimatedBehavior) stages(s *scalar.Stages) {
	if e.By != byFeatures {
		s.Behavior = e.share()
		return
	}
	for k, part := range scalar.LogisticShares() {
		s.Rounds[k] = part * e.share()
	}
}

// propensities are the numerics of the estimation, at noise multipliers.
func (p Public) propensities(method string, noise scalar.Stages) (propensities, error) {
	if p.Behavior.By != byFeatures {
		return counted{*p.counting(noise.Behavior)}, nil
	}
	l := scalar.Logistic{
		Dim: p.Features.Dim(), Actions: p.Behavior.Actions, Decisions: int(p.Horizon), Floor: p.Behavior.Floor, Noise: noise.Rounds,
		Adjacency: p.Privacy.Adjacency, Kind: p.Privacy.Noise, Together: p.share.together(),
	}
	if p.Behavior.Once && p.Episodes > 0 {
		l.Decisions = int(min(p.Horizon, p.Episodes))
	}
	if l.Floor == 0 {
		l.Floor = defaultFloor
	}
	if !l.Resolves(p.Persons) {
		return nil, fmt.Errorf("%w: %s: data.behavior: with %d %ss at this budget noise drowns a regression of %d actions on %d features, and no probability could be limited below 1; use fewer features, a larger share or budget, or count in cells (states and column)",
			ErrMethod, method, p.Persons, p.Privacy.Unit, l.Actions, l.Dim)
	}
	return regressed{l}, nil
}

// estimator binds the estimation of probabilities to data, of which the second result has
// probabilities of 1 for the ratios to be divided later.
func (p Public) estimator(b propensities, d *trajectory.Dataset) (*estimation, *trajectory.Dataset, error) {
	d, err := p.unestimated(d)
	if err != nil {
		return nil, nil, err
	}
	e, err := b.bind(d, p)
	if err != nil {
		return nil, nil, err
	}
	return e, d, checkCapacity(d.Persons(), b.size())
}

// mostCoefficients bounds a regression.
const mostCoefficients = 64

// regresses refuses what a regression cannot use.
func (e EstimatedBehavior) regresses(f feature.Map) error {
	switch _, finite := f.(feature.Finite); {
	case f == nil:
		return fmt.Errorf("%w: estimated behaviour: by is features, and features are missing; give features, such as {kind: columns, names: [obs_age], low: [0], high: [100], intercept: true}", ErrPublic)
	case finite:
		return fmt.Errorf("%w: estimated behaviour: by is features, and the features number states: count in these instead; give states and column, and leave by out", ErrPublic)
	case math.IsInf(f.NormBound(), 0):
		return fmt.Errorf("%w: estimated behaviour: by is features, and the features have no public bound; give their ranges", ErrPublic)
	case e.States != 0 || e.Column != "":
		return fmt.Errorf("%w: estimated behaviour: states and column are of cells, and by is features; leave either out", ErrPublic)
	case e.Actions > 1 && (e.Actions-1)*f.Dim() > mostCoefficients:
		return fmt.Errorf("%w: estimated behaviour: %d actions and %d features make %d coefficients; want %d at most: use fewer features", ErrPublic, e.Actions, f.Dim(), (e.Actions-1)*f.Dim(), mostCoefficients)
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
