package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// EstimatedBehavior asks for the probabilities of logged actions that nobody wrote down,
// in public cells: within a cell every decision was made with the same probabilities,
// whatever else was known of the person. They are estimated from paid counts of the
// same persons, or, with By, from the paid rounds of a regression, and the interval allows for the error of that.
// Several targets rest on one estimate, and groups have one each.
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
		return fmt.Errorf("%w: estimated behaviour: by is %q; want features, or leave it out to count in cells", ErrPublic, e.By)
	case (e.States == 0) != (e.Column == "") || e.States < 0:
		return fmt.Errorf("%w: estimated behaviour: %d states in column %q; give both, the number of cells and the column that holds the number of the cell, or neither for a single cell", ErrPublic, e.States, e.Column)
	case e.Actions < 2:
		return fmt.Errorf("%w: estimated behaviour: actions is %d; want the number of actions, 2 or more", ErrPublic, e.Actions)
	case float64(max(e.States, 1))*float64(e.Actions) > mostBins:
		return fmt.Errorf("%w: estimated behaviour: %d cells of %d actions are more than %d counts", ErrPublic, e.States, e.Actions, mostBins)
	case !(e.Floor >= 0 && e.Floor < 1):
		return fmt.Errorf("%w: estimated behaviour: floor is %v; want between 0 and 1", ErrPublic, e.Floor)
	case !(e.Share >= 0 && e.Share < 1):
		return fmt.Errorf("%w: estimated behaviour: share is %v; want between 0 and 1", ErrPublic, e.Share)
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

// share is the share of the budget that is asked for.
func (e EstimatedBehavior) share() float64 {
	if e.Share == 0 {
		return defaultBehaviorShare
	}
	return e.Share
}

// counting are the numerics of counts, at a noise multiplier.
func (p Public) counting(multiplier float64) *scalar.Behavior {
	e := p.Behavior
	b := &scalar.Behavior{Cells: max(e.States, 1), Actions: e.Actions, Floor: e.Floor, Noise: multiplier, Adjacency: p.Privacy.Adjacency, Kind: p.Privacy.Noise, Together: p.share.together()}
	b.Most = int(min(int64(b.Cells), p.Horizon))
	if e.Once && p.Episodes > 0 {
		b.Most = int(min(int64(b.Most), p.Episodes))
	}
	if b.Floor == 0 {
		b.Floor = defaultFloor
	}
	return b
}

// unestimated is the data with probabilities of 1, for the target's ratios to be
// divided by what is estimated.
func (p Public) unestimated(d *trajectory.Dataset) (*trajectory.Dataset, error) {
	if d.Action == nil {
		return nil, fmt.Errorf("%w: action: to estimate the probabilities of logged actions these must be there; map the column that holds them", policy.ErrMissing)
	}
	out := *d
	out.BehaviorProb = make([]float64, d.Rows())
	for row := range out.BehaviorProb {
		out.BehaviorProb[row] = 1
	}
	return &out, nil
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

// Shares are, row by row, the share of the decisions of the same cell that took the
// same action, or what a regression on the features says of it, and 1 where a decision
// follows from another. They are not private: they are for the curator of the data alone.
func (e EstimatedBehavior) Shares(d *trajectory.Dataset, features feature.Map) ([]float64, error) {
	if e.By == byFeatures {
		c, err := e.choices(d, features)
		if err != nil {
			return nil, err
		}
		return scalar.Logistic{Dim: features.Dim(), Actions: e.Actions}.Unprotected(c), nil
	}
	visits, err := e.visits(d)
	if err != nil {
		return nil, err
	}
	of, all := map[int]float64{}, map[int]float64{}
	for _, bin := range visits {
		if bin >= 0 {
			of[bin]++
			all[bin/e.Actions]++
		}
	}
	out := make([]float64, len(visits))
	for row, bin := range visits {
		if out[row] = 1; bin >= 0 {
			out[row] = of[bin] / all[bin/e.Actions]
		}
	}
	return out, nil
}

// withBehavior is the release of a number for which the probabilities of logged actions
// may have been estimated: it tells what they were estimated from.
func withBehavior(e *scalar.Estimate, b propensities) (*Release, error) {
	r := estimated(e)
	if b == nil {
		return r, nil
	}
	told, err := b.told(e)
	if err != nil {
		return nil, err
	}
	r.Diagnostics["behavior"] = told
	return r, nil
}

// behaviorCounts are noisy counts of persons by cell and action, and the upper limits of
// probabilities that follow from them.
type behaviorCounts struct {
	Counts [][]float64 `json:"counts"`
	Upper  [][]float64 `json:"upper"`
}

// guardedAgain makes an estimate from below and above again.
func guardedAgain(g guarded, b propensities) outcome {
	return func(r *Release) (*Release, error) {
		e, err := paid(r)
		if err != nil {
			return nil, err
		}
		counts, rounds := e.Counts, e.Rounds
		if e, err = g.Again(e); err != nil {
			return nil, err
		}
		e.Counts, e.Rounds = counts, rounds
		return withBehavior(e, b)
	}
}
