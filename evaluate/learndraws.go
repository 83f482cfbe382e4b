package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

const (
	mostCandidates = 1 << 20 // candidates of a draw
	drawnMean      = 0.1     // of epsilon, for the mean
)

// draws tells whether the rule is drawn by permute-and-flip, whose cost is pure epsilon, and not made
// of sums: for a single decision, of trees and tables whose parts do not depend on each other.
func (q *learnQuestion) draws(m DPLearn) bool {
	g := q.public.Privacy
	return (g.NoiseFamily == "" || g.NoiseFamily == LaplaceNoise) && !g.Fast && g.Budget.Delta > 0 && q.public.decisions() == 1 && !q.scores && m.Budget == 0 && m.Monotone == nil
}

// drawing plans the rounds of draws and what they spend: two levels at once where these are not too
// many trees.
func (q *learnQuestion) drawing(levels int) {
	epsilon := q.public.Privacy.Budget.Epsilon * (1 - 0x1p-40)
	if q.rounds = []roundKind{ofMean}; q.opening == ofExits {
		q.rounds[0] = ofExits
	}
	q.epsilons, q.levels = []float64{drawnMean * epsilon}, []int{0}
	most := min(levels, 2)
	if q.states != nil {
		levels, most = 1, 0
	} else if levels > 1 && (q.grid.Candidates(2) > mostCandidates || q.grid.Tallies(2) > mostCandidates) {
		most = 1
	}
	left := levels
	for left > 0 {
		n := min(max(most, 1), left)
		q.rounds, q.levels = append(q.rounds, ofDraws), append(q.levels, min(n, most))
		q.epsilons = append(q.epsilons, 0)
		left -= n
	}
	draws := len(q.rounds) - 1
	for i := range draws { // the last splits fewer persons' outcomes
		q.epsilons[1+i] = (1 - drawnMean) * epsilon * float64(int(1)<<i) / float64(int(1)<<draws-1)
	}
}

// nodes is how many draws a round makes, each from persons of its own.
func (q *learnQuestion) nodes(round int) int {
	if q.states != nil {
		return q.states.States()
	}
	n := 1
	for _, levels := range q.levels[:round] {
		n <<= levels
	}
	return n
}

// spread is the largest size of what a person adds to draws.
func (q *learnQuestion) spread(base baseline) float64 {
	returns, mean := q.public.Returns(), base.of(0)
	return q.most * max(returns.Max-mean, mean-returns.Min)
}

// scale is what an exponential number's mean would be, of the noise of a round's totals.
func (q *learnQuestion) scale(round int, base baseline) float64 {
	return q.public.Privacy.Adjacency.SumSensitivity(q.spread(base)) / q.epsilons[round]
}

// places are empty sums of the first round: of persons' places in the range of returns or, of times, of events and
// times in each arm.
func (q *learnQuestion) places() (*mechanism.Histogram, error) {
	bins, most := 1, 1
	if q.opening == ofExits {
		bins, most = 2*q.grid.Actions, 2
	}
	return mechanism.NewLaplaceShares(bins, most, q.public.Privacy.Adjacency.SumSensitivity(float64(most))/q.epsilons[0]*(1+0x1p-44))
}

// mean is the noisy sum of places of persons' mean returns in the range.
func (q *learnQuestion) mean(all *learners, persons []int, src *noise.Source) ([]float64, error) {
	h, err := q.places()
	if err != nil {
		return nil, err
	}
	returns := q.public.Returns()
	return mechanism.Total(h, len(persons), func(i int) error {
		share := 0.5
		rows, from, to := all.of(persons[i])
		for row := from; row < to; row++ {
			share += rows.part[row] * (rows.returns[row] - returns.Mid()) / returns.Width()
		}
		return h.AddShares([]int{0}, []float64{share})
	}, src)
}

// draw chooses one candidate at every node by weighted returns about the mean of rows that it would
// treat as they were.
func (q *learnQuestion) draw(round int, t rule.Tree, all *learners, persons []int, base baseline, src *noise.Source) (drawn []float64, err error) {
	levels, nodes := q.levels[round], q.nodes(round)
	choice := func() (*mechanism.PermuteAndFlip, error) {
		return mechanism.NewPermuteAndFlip(q.grid.Candidates(levels), q.spread(base), q.epsilons[round], q.public.Privacy.Adjacency)
	}
	steps, err := choice()
	if err != nil {
		return nil, err
	}
	width := q.grid.Tallies(levels)
	tallies := make([]int64, nodes*width)
	var x []float64
	var k []int64
	for _, person := range persons {
		rows, from, to := all.of(person)
		x = x[:0]
		for row := from; row < to; row++ {
			x = append(x, rows.part[row]*rows.weight[row]*(rows.returns[row]-base.of(0)))
		}
		k = append(k[:0], make([]int64, len(x))...)
		steps.Steps(k, x)
		for row := from; row < to; row++ {
			bins := rows.at(row)
			node := bins[0]
			if q.states == nil {
				node = t.Node(bins)
			}
			for wanted := range q.grid.Actions {
				if q.grid.Instead(wanted, rows.banned[row]) == int(rows.action[row]) {
					q.grid.Tally(levels, bins, wanted, func(at int) { tallies[node*width+at] += k[row-from] })
				}
			}
		}
	}
	for node := range nodes {
		one, err := choice()
		if err != nil {
			return nil, err
		}
		at, _, err := one.ReleaseOf(q.grid.Totals(levels, tallies[node*width:(node+1)*width]), len(persons), src)
		if err != nil {
			return nil, err
		}
		drawn = append(drawn, float64(at))
	}
	return drawn, nil
}

// drawnBy tells whether numbers are those of candidates of a round.
func (q *learnQuestion) drawnBy(round int, numbers []float64) bool {
	for _, n := range numbers {
		if n != math.Trunc(n) || n < 0 || n >= float64(q.grid.Candidates(q.levels[round])) {
			return false
		}
	}
	return true
}

// grown is the tree that a round's draws add to.
func (q *learnQuestion) grown(t *rule.Tree, round int, drawn []float64) {
	numbers := make([]int, len(drawn))
	for i, n := range drawn {
		numbers[i] = int(n)
	}
	q.grid.Draw(t, q.levels[round], numbers)
}

// spent is the event of both halves, and noise as it is drawn.
func (q *learnQuestion) spent() (event, drawn dp.Event, err error) {
	if q.masses != nil {
		event = q.judge.event
		if q.masses.learn.Laplace {
			event = dp.ApproximateDP(q.public.Privacy.Budget)
		}
		return event, dp.SelfComposed{Count: 2, Event: q.judge.event}, nil
	}
	if q.epsilons == nil {
		all, err := multipliers(*q.public.Privacy, 1)
		return gaussians(all...), dp.Composed{Events: []dp.Event{gaussians(q.noise...), q.judge.event}}, err
	}
	mean, err := q.places()
	if err != nil {
		return nil, nil, err
	}
	events := []dp.Event{mean.Event()}
	for round := 1; round < len(q.rounds); round++ {
		events = append(events, dp.SelfComposed{Count: int64(q.nodes(round)), Event: dp.PermuteAndFlip{Epsilon: q.epsilons[round]}})
	}
	b := q.public.Privacy.Budget
	return dp.ApproximateDP(b), dp.Composed{Events: append(events, q.judge.event)}, nil
}
