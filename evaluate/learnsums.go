package evaluate

import (
	"math"
	"math/bits"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/policy"
)

// learn makes the rounds of sums over one half: of the baseline, then of the rule.
func (q *learnQuestion) learn(all learners, persons []int, src *noise.Source) (sums [][]float64, err error) {
	var base baseline
	var t rule.Tree
	for round := range q.rounds {
		v := make([]float64, q.cells(round))
		sum, err := mechanism.NewVectorSum(len(v), q.clipOf(round, sums), q.noise[round], q.public.Privacy.noise())
		if err != nil {
			return nil, err
		}
		noisy, err := mechanism.Total(sum, len(persons), func(i int) error {
			clear(v)
			rows, from, to := all.of(persons[i])
			q.person(v, round, t, rows, from, to, base)
			return sum.Add(v)
		}, src)
		if err != nil {
			return nil, err
		}
		sums = append(sums, noisy)
		switch {
		case round == 0:
			base = q.baseline(noisy)
		case q.states == nil && !q.scores:
			q.grid.Grow(&t, q.sums(sums, round))
		}
	}
	return sums, nil
}

// beside is by how much numbers of persons lengthen what a person adds to a round.
func (q *learnQuestion) beside() float64 {
	if q.grid.Treated > 0 {
		return 1 / math.Sqrt(1-personsShare)
	}
	return 1
}

// one is what a person counts as in a cell beside gains about a baseline.
func (q *learnQuestion) one(base baseline) float64 {
	return q.largest(base) * math.Sqrt(personsShare/(1-personsShare)/float64(len(q.names)))
}

// sums are the noisy sums of a round of gains.
func (q *learnQuestion) sums(all [][]float64, round int) rule.Sums {
	noisy := all[round]
	s := rule.Sums{Gains: noisy[:q.gains(round)], GainSD: q.noise[round] * q.clipOf(round, all)}
	if q.grid.Treated > 0 {
		one := q.one(q.baseline(all[0]))
		s.PersonsSD = s.GainSD / one
		for _, x := range noisy[len(s.Gains):] {
			s.Persons = append(s.Persons, x/one)
		}
	}
	return s
}

// add writes what a row adds: by how much its return differs from the mean, weighted, under its
// action, in the cell of every covariate. What actions have in common does not matter to a
// choice among them, and is left out; so is a row whose action must not be taken there. Under a
// limit on who is treated the persons count too.
func (q *learnQuestion) add(v []float64, t rule.Tree, rows learnRows, row int, base baseline) {
	x, action := rows.part[row]*rows.weight[row]*(rows.returns[row]-base.of(rows.at(row)[0])), int(rows.action[row])
	banned, k := rows.banned[row], q.grid.Actions
	if banned>>action&1 == 1 {
		x = 0
	}
	common := x / float64(k-bits.OnesCount8(banned))
	counts := len(v) // where they begin
	var one float64
	if q.grid.Treated > 0 {
		counts, one = len(v)/(k+1)*k, rows.part[row]*q.one(base)
	}
	write := func(at int) {
		for a := range k {
			if banned>>a&1 == 0 {
				v[at+a] -= common
			}
		}
		v[at+action] += x
		if counts < len(v) {
			v[counts+at/k] += one
		}
	}
	if q.states != nil {
		write(rows.at(row)[0] * k)
		return
	}
	node := t.Node(rows.at(row))
	for j, bin := range rows.at(row) {
		write(q.grid.Cell(node, j, bin, 0))
	}
}

// rule is the policy that follows from the sums.
func (q *learnQuestion) rule(sums [][]float64) []policy.Node {
	last := len(sums) - 1
	if q.states != nil {
		return rule.TableNodes(q.names[0], q.grid.Table(q.sums(sums, last), q.grid.Actions), q.grid.Actions)
	}
	var t rule.Tree
	for round := 1; round <= last; round++ {
		q.grid.Grow(&t, q.sums(sums, round))
	}
	return q.grid.Nodes(t, q.names)
}

// largest is the largest norm of what a person adds to a round of gains about the baseline. Of
// several decisions it is what as many would add that lie a quarter of the range away: more is
// cut.
func (q *learnQuestion) largest(base baseline) float64 {
	returns := q.public.Returns()
	centred := 1 - 1/float64(q.grid.Actions)
	if n := q.public.decisions(); n > 1 {
		return q.most * returns.Width() / 4 * math.Sqrt(centred*float64(n))
	}
	parts := max(q.grid.Covariates(), 1)
	if q.scores {
		parts = q.grid.Dim()
	}
	mean := base.of(0)
	return q.most * max(returns.Max-mean, mean-returns.Min) * math.Sqrt(centred*float64(parts))
}

// baseline is what returns are compared with: one number, or one for each state.
type baseline []float64

func (b baseline) of(state int) float64 { return b[min(state, len(b)-1)] }

// firstCells is the number of sums that the baseline is made of.
func (q *learnQuestion) firstCells() int {
	if q.public.decisions() == 1 {
		return 1
	}
	return 2 * q.states.States()
}

// first writes what a row adds to the baseline's sums, which a person's rows add up to a norm of
// 1 at most: its return about the middle of the range and, of several decisions, the row, by
// state.
func (q *learnQuestion) first(v []float64, rows learnRows, row int) {
	returns := q.public.Returns()
	x := rows.part[row] * (rows.returns[row] - returns.Mid()) / (returns.Width() / 2)
	if len(v) == 1 {
		v[0] += x
		return
	}
	scale := 1 / (math.Sqrt2 * float64(q.public.decisions()))
	state := rows.at(row)[0]
	v[2*state] += x * scale
	v[2*state+1] += rows.part[row] * scale
}

// baseline is made of the noisy sums: the mean return, or that of each state, where noise does
// not drown the number of its visits, and of all where it does.
func (q *learnQuestion) baseline(noisy []float64) baseline {
	returns := q.public.Returns()
	value := func(x, n float64) float64 { return q.returned(returns.Mid() + returns.Width()/2*x/n) }
	if len(noisy) == 1 {
		return baseline{value(noisy[0], float64(q.learnOn))}
	}
	x, n := 0.0, 0.0
	for s := 0; s < len(noisy); s += 2 {
		x, n = x+noisy[s], n+noisy[s+1]
	}
	all := value(x, max(n, q.noise[0]))
	b := make(baseline, len(noisy)/2)
	for s := range b {
		if b[s] = all; noisy[2*s+1] > 2*q.noise[0] {
			b[s] = value(noisy[2*s], noisy[2*s+1])
		}
	}
	return b
}
