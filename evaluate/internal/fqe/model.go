package fqe

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Model is a released table with what follows from it.
type Model struct {
	t     Table
	noisy mechanism.NoisyTransitions
	// levels hold the rows one by one, those of a cell together, and all together: each
	// leans on the next where noise hides it.
	levels [3][]row
	// rewards are mean rewards about the middle of their range.
	rewards part
}

// row is what is known of one kind of decision, or of several together.
type row struct {
	weight  float64 // sum of weights: at least twice its noise, or 0
	mark    float64 // mean, with noise
	noise   float64 // standard deviation of the noise in weight and in the sum of marks, over weight
	members int     // rows of the table

	whole float64   // weight of the decisions of which it is known what followed, if anything
	own   []float64 // share of each outcome in whole by the row's own counts
	slope []float64 // derivative of own by the count
	rest  float64   // share of decisions whose outcome is that of the next level
	// next is the share of each cell, and of none, as what follows; they add up to 1.
	next []float64
}

func newModel(t Table, noisy mechanism.NoisyTransitions) *Model {
	m := &Model{t: t, noisy: noisy}
	rows := t.rows()
	for level, members := range [3]int{1, rows / t.places(), rows} {
		for from := 0; from < rows; from += members {
			m.levels[level] = append(m.levels[level], m.pool(from, members))
		}
	}
	for level := 2; level >= 0; level-- {
		m.outcomes(level)
	}
	half, cells := t.Public.Reward.Width()/2, float64(t.places())
	m.rewards = m.lean(func(r row) (float64, float64) {
		// In a value errors of single rows average out over cells, and what is lost by
		// leaning on other actions does not: the target picks its actions on purpose.
		variance := (r.noise*r.noise*(1+r.mark*r.mark) + max(1-r.mark*r.mark, 0)/r.weight) / cells
		return half * min(max(r.mark, -1), 1), half * half * variance
	})
	return m
}

// pool joins rows of the table.
func (m *Model) pool(from, members int) row {
	outcomes := m.t.outcomes()
	out := row{own: make([]float64, outcomes), slope: make([]float64, outcomes), members: members}
	for r := from; r < from+members; r++ {
		out.weight += m.noisy.Weights[r]
		out.mark += m.noisy.Marks[r]
		for o := range out.own {
			out.own[o] += m.noisy.Counts[r*outcomes+o]
		}
	}
	sd := math.Sqrt(float64(members)) * m.noisy.SumSD
	if out.weight < 2*sd {
		out.weight, out.mark = 0, 0
		return out
	}
	out.mark /= out.weight
	out.noise = sd / out.weight
	return out
}

// outcomes turns the counts of a level into shares. Most outcomes never follow a
// decision, and their noise would add up: counts are drawn to zero, small ones far,
// large ones hardly, and what is left over is spread as in the next level.
func (m *Model) outcomes(level int) {
	rows := m.levels[level]
	sd := math.Sqrt(float64(rows[0].members)) * m.noisy.CountSD
	for i := range rows {
		r := &rows[i]
		var prior []float64
		if level < 2 {
			next := m.levels[level+1]
			prior = next[i*len(next)/len(rows)].next
		}
		r.spread(sd, prior)
	}
}

// spread fixes the shares of a row whose counts carry noise of standard deviation sd; prior is nil of all rows together.
// The last decisions that episodes can have, the last count, are left out: those before
// stand for them.
func (r *row) spread(sd float64, prior []float64) {
	total, open := 0.0, len(r.own)-1
	for o, n := range r.own {
		r.own[o], r.slope[o] = garrote(n, sd)
		total += r.own[o]
	}
	total -= r.own[open]
	r.whole = r.weight - r.own[open]
	if prior == nil || total > r.whole {
		r.whole = total
	}
	if r.weight == 0 {
		r.whole = 0
	}
	r.own[open] = 0
	r.rest = 1
	for o := range r.own {
		if r.whole == 0 {
			r.own[o], r.slope[o] = 0, 0
			continue
		}
		r.own[o] /= r.whole
		r.slope[o] /= r.whole
		r.rest -= r.own[o]
	}
	r.rest = min(max(r.rest, 0), 1)
	r.next = r.followed(prior)
}

// followed joins a row's own shares with those of the next level. Whoever was cut off
// went on as others who went on.
func (r *row) followed(prior []float64) []float64 {
	end := len(r.own) - 3
	known, cut := 0.0, r.own[end+1]
	for _, share := range r.own[:end] {
		known += share
	}
	out := slices.Clone(r.own[:end+1])
	switch {
	case known > 0:
		for o := range end {
			out[o] *= 1 + cut/known
		}
	case prior != nil:
		r.rest += cut
	}
	switch {
	case prior != nil:
		for o := range out {
			out[o] += r.rest * prior[o]
		}
	case known == 0: // nothing is known: all cells alike
		for o := range end {
			out[o] = (1 - out[end]) / float64(end)
		}
	}
	return out
}

