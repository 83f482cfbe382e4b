package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// learnRows are what is learned from: the place of each row's covariates, its action, weight and
// return, and what part of its person it is.
type learnRows struct {
	covers  int   // how many covariates there are; the state alone of a table
	bins    []int // row by row, of covariates
	action  []int32
	weight  []float64
	returns []float64
	part    []float64
	banned  []uint8     // actions that must not be taken there, a bit each
	terms   [][]float64 // of a linear rule
	from    []int       // by person
}

// read checks that every policy can be asked about every row, so that nothing fails once noise
// is drawn.
func (q *learnQuestion) read(d *trajectory.Dataset) (learnRows, error) {
	for round := range q.rounds {
		if err := checkCapacity(d.Persons(), q.cells(round)); err != nil {
			return learnRows{}, err
		}
	}
	all, err := samplesOf(d, q.judge.public)
	if err != nil {
		return learnRows{}, err
	}
	if _, err := policy.NewTree(q.names, rule.TableNodes(q.names[0], []int{0}, q.grid.Actions), false); err != nil {
		return learnRows{}, err
	}
	s := all[0]
	rows := learnRows{covers: len(q.names), from: []int{0}}
	columns := make([]int, len(q.names))
	for i, name := range q.names {
		if columns[i] = d.Column(name); columns[i] < 0 {
			return rows, fmt.Errorf("%w: features: the data were read without %s", ErrData, name)
		}
	}
	for person := range d.Persons() {
		from, to := s.Episodes(person)
		for e := from; e < to; e++ {
			if !s.Cut(e, q.public.decisions()) {
				q.readEpisode(&rows, s, e, columns, 1/float64(d.Counted(person)))
			}
		}
		rows.from = append(rows.from, len(rows.action))
	}
	return rows, nil
}

// samplesOf are those of the data for every policy.
func samplesOf(d *trajectory.Dataset, p Public) ([]*value.Sample, error) {
	if err := checkCapacity(d.Persons(), 6); err != nil {
		return nil, err
	}
	var out []*value.Sample
	for i, each := range p.perPolicy() {
		s, err := sampleFor(d, each)
		if err != nil {
			return nil, p.targets().named(i, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// readEpisode adds the decisions of an episode that was not cut off, each with the return from
// then on.
func (q *learnQuestion) readEpisode(rows *learnRows, s *value.Sample, e int, columns []int, part float64) {
	lo, hi := s.Rows(e)
	returns := 0.0
	for row := hi - 1; row >= lo; row-- {
		returns = s.Data.Reward[row] + s.Gamma(row)*returns
		bins, known := q.place(rows.bins, s.Data.Observation(row), columns)
		if action := s.Data.Action[row]; known && action >= 0 && int(action) < q.grid.Actions {
			rows.bins, rows.action = bins, append(rows.action, action)
			rows.weight = append(rows.weight, min(1/(s.Data.BehaviorProb[row]+q.public.BehaviorPrecision), q.most))
			rows.returns, rows.part = append(rows.returns, q.returned(returns)), append(rows.part, part)
			rows.banned = append(rows.banned, q.grid.Banned(at(s.Data.Observation(row), columns)))
			if q.scores {
				terms := make([]float64, q.grid.Dim())
				q.grid.Terms(terms, at(s.Data.Observation(row), columns))
				rows.terms = append(rows.terms, terms)
			}
		}
	}
}

// place adds the bins of covariates, or the state; false where it cannot be read.
func (q *learnQuestion) place(bins []int, observation []float64, columns []int) ([]int, bool) {
	for i, c := range columns {
		x := observation[c]
		switch {
		case q.states == nil:
			bins = append(bins, q.grid.Bin(i, x))
		case x >= 0 && x < float64(q.states.States()):
			bins = append(bins, int(x))
		default:
			return nil, false
		}
	}
	return bins, true
}

// at are the columns of an observation.
func at(observation []float64, columns []int) []float64 {
	out := make([]float64, len(columns))
	for i, c := range columns {
		out[i] = observation[c]
	}
	return out
}

// at are the bins of a row.
func (r *learnRows) at(row int) []int { return r.bins[row*r.covers : (row+1)*r.covers] }

// returned is a return cut to its public range.
func (q *learnQuestion) returned(g float64) float64 {
	returns := q.public.Returns()
	return min(max(g, returns.Min), returns.Max)
}
