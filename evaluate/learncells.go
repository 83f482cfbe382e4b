package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// learnCells is what both halves are asked where probabilities of logged actions are estimated by cell: what
// persons gained in each cell by each action.
type learnCells struct {
	judge cellQuestion
	learn scalar.Cells
	of    vouched
}

// counts plans both halves where the probabilities of logged actions are estimated.
func (q *learnQuestion) counts(m DPLearn, method string, persons int64) error {
	p, e := q.public, q.public.Behavior
	refuse := func(sentinel error, text string, args ...any) error {
		return fmt.Errorf("%w: %s: "+text, append([]any{sentinel, method}, args...)...)
	}
	switch {
	case e.By != "" || q.states == nil || e.States != q.states.States() || e.Column != q.names[0]:
		return refuse(ErrPublic, "the rule is a table of the cells in which probabilities are estimated; give both data.behavior and features of kind tabular the same states and column")
	case m.Budget > 0 || m.Monotone != nil || m.Never != nil || m.MaxWeight != 0:
		return refuse(ErrMethod, "budget, monotone, never and max_weight are for recorded probabilities; leave them out")
	}
	if p.Privacy.Budget.Delta == 0 {
		return refuse(dp.ErrBudget, "delta is 0; set privacy.delta above 0")
	}
	judged, err := q.judging(persons)
	if err != nil {
		return err
	}
	q.rounds, q.judge.public = []roundKind{ofMasses}, judged
	c := &learnCells{of: narrowest(judged)}
	q.masses = c
	q.of.needsEnds = c.of.needsEnds
	var policies [][]float64
	for _, a := range judged.Targets.Policies {
		var probs []float64
		if !policy.OnPolicy(a.Policy) {
			probs = e.probabilities(a.Policy)
		}
		policies = append(policies, probs)
	}
	clear(policies[0]) // as if the rule took every action in as many cells
	for state := range e.States {
		policies[0][state*e.Actions+state%e.Actions] = 1
	}
	if c.judge, err = (DPIS{}).byCells(method, judged, c.of, policies, 1); err != nil {
		return err
	}
	c.learn = c.judge.cells
	c.learn.Public.Persons = q.learnOn
	for _, half := range []scalar.Cells{c.judge.cells, c.learn} {
		if enough, err := half.Resolves(leastInBin); err != nil || !enough {
			if err == nil {
				err = refuse(ErrPublic, "%d persons in %d cells of %d actions are so few that noise would hide what they gained; take fewer cells, or a larger epsilon", half.Public.Persons, half.Cells, half.Actions)
			}
			return err
		}
	}
	q.judge.event, err = c.judge.cells.Event()
	return err
}

// prepareCells binds the plan to data: the bin of every person, and what they gained and missed there.
func (q learnQuestion) prepareCells(_ context.Context, all packed) (draw, error) {
	by := q.masses.judge.byPerson(q.masses.of)
	var kept any
	for d := range value.Datasets(all.parts) {
		people, err := by.look(d, nil, false)
		if err != nil {
			return nil, err
		}
		kept = joined(by.preparation(), kept, people)
	}
	numbers := make([][]float64, by.numbers)
	for i, parts := range kept.(people).numbers {
		numbers[i] = slices.Concat(parts...)
	}
	if err := checkCapacity(len(numbers[0]), by.coordinates); err != nil {
		return nil, err
	}
	some := func(c scalar.Cells, persons []int, src *noise.Source) (*scalar.CellSums, error) {
		of := make([][]float64, len(numbers))
		for i, x := range numbers {
			for _, person := range persons {
				of[i] = append(of[i], x[person])
			}
		}
		return c.Release(of[0], of[1], of[2], src)
	}
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		everybody := &trajectory.Dataset{PersonStart: make([]int, len(numbers[0])+1)}
		if all.names != nil {
			everybody.PersonID = all.names()
		}
		learners, judges := q.halves(everybody, src)
		masses, err := some(q.masses.learn, learners, src)
		if err != nil {
			return nil, err
		}
		judged, err := some(q.masses.judge.cells, judges, src)
		if err != nil {
			return nil, err
		}
		sums := [][]float64{slices.Concat(slices.Concat(masses.Gained...), slices.Concat(masses.Missed...), []float64{masses.Nowhere})}
		r, err := q.ofCells(sums).release(judged)
		if err != nil {
			return nil, err
		}
		return q.certified(r, sums), nil
	}, nil
}

// cellTable is the action of every cell: that of the largest mean of what was gained, each nearer to the mean of
// all the fewer persons there are for the noise.
func (q *learnQuestion) cellTable(masses []float64) (of []int) {
	k, bins := q.grid.Actions, q.states.States()*q.grid.Actions
	gained, all := 0.0, 0.0
	for bin := range bins {
		gained, all = gained+masses[bin], all+masses[bin]+masses[bins+bin]
	}
	few := 3 * q.masses.learn.SD()
	mean := min(max(gained/max(all, few), 0), 1)
	for state := range q.states.States() {
		best, most := 0, math.Inf(-1)
		for a := range k {
			bin := state*k + a
			persons := max(masses[bin]+masses[bins+bin], 0)
			if v := (masses[bin] + few*mean) / (persons + few); v > most {
				best, most = a, v
			}
		}
		of = append(of, best)
	}
	return of
}

// ofCells is what the other half is asked about the policy that follows from the sums of one.
func (q *learnQuestion) ofCells(sums [][]float64) cellQuestion {
	c, k := q.masses.judge, q.grid.Actions
	learned := make([]float64, q.states.States()*k)
	for state, a := range q.cellTable(sums[0]) {
		learned[state*k+a] = 1
	}
	c.answers = slices.Clone(c.answers)
	for i, a := range c.answers {
		weights := slices.Clone(learned)
		for bin := range weights {
			if i > 0 && bin%k == i-1 { // against a constant action
				weights[bin]--
			}
		}
		c.answers[i].Asked = scalar.Asked{Weights: weights, Logged: a.Logged, Difference: true}
	}
	return c
}
