package evaluate

import (
	"fmt"
	"slices"
	"sync/atomic"

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
	within  Range       // of returns
	after   []rest      // by stretch of the episode
	step    []int       // the stretch of the episode
	banned  []uint8     // actions that must not be taken there, a bit each
	terms   [][]float64 // of a linear rule
	values  [][]float64 // what they are made of
	left    []exitTime  // of outcomes that are times
	from    []int       // by person
}

// check checks that every policy can be asked about every row, so that nothing fails once noise
// is drawn, and gives the rows to be learned from.
func (q *learnQuestion) check(parts []*value.Part) (*value.Samples, error) {
	options := value.Options{Gamma: q.public.Gamma, Policy: policy.Logged{}}
	if q.table != nil {
		options.Features = q.public.Features
	}
	samples, err := value.NewSamples(parts, options)
	if err != nil {
		return nil, err
	}
	for round := range q.rounds {
		if err := checkCapacity(samples.Persons(), max(q.cells(round), 6)); err != nil {
			return nil, err
		}
	}
	if _, err := policy.NewTree(q.names, rule.TableNodes(q.names[0], [][]int{{0}}, q.grid.Actions), false); err != nil {
		return nil, err
	}
	var lost atomic.Int64
	err = value.Each(parts, func(_ int, d *trajectory.Dataset) (err error) {
		if q.lives != nil {
			var n int
			n, err = q.lost(d)
			lost.Add(int64(n))
		} else {
			err = q.asks(d)
		}
		if err == nil {
			_, err = q.columns(d)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if n := int(lost.Load()); n > 0 && q.public.Complete {
		return nil, fmt.Errorf("%w: problem.records is complete, and %s; mend the data, or leave problem.records out", ErrData, q.public.unusableWords(n))
	}
	return samples, nil
}

// asks checks that the policies can be asked about data.
func (q *learnQuestion) asks(d *trajectory.Dataset) error {
	if err := q.of.check(d, q.judge.public); err != nil {
		return err
	}
	if q.of.behavior != nil {
		d = certain(d)
	}
	_, err := samplesOf(d, q.judge.public)
	return err
}

// columns are those of the covariates.
func (q *learnQuestion) columns(d *trajectory.Dataset) ([]int, error) {
	columns := make([]int, len(q.names))
	for i, name := range q.names {
		if columns[i] = d.Column(name); columns[i] < 0 {
			return nil, fmt.Errorf("%w: features: the data were read without %s", ErrData, name)
		}
	}
	return columns, nil
}

// learners are persons with what is learned from them, part by part.
type learners struct {
	q    *learnQuestion
	all  *value.Samples
	walk *value.Walk
	rows learnRows
	// rates are those of events in each arm, where outcomes are times and they are known.
	rates []float64
}

// fork is for another goroutine, where there are parts for several; one part is read once for all rounds.
func (l *learners) fork() *learners {
	if l.all.Parts() == 1 {
		return l
	}
	return &learners{q: l.q, all: l.all, walk: l.all.Walk(), rates: l.rates}
}

// of are rows and which of them are a person's, until it is called again.
func (l *learners) of(person int) (rows learnRows, from, to int) {
	s, i := l.walk.At(person)
	if l.walk.Moved() {
		l.read(s)
	}
	return l.rows, l.rows.from[i], l.rows.from[i+1]
}

// read replaces the rows by those of a part.
func (l *learners) read(s *value.Sample) {
	columns, err := l.q.columns(s.Data)
	if err != nil {
		panic(err) // of parts that were checked
	}
	rows := &l.rows
	*rows = learnRows{within: l.q.public.Returns(), after: l.q.rests(), covers: len(columns), from: append(rows.from[:0], 0), bins: rows.bins[:0], action: rows.action[:0], weight: rows.weight[:0],
		returns: rows.returns[:0], part: rows.part[:0], step: rows.step[:0], banned: rows.banned[:0], terms: rows.terms[:0], values: rows.values[:0], left: rows.left[:0]}
	for person := range s.Persons() {
		from, to := s.Episodes(person)
		if l.q.lives != nil {
			l.q.readExit(rows, s, person, columns)
			to = from
		}
		for e := from; e < to; e++ {
			if !s.Cut(e, l.q.public.decisions()) {
				l.q.readEpisode(rows, s, e, columns, 1/float64(s.Data.Counted(person)))
			}
		}
		rows.from = append(rows.from, len(rows.action))
	}
	l.score()
}

// halfOf is what a question about a learned policy keeps of some of the persons, in their order. Episodes in which a
// score overflows are left out: the policy is known after the charge, and to fail there would tell of them. Ratios of actions
// that it takes do not overflow: the check had them of policies that always take one.
func halfOf(parts []*value.Part, persons []int, learned policy.Policy, ask byPerson) (people, error) {
	before, some := 0, make([][]int, len(parts)) // of each part
	for i, p := range parts {
		n, _ := slices.BinarySearch(persons, before+p.Persons())
		for _, person := range persons[:n] {
			some[i] = append(some[i], person-before)
		}
		before, persons = before+p.Persons(), persons[n:]
	}
	kept := make([]any, len(parts))
	err := value.Each(parts, func(i int, d *trajectory.Dataset) (err error) {
		d = d.Take(some[i])
		if _, scores := learned.(policy.SoftGreedy); scores {
			if d, _, err = policy.Repair(d, learned, nil); err != nil {
				return err
			}
		}
		kept[i], err = ask.look(d, nil, len(parts) == 1)
		return err
	})
	if err != nil {
		return people{}, err
	}
	var all any
	for _, k := range kept {
		all = joined(ask.preparation(), all, k)
	}
	return all.(people), nil
}

// samplesOf are those of the data for every policy.
func samplesOf(d *trajectory.Dataset, p Public) ([]*value.Sample, error) {
	if err := checkCapacity(d.Persons(), 6); err != nil {
		return nil, err
	}
	var out []*value.Sample
	for i, a := range p.targets().Policies {
		s, err := sampleWith(nil, a.Policy, d, p)
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
		if q.addRow(rows, s.Data.Observation(row), columns, s.Data.Action[row], s.Data.BehaviorProb[row], part) {
			rows.returns, rows.step = append(rows.returns, rows.within.clip(returns)), append(rows.step, q.stretch(row-lo))
		}
	}
}

// addRow adds what is known of a decision beforehand, and the action; false where it cannot be read.
func (q *learnQuestion) addRow(rows *learnRows, observation []float64, columns []int, action int32, chance, part float64) bool {
	bins, known := q.place(rows.bins, observation, columns)
	if !known || action < 0 || int(action) >= q.grid.Actions {
		return false
	}
	rows.bins, rows.action = bins, append(rows.action, action)
	rows.weight = append(rows.weight, min(1/(chance+q.public.BehaviorPrecision), q.most))
	rows.part = append(rows.part, part)
	var values []float64
	if q.scores || len(q.grid.Never) > 0 {
		values = at(observation, columns)
	}
	rows.banned = append(rows.banned, q.grid.Banned(values))
	if q.scores {
		terms := make([]float64, q.grid.Dim())
		q.grid.Terms(terms, values)
		rows.terms, rows.values = append(rows.terms, terms), append(rows.values, values)
	}
	return true
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
