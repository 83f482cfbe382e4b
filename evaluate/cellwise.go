package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// byCell are the probabilities by cell and action of every policy in question, nil of the logged
// one, where [scalar.Cells] can answer: probabilities of logged actions are estimated by cell, a
// person has one decision, every policy is a function of the cell, and no parameter of another form
// is given. It is nil elsewhere.
func (m DPIS) byCell(p Public) [][]float64 {
	e := p.Behavior
	switch {
	case !p.estimates() || e.By != "" || p.Horizon != 1 || p.share.some() || p.judges || p.BehaviorPrecision > 0 || p.targets().byFlip():
		return nil
	case p.onPolicy(): // a mean return divides by no probability
		return nil
	case m.MaxWeight != 0 || m.Clip != "" || m.ClipShare != 0 || m.Diagnostics != 0 || m.Confounding > 1:
		return nil
	case p.replanned && len(p.byCell) != len(p.targets().Policies):
		return nil
	}
	var out [][]float64
	for i, a := range p.targets().Policies {
		var probs []float64
		if !policy.OnPolicy(a.Policy) {
			if probs = e.probabilities(a.Policy); p.replanned {
				probs = p.byCell[i]
			}
			if len(probs) != max(e.States, 1)*e.Actions {
				return nil
			}
		}
		out = append(out, probs)
	}
	return out
}

// probabilities are those of a policy by cell and action; nil where it is no function of the cell.
func (e EstimatedBehavior) probabilities(of policy.Policy) []float64 {
	if of.Actions() < 1 || of.Actions() > e.Actions {
		return nil
	}
	cells := max(e.States, 1)
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Action: make([]int32, cells), Reward: make([]float64, cells), BehaviorProb: slices.Repeat([]float64{1}, cells)}
	if e.States > 0 {
		d.Columns = []string{e.Column}
	}
	for cell := range cells {
		if e.States > 0 {
			d.Obs = append(d.Obs, float64(cell))
		}
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, cell+1), append(d.PersonStart, cell+1)
	}
	bound, err := of.Bind(d)
	if err != nil {
		return nil
	}
	out := make([]float64, cells*e.Actions)
	for cell := range cells {
		if bound.Actions() < 1 || !bound.Distribution(out[cell*e.Actions:(cell+1)*e.Actions], cell) {
			return nil
		}
	}
	return out
}

// distributions tells whether numbers are probabilities of so many actions in each cell.
func distributions(probs []float64, actions int) bool {
	for cell := range slices.Chunk(probs, max(actions, 1)) {
		sum := 0.0
		for _, v := range cell {
			if !(v >= 0 && v <= 1) {
				return false
			}
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			return false
		}
	}
	return true
}

// cellAnswer is one answer of a release by cell and action.
type cellAnswer struct {
	estimand
	scalar.Asked
}

// How many times as many persons as noise makes there must be in a bin, where cells are alike: for this form, and for
// a forecast, since fewer are in some.
const (
	leastInBin    = 3
	leastForecast = 8
)

// cellQuestion is what is asked of one release by cell and action.
type cellQuestion struct {
	public  Public
	cells   scalar.Cells
	answers []cellAnswer
}

// cellwise plans all answers from one release of masses by cell and action; its draft has no
// event where noise would hide the masses. Noise is Laplace where that is asked for or expected to be narrower.
func (m DPIS) cellwise(method string, p Public, of vouched, policies [][]float64) (draft, error) {
	q, err := m.byCells(method, p, of, policies, len(p.estimands()))
	if err != nil {
		return draft{}, err
	}
	if enough, err := q.cells.Resolves(leastInBin); err != nil || !enough && !p.replanned {
		return draft{}, err
	}
	event, err := q.cells.Event()
	if err != nil {
		return draft{}, err
	}
	about, err := q.about(policies)
	if unused := p.Behavior.unused(); len(unused) > 0 {
		about.notes = slices.Insert(about.notes, 0, "Not used here, since persons are counted by cell: "+strings.Join(unused, " and ")+".")
	}
	return draft{
		method: method, public: p, event: event, outcome: q.again, prepare: q.byPerson(of).preparation(),
		summary: about, estimates: true, uncut: true, laplace: true,
	}, err
}

// byCells plans what is asked of one release, of whose intervals so many hold together, and the noise.
func (m DPIS) byCells(method string, p Public, of vouched, policies [][]float64, together int) (cellQuestion, error) {
	q := cellQuestion{public: p, answers: p.byCells(policies)}
	q.cells = scalar.Cells{
		Public: p.numbers(), Range: of.within, Cells: max(p.Behavior.States, 1), Actions: p.Behavior.Actions,
		Answers: together, SelfNormalised: of.selfNormalised, Complete: p.Complete,
	}
	pure := q
	pure.cells.Laplace, pure.cells.Noise = true, p.laplaceScale()
	if !p.Privacy.byLaplace() {
		found, err := multipliers(*p.Privacy, 1)
		if err != nil {
			return q, err
		}
		q.cells.Noise = found[0]
	}
	laplace, err := m.laplace(method, p, scalar.Stages{}, func() (bool, error) {
		mine, err := q.width()
		if err != nil {
			return false, err
		}
		theirs, err := pure.width()
		return theirs < mine, err
	})
	if laplace {
		q = pure
	}
	return q, err
}

// unused are the facts that were given for another form.
func (e EstimatedBehavior) unused() (names []string) {
	if e.Share != 0 {
		names = append(names, "share")
	}
	if e.Floor != 0 {
		names = append(names, "floor")
	}
	return names
}

