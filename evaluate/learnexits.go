package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// exitTime is how a person left: by the share of the time that is restricted, and with an event or not.
type exitTime struct {
	time  float64
	event bool
}

// Rates of events in the time that is restricted are cut to these.
const (
	leastRate = 0.02
	mostRate  = 50
)

// readExit adds the row of a person of whom all is known.
func (q *learnQuestion) readExit(rows *learnRows, s *value.Sample, person int, columns []int) {
	d := s.Data
	event, err := q.eventColumn(d)
	if err != nil {
		panic(err) // of parts that were checked
	}
	row, x, ok := q.sole(d, person, event, columns)
	if !ok {
		return
	}
	q.addRow(rows, d.Observation(row), columns, d.Action[row], d.BehaviorProb[row], 1)
	rows.step = append(rows.step, 0)
	total := q.public.Outcome.until()
	rows.left = append(rows.left, exitTime{min(d.Reward[row]/total, 1), x.cause > 0 && !x.end})
	rows.returns = append(rows.returns, 0)
}

// exits writes what a person adds to the sums of events and of times in their arm, each divided by a number.
func (q *learnQuestion) exits(v []float64, rows learnRows, from, to int, by float64) {
	for row := from; row < to; row++ {
		at := 2 * int(rows.action[row])
		if rows.left[row].event {
			v[at] += 1 / by
		}
		v[at+1] += rows.left[row].time / by
	}
}

// noisyExits releases these sums where a rule is drawn.
func (q *learnQuestion) noisyExits(all *learners, persons []int, src *noise.Source) ([]float64, error) {
	h, err := q.places()
	if err != nil {
		return nil, err
	}
	v := make([]float64, 2*q.grid.Actions)
	return mechanism.Total(h, len(persons), func(i int) error {
		clear(v)
		rows, from, to := all.of(persons[i])
		q.exits(v, rows, from, to, 1)
		var at []int
		var shares []float64
		for k, x := range v {
			if x > 0 {
				at, shares = append(at, k), append(shares, x)
			}
		}
		return h.AddShares(at, shares)
	}, src)
}

// exitSD is the standard deviation of the noise of one number of persons.
func (q *learnQuestion) exitSD() float64 {
	if q.epsilons != nil {
		return mechanism.LaplaceSD(q.public.Privacy.Adjacency.SumSensitivity(2) / q.epsilons[0])
	}
	return q.noise[0] * math.Sqrt2
}

// rates are those of events in each arm, in the time that is restricted: of noisy sums, and nearer to that of all the fewer
// persons there are for the noise.
func (q *learnQuestion) rates(noisy []float64) []float64 {
	unit := 1.0
	if q.epsilons == nil {
		unit = math.Sqrt2
	}
	cut := func(events, time float64) float64 {
		return min(max(events/max(time, 1), leastRate), mostRate)
	}
	events, time := 0.0, 0.0
	for a := range q.grid.Actions {
		events, time = events+unit*noisy[2*a], time+unit*noisy[2*a+1]
	}
	pooled, few := cut(events, time), 4*q.exitSD()
	out := make([]float64, q.grid.Actions)
	for a := range out {
		out[a] = cut(unit*noisy[2*a]+few*pooled, max(unit*noisy[2*a+1], 0)+few)
	}
	return out
}

// afterwards is the mean time to an event, or to the end, from a time on, of events at a rate.
func afterwards(time, rate float64) float64 { return -math.Expm1(-rate*(1-time)) / rate }

// livedBaseline is the mean time that rates make, over arms.
func (q *learnQuestion) livedBaseline(noisy []float64) baseline {
	mean := 0.0
	for _, rate := range q.rates(noisy) {
		mean += afterwards(0, rate) / float64(q.grid.Actions)
	}
	return baseline{q.public.Returns().clip(mean * q.public.Outcome.until())}
}

// follow gives the censored what is expected of them, by the noisy sums of exits.
func (l *learners) follow(noisy []float64) {
	if l.q.lives != nil && l.rates == nil {
		l.rates = l.q.rates(noisy)
		l.score()
	}
}

// score makes returns of times, once rates are known.
func (l *learners) score() {
	if l.rates == nil {
		return
	}
	total := l.q.public.Outcome.until()
	for row, x := range l.rows.left {
		time := x.time
		if !x.event {
			time += afterwards(time, l.rates[l.rows.action[row]])
		}
		l.rows.returns[row] = l.rows.within.clip(total * time)
	}
}
