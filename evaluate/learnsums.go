package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/policy"
)

// learn makes the rounds of sums over one half: of the baseline, then of the rule.
func (q *learnQuestion) learn(rows learnRows, persons []int, src *noise.Source) (sums [][]float64, err error) {
	var base baseline
	var t rule.Tree
	for round := range q.depth + 1 {
		clip := 1.0
		if round > 0 {
			clip = q.clip(base)
		}
		v := make([]float64, q.cells(round))
		sum, err := mechanism.NewVectorSum(len(v), clip, q.noise[round], q.public.Privacy.noise())
		if err != nil {
			return nil, err
		}
		noisy, err := mechanism.Total(sum, len(persons), func(i int) error {
			clear(v)
			for row := rows.from[persons[i]]; row < rows.from[persons[i]+1]; row++ {
				if round == 0 {
					q.first(v, rows, row)
				} else {
					q.add(v, t, rows, row, base)
				}
			}
			return sum.Add(v)
		}, src)
		if err != nil {
			return nil, err
		}
		sums = append(sums, noisy)
		switch {
		case round == 0:
			base = q.baseline(noisy)
		case q.states == nil:
			q.grid.Grow(&t, noisy, q.noise[round]*clip)
		}
	}
	return sums, nil
}

// cells is the number of sums of a round.
func (q *learnQuestion) cells(round int) int {
	switch {
	case round == 0:
		return q.firstCells()
	case q.states != nil:
		return q.states.States() * q.grid.Actions
	}
	return q.grid.Cells(1 << (round - 1))
}

// add writes what a row adds: by how much its return differs from the mean, weighted, under its
// action, in the cell of every covariate. What actions have in common does not matter to a
// choice among them, and is left out.
func (q *learnQuestion) add(v []float64, t rule.Tree, rows learnRows, row int, base baseline) {
	x, action := rows.part[row]*rows.weight[row]*(rows.returns[row]-base.of(rows.at(row)[0])), int(rows.action[row])
	common := x / float64(q.grid.Actions)
	write := func(cells []float64) {
		for a := range cells {
			cells[a] -= common
		}
		cells[action] += x
	}
	if q.states != nil {
		at := rows.at(row)[0] * q.grid.Actions
		write(v[at : at+q.grid.Actions])
		return
	}
	node := t.Node(rows.at(row))
	for j, bin := range rows.at(row) {
		at := q.grid.Cell(node, j, bin, 0)
		write(v[at : at+q.grid.Actions])
	}
}

// rule is the policy that follows from the sums.
func (q *learnQuestion) rule(sums [][]float64) []policy.Node {
	if q.states != nil {
		return rule.TableNodes(q.names[0], rule.Table(sums[1], q.grid.Actions), q.grid.Actions)
	}
	base := q.baseline(sums[0])
	var t rule.Tree
	for round, s := range sums[1:] {
		q.grid.Grow(&t, s, q.noise[1+round]*q.clip(base))
	}
	return q.grid.Nodes(t, q.names)
}

// clip is the largest norm of what a person adds to a round about the baseline. Of several
// decisions it is what as many would add that lie a quarter of the range away: more is cut.
func (q *learnQuestion) clip(base baseline) float64 {
	returns := q.public.Returns()
	centred := 1 - 1/float64(q.grid.Actions)
	if n := q.public.decisions(); n > 1 {
		return q.most * returns.Width() / 4 * math.Sqrt(centred*float64(n))
	}
	mean := base.of(0)
	return q.most * max(returns.Max-mean, mean-returns.Min) * math.Sqrt(centred*float64(max(q.grid.Covariates(), 1)))
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