// width is what the intervals of all answers are expected to add up to.
func (q cellQuestion) width() (float64, error) {
	sum := 0.0
	for _, a := range q.answers {
		e, err := q.cells.Expected(a.Asked, 0.5)
		if err != nil {
			return 0, err
		}
		sum += e.Interval[1] - e.Interval[0]
	}
	return sum, nil
}

// byCells lists the answers.
func (p Public) byCells(policies [][]float64) []cellAnswer {
	var out []cellAnswer
	for _, a := range p.estimands() {
		x := cellAnswer{estimand: a, Asked: scalar.Asked{Difference: a.kind == OfContrast}}
		for _, t := range a.of {
			probs := policies[t.policy]
			if probs == nil {
				x.Logged += t.times
				continue
			}
			if x.Weights == nil {
				x.Weights = make([]float64, len(probs))
			}
			for bin, prob := range probs {
				x.Weights[bin] += t.times * prob
			}
		}
		out = append(out, x)
	}
	return out
}

// about is what is known beforehand.
func (q cellQuestion) about(policies [][]float64) (summary, error) {
	s := summary{facts: map[string]any{"policies_by_cell": policies}}
	sure, err := q.cells.Resolves(leastForecast)
	if err != nil {
		return s, err
	}
	var told []ExpectedAnswer
	for _, a := range q.answers {
		e, err := q.cells.Expected(a.Asked, 0.5)
		if err != nil {
			return s, err
		}
		within := q.public.Returns()
		if a.Difference {
			within = Range(a.within(q.cells.Range))
		}
		half := (e.Interval[1] - e.Interval[0]) / 2
		if !sure && !q.public.supposes {
			half = 0
		}
		told = append(told, ExpectedAnswer{Name: a.name, Kind: a.kind, Range: within, StdPrivacy: e.StdPrivacy, HalfWidth: half})
		s.expected.Constant = max(s.expected.Constant, within.Width()/2)
	}
	if !q.public.targets().alone {
		s.facts["answers"] = told
		s.notes = []string{fmt.Sprintf("All intervals of this release, %d, hold simultaneously with 95%% probability. The error probability is divided equally among them, and the budget pays for the sums that all of them rest on.", len(told))}
	} else {
		s.expected.StdPrivacy, s.expected.HalfWidth = told[0].StdPrivacy, told[0].HalfWidth
	}
	switch {
	case !sure && !q.public.supposes:
		s.facts["forecast"] = byWeights
		s.outlook = append(s.outlook, q.public.notForecast(true, false))
	case s.facts["answers"] == nil && q.cells.Cells == 1:
		near, err := q.cells.Expected(q.answers[0].Asked, nearShare)
		if err != nil {
			return s, err
		}
		s.inMiddle((near.Interval[1] - near.Interval[0]) / 2)
	}
	if q.cells.Laplace {
		s.byLaplace()
	}
	b := q.public.Behavior
	s.notes = append(s.notes, q.public.words(fmt.Sprintf("The probabilities of the logged actions were not known. Persons are counted, with what they gained, in %d public cells of %d actions, with noise; every answer follows from these sums, and its interval allows for errors of sampling and noise. It is assumed that within a cell every decision was made with the same probabilities, whatever else was known about the person. Where too few took an action in a cell, and for persons in no cell, any value in the public range is allowed for. The expected errors suppose as many persons in each cell, who took half as often what the policy does.", max(b.States, 1), b.Actions)))
	return s, nil
}

// byPerson keeps of a person the bin, what they gained there, and what they missed.
func (q cellQuestion) byPerson(of vouched) byPerson {
	of.behavior = counted{scalar.Behavior{Cells: q.cells.Cells, Actions: q.cells.Actions}}
	return byPerson{
		public: q.public.featureless(), estimates: true, numbers: 3, coordinates: q.cells.Coordinates(),
		check: func(d *trajectory.Dataset) error { return of.check(d, q.public) },
		each: func(numbers [][]float64, part []*value.Sample) error {
			visits, err := q.public.Behavior.visits(part[0].Data)
			if err == nil {
				q.cells.Contributions(numbers[0], numbers[1], numbers[2], part[0], visits)
			}
			return err
		},
		run: func(numbers []scalar.Numbers, _ *value.Samples) (draw, error) {
			return func(_ context.Context, src *noise.Source) (*Release, error) {
				sums, err := q.cells.Release(slices.Concat(numbers[0]...), slices.Concat(numbers[1]...), slices.Concat(numbers[2]...), src)
				if err != nil {
					return nil, err
				}
				return q.release(sums)
			}, nil
		},
	}
}

// massesByCell is the diagnostic that answers by cell follow from.
const massesByCell = "masses_by_cell"

// release makes all answers of the noisy sums.
func (q cellQuestion) release(sums *scalar.CellSums) (*Release, error) {
	each := make([]*Release, len(q.answers))
	for i, a := range q.answers {
		e, err := q.cells.Estimate(sums, a.Asked)
		if err != nil {
			return nil, err
		}
		each[i] = estimated(e)
		if each[i].estimate.Confidence = q.cells.Confidence(); q.public.judges {
			each[i].estimate.Confidence = 0.9 // at least
		}
	}
	r := q.public.gathered(each)
	r.Diagnostics[massesByCell] = sums
	return r, nil
}

// again makes the answers of a release again.
func (q cellQuestion) again(r *Release) (*Release, error) {
	var told struct {
		Cells *scalar.CellSums `json:"masses_by_cell"`
	}
	if err := fill(&told, r.Diagnostics); err != nil {
		return nil, fmt.Errorf("diagnostics: %w", err)
	}
	if err := q.cells.Check(told.Cells); err != nil {
		return nil, err
	}
	return q.release(told.Cells)
}