// garrote draws a noisy count to zero (Breiman 1995), and tells the derivative.
func garrote(n, sd float64) (kept, slope float64) {
	if n <= sd {
		return 0, 0
	}
	return n - sd*sd/n, 1 + sd*sd/(n*n)
}

// part is a number by row of the table, made of those of the rows, of their cells and
// of all: own says, level by level, how much each relies on its own numbers and not on
// the next level.
type part struct {
	values []float64
	own    [3][]float64
}

// lean makes a part: tell gives a number of a row that is known, and its variance. Where
// nothing is known of all rows together the number is 0.
func (m *Model) lean(tell func(r row) (x, variance float64)) part {
	out := part{values: []float64{0}}
	for level := 2; level >= 0; level-- {
		rows := m.levels[level]
		x, variance, prior := make([]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows))
		for i, r := range rows {
			prior[i] = out.values[i*len(out.values)/len(rows)]
			if x[i], variance[i] = prior[i], math.Inf(1); r.weight > 0 {
				x[i], variance[i] = tell(r)
			}
			if level == 2 && r.weight > 0 {
				variance[i] = 0
			}
		}
		out.own[level] = shrink(x, variance, prior)
		out.values = x
	}
	return out
}

// shrink draws each number to its prior mean and tells how much of its own is left: by
// how much they differ beyond their variances is estimated over all of them
// (DerSimonian and Laird 1986).
func shrink(x, variance, prior []float64) (own []float64) {
	excess, weights := 0.0, 0.0
	for i, v := range variance {
		if v > 0 && !math.IsInf(v, 1) {
			d := x[i] - prior[i]
			excess += d*d/v - 1
			weights += 1 / v
		}
	}
	between := 0.0
	if weights > 0 {
		between = max(excess, 0) / weights
	}
	own = make([]float64, len(x))
	for i, v := range variance {
		switch {
		case math.IsInf(v, 1):
		case v > 0:
			own[i] = between / (between + v)
		default:
			own[i] = 1
		}
		x[i] = prior[i] + own[i]*(x[i]-prior[i])
	}
	return own
}

// Values are those of the target policy with 1, 2, ... decisions to go.
type Values struct {
	// Actions is the number of actions of Q, 1 where values are by state alone.
	Actions int
	// V holds a number for each cell, Q one for each cell and action.
	V, Q [][]float64
}

// Last is the value by cell with all decisions to go.
func (v Values) Last() []float64 { return v.V[len(v.V)-1] }

// LastByAction is the value of each action in each cell, likewise; nil where values are
// by state alone.
func (v Values) LastByAction() []float64 {
	if v.Actions == 1 {
		return nil
	}
	return v.Q[len(v.Q)-1]
}

// Induct makes values by backward induction: target holds the target policy's
// probability of every action in every cell, in form ByAction; nil elsewhere.
func (m *Model) Induct(target []float64) Values {
	places := m.t.places()
	out := Values{Actions: m.t.rows() / places}
	after := make([]float64, places+1) // of each outcome, discounted; nothing follows the last
	for h := range m.t.Decisions {
		q, now := m.backup(after, m.t.Bounds(h+1)), make([]float64, places)
		for c := range now {
			now[c] = q[c]
			if out.Actions > 1 {
				now[c] = 0
				for a := range out.Actions {
					now[c] += target[c*out.Actions+a] * q[c*out.Actions+a]
				}
			}
			after[c] = m.t.Public.Gamma * now[c]
		}
		out.V, out.Q = append(out.V, now), append(out.Q, q)
	}
	return out
}

// backup is one step of the induction.
func (m *Model) backup(after []float64, within facts.Range) []float64 {
	values := make([]float64, len(m.levels[0]))
	for i, r := range m.levels[0] {
		sum := m.t.Public.Reward.Mid() + m.rewards.values[i]
		for o, share := range r.next {
			sum += share * after[o]
		}
		values[i] = within.Clamp(sum)
	}
	return values
}

// Bounds are those of the value of what is still to come with h decisions to go, from
// the range of a reward. An episode may end with any decision.
func (t Table) Bounds(h int64) facts.Range {
	total := float64(h)
	if g := t.Public.Gamma; g < 1 {
		total = -math.Expm1(float64(h)*math.Log(g)) / (1 - g)
	}
	out := t.Public.Reward
	if out.Min < 0 {
		out.Min *= total
	}
	if out.Max > 0 {
		out.Max *= total
	}
	if gone := float64(t.Decisions - h); out.Min >= 0 && !t.Discounts {
		// What was paid before is not negative.
		out.Max = min(out.Max, max(t.Public.Returns.Max, 0)/math.Pow(t.Public.Gamma, gone))
	}
	if h == t.Decisions { // from the start of an episode on, the public range holds too
		out = facts.Range{Min: t.Public.Returns.Clamp(out.Min), Max: t.Public.Returns.Clamp(out.Max)}
	}
	return out
}
