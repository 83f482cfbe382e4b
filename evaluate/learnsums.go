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
	for round, kind := range q.rounds {
		var told []float64
		switch {
		case round > 0:
			all.follow(sums[0])
		case kind == ofExits && q.epsilons != nil:
			if told, err = q.noisyExits(&all, persons, src); err == nil {
				base = q.baseline(told)
			}
		}
		switch kind {
		case ofMean:
			if told, err = q.mean(&all, persons, src); err == nil {
				base = q.baseline(told)
			}
		case ofDraws:
			if told, err = q.draw(round, t, &all, persons, base, src); err == nil && q.states == nil {
				q.grown(&t, round, told)
			}
		case ofMargins:
			told, err = q.margins(sums, &all, persons, src)
		case ofFollowing:
			told, err = q.counted(&all, persons, src)
		}
		if err != nil {
			return nil, err
		}
		if told != nil {
			sums = append(sums, told)
			continue
		}
		fresh := func() (*mechanism.VectorSum, error) {
			return mechanism.NewVectorSum(q.cells(round), q.clipOf(round, sums), q.noise[round], q.public.Privacy.noise())
		}
		noisy, err := mechanism.Spread(fresh, min(mechanism.Workers(q.cells(round)), all.all.Parts()), len(persons), func(sum *mechanism.VectorSum) func(int) error {
			mine, v := all.fork(), make([]float64, q.cells(round))
			return func(i int) error {
				clear(v)
				rows, from, to := mine.of(persons[i])
				q.person(v, round, t, rows, from, to, base)
				return sum.Add(v)
			}
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
	x, action := rows.part[row]*rows.weight[row]*(rows.returns[row]-base.of(rows.step[row])), int(rows.action[row])
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
	if q.masses != nil {
		return rule.TableNodes(q.names[0], [][]int{q.cellTable(sums[last])}, q.grid.Actions)
	}
	if q.table != nil {
		return rule.TableNodes(q.names[0], q.improved(sums[last]), q.grid.Actions)
	}
	if q.epsilons != nil && q.states != nil {
		of := make([]int, len(sums[last]))
		for state, n := range sums[last] {
			of[state] = q.grid.Instead(int(n), q.grid.Banned([]float64{float64(state)}))
		}
		return rule.TableNodes(q.names[0], [][]int{of}, q.grid.Actions)
	}
	if q.states != nil {
		return rule.TableNodes(q.names[0], [][]int{q.grid.Table(q.sums(sums, last), q.grid.Actions)}, q.grid.Actions)
	}
	var t rule.Tree
	for round := 1; round <= last; round++ {
		if q.epsilons != nil {
			q.grown(&t, round, sums[round])
			continue
		}
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
