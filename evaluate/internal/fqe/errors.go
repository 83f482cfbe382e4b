package fqe

import (
	"math"
	"slices"
)

// Errors are the standard deviations, to first order, that noise and finitely many
// persons make in the mean over decisions of the value with all decisions to go, if the
// model is right; where noise hides everything, half the range.
//
// The value is differentiated by every noisy number, backward through the induction;
// how far rows lean on others, and the bounds on values, are taken as given. All of it
// is post-processing.
func (m *Model) Errors(v Values, target []float64) (private, sampling float64) {
	if m.levels[2][0].weight == 0 { // noise hides that anybody decided anything
		return m.t.Bounds(m.t.Decisions).Width() / 2, 0
	}
	d := derivatives{m, make([]float64, len(m.noisy.Counts)), make([]float64, len(m.noisy.Weights)), make([]float64, len(m.noisy.Marks))}
	weight, rewards := m.visits(), make([]float64, len(m.levels[0]))
	for h := len(v.V) - 1; h >= 0; h-- {
		after := make([]float64, m.t.places()+1)
		if h > 0 {
			for c, x := range v.V[h-1] {
				after[c] = m.t.Public.Gamma * x
			}
		}
		rows, before := make([]float64, len(m.levels[0])), make([]float64, m.t.places())
		for i, r := range m.levels[0] {
			rows[i] = weight[i/v.Actions]
			if v.Actions > 1 {
				rows[i] *= target[i]
			}
			rewards[i] += rows[i]
			for c := range before {
				before[c] += rows[i] * r.next[c] * m.t.Public.Gamma
			}
		}
		d.outcomes(rows, after)
		weight = before
	}
	d.reward(rewards)
	return d.sum()
}

// visits is the share of decisions that are made in each cell.
func (m *Model) visits() []float64 {
	out, total := make([]float64, m.t.places()), 0.0
	for c := range out {
		out[c] = m.levels[1][c].weight
		total += out[c]
	}
	for c := range out {
		if total == 0 {
			out[c] = 1 / float64(len(out))
		} else {
			out[c] /= total
		}
	}
	return out
}

// derivatives are those of the value by every noisy number.
type derivatives struct {
	m                      *Model
	counts, weights, marks []float64
}

// outcomes adds the derivatives of one step of the induction: weight is that by the
// value of each row, after the value of each outcome.
func (d derivatives) outcomes(weight, after []float64) {
	d.m.up(weight, func(r row, level, i, parent int, weight float64) float64 {
		prior := mean(r.next, after)
		if level < 2 && r.rest > 0 {
			prior = mean(d.m.levels[level+1][parent].next, after)
		}
		if weight != 0 && r.whole > 0 {
			d.own(r, i, weight, prior, after)
		}
		return weight * r.rest
	})
}

// up visits the rows of all levels with their weights: what is left of each is that of the row
// of the next level that it leans on, its parent.
func (m *Model) up(weight []float64, visit func(r row, level, i, parent int, weight float64) (left float64)) {
	for level, rows := range m.levels {
		parents := 1
		if level < 2 {
			parents = len(m.levels[level+1])
		}
		rest := make([]float64, parents)
		for i, r := range rows {
			parent := i * parents / len(rows)
			rest[parent] += visit(r, level, i, parent, weight[i])
		}
		weight = rest
	}
}

// own adds the derivatives by the counts of one row, whose outcomes take their share
// from what is worth prior.
func (d derivatives) own(r row, i int, weight, prior float64, after []float64) {
	worth := r.worth(prior, after)
	gain := 0.0
	for o, share := range r.own {
		gain += share * (worth[o] - prior)
	}
	if r.rest > 0 { // one more last decision leaves fewer for the shares to be of
		worth[len(worth)-1] += gain
	}
	for at := i * r.members; at < (i+1)*r.members; at++ {
		for o, slope := range r.slope {
			d.counts[at*len(worth)+o] += weight * slope * (worth[o] - prior)
		}
		if r.rest > 0 {
			d.weights[at] -= weight * gain / r.whole
		}
	}
}

// worth is what one more of each outcome brings: whoever was cut off is worth as much as
// others who went on, and these stand for them too; the last decision that an
// episode can have is worth what is not known.
func (r row) worth(prior float64, after []float64) []float64 {
	end := len(after) - 1
	out := append(slices.Clone(after), prior, prior)
	known, sum := 0.0, 0.0
	for o, share := range r.own[:end] {
		known += share
		sum += share * after[o]
	}
	if known == 0 {
		return out
	}
	average := sum / known
	for o := range end {
		out[o] = average + (1+r.own[end+1]/known)*(after[o]-average)
	}
	out[end+1] = average
	return out
}

func mean(shares, values []float64) float64 {
	sum := 0.0
	for o, share := range shares {
		sum += share * values[o]
	}
	return sum
}

// reward adds the derivatives by sums of marks; weight is that by the reward of each
// row.
func (d derivatives) reward(weight []float64) {
	half := d.m.t.Public.Reward.Width() / 2
	d.m.up(weight, func(r row, level, i, _ int, weight float64) float64 {
		by := weight * d.m.rewards.own[level][i]
		if by != 0 && r.weight != 0 {
			for at := i * r.members; at < (i+1)*r.members; at++ {
				d.marks[at] += by * half / r.weight
				d.weights[at] -= by * half * r.mark / r.weight
			}
		}
		return weight - by
	})
}

// sum adds up the variances of all numbers by the derivatives. What follows a decision
// varies like a draw from the shares; a mark lies in [-1, 1], so that its variance is at
// most 1 less the square of its mean.
func (d derivatives) sum() (private, sampling float64) {
	n, outcomes := d.m.noisy, d.m.t.outcomes()
	for at, r := range d.m.levels[0] {
		average, square := 0.0, 0.0
		for o, g := range d.counts[at*outcomes : (at+1)*outcomes] {
			private += g * g * n.CountSD * n.CountSD
			if o < len(r.next) {
				average += r.next[o] * g
				square += r.next[o] * g * g
			}
		}
		private += (d.weights[at]*d.weights[at] + d.marks[at]*d.marks[at]) * n.SumSD * n.SumSD
		sampling += r.whole*max(square-average*average, 0) + r.weight*d.marks[at]*d.marks[at]*max(1-r.mark*r.mark, 0)
	}
	return math.Sqrt(private), math.Sqrt(sampling)
}
