package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
)

// roundKind is what a round of sums over the half that is learned from is about.
type roundKind int

const (
	ofReturns   roundKind = iota // the baseline
	ofNorms                      // of what a person would add to the gains, by which these are clipped
	ofProducts                   // of the terms of a linear rule
	ofGains                      // by which actions are compared
	ofMean                       // the baseline of draws
	ofDraws                      // of parts of the rule
	ofMargins                    // how many would pay for the treatment that a linear rule gives
	ofFollowing                  // what followed each action in each state
	ofExits                      // events and times, of outcomes that are times: the baseline, and what becomes of the censored
	ofMasses                     // what was gained and missed by cell and action, and persons in no cell
)

const (
	normBins      = 24
	normsQuantile = 0.8  // of linear rules
	leastQuantile = 0.5  // of several decisions
	cutPerNoise   = 40.0 // persons who are cut, by the noise multiplier
	normsShare    = 0.06 // of what is learned from
	productsShare = 0.14
)

// plan says which rounds there are, and the share of each.
func (q *learnQuestion) plan(levels int) (shares []float64) {
	if q.scores {
		q.rounds = []roundKind{q.opening, ofNorms, ofProducts, ofGains}
		shares = []float64{meanShare, normsShare, productsShare, 1 - meanShare - normsShare - productsShare}
		if q.grid.Treated > 0 {
			q.rounds, shares[3] = append(q.rounds, ofMargins), shares[3]-marginsShare
			shares = append(shares, marginsShare)
		}
		return shares
	}
	if q.public.decisions() > 1 {
		q.rounds = []roundKind{ofReturns, ofNorms, ofGains}
		return []float64{meanShare, normsShare, 1 - meanShare - normsShare}
	}
	q.rounds, shares = []roundKind{q.opening}, []float64{meanShare}
	for level := range levels { // twice as much for each level, of whose nodes each has half of the persons
		q.rounds = append(q.rounds, ofGains)
		shares = append(shares, (1-meanShare)*float64(int(1)<<level)/float64(int(1)<<levels-1))
	}
	return shares
}

// cells is the number of sums of a round.
func (q *learnQuestion) cells(round int) int {
	switch q.rounds[round] {
	case ofReturns:
		return q.stretches()
	case ofExits:
		return 2 * q.grid.Actions
	case ofMasses:
		return q.masses.learn.Coordinates()
	case ofNorms:
		return normBins
	case ofProducts:
		return q.grid.Products()
	case ofMean:
		return 1
	case ofDraws:
		return q.nodes(round)
	case ofMargins:
		return rule.Prices + 1
	case ofFollowing:
		return q.table.Coordinates()
	}
	n := q.gains(round)
	if q.grid.Treated > 0 && !q.scores {
		n += n / q.grid.Actions
	}
	return n
}

// gains is how many sums of a round compare actions.
func (q *learnQuestion) gains(round int) int {
	switch {
	case q.scores:
		return q.grid.Actions * q.grid.Dim()
	case q.states != nil:
		return q.states.States() * q.grid.Actions
	}
	return q.grid.Cells(1 << (round - 1))
}

// clipOf is the largest norm of what a person adds to a round, by the sums of those before.
func (q *learnQuestion) clipOf(round int, sums [][]float64) float64 {
	switch q.rounds[round] {
	case ofReturns, ofNorms, ofExits:
		return 1
	case ofProducts:
		return float64(q.grid.Dim())
	}
	clip := q.largest(q.baseline(sums[0]))
	if q.rounds[1] == ofNorms {
		return clip * normEnd(exceeded(sums[1], q.quantile(round)))
	}
	return clip * q.beside()
}

// quantile is the share of persons whose norms are not cut: of several decisions the more persons are,
// the less noise there is.
func (q *learnQuestion) quantile(round int) float64 {
	if q.scores {
		return normsQuantile
	}
	return max(leastQuantile, 1-cutPerNoise*q.noise[round]/float64(q.learnOn))
}

// exceeded is the bin of norms up to which most persons lie, by noisy numbers.
func exceeded(norms []float64, quantile float64) int {
	total, below := 0.0, 0.0
	for _, n := range norms {
		total += n
	}
	for bin, n := range norms {
		if below += n; below >= quantile*total {
			return bin
		}
	}
	return normBins - 1
}

// normEnd is the upper end of a bin of norms, as a share of the largest: four bins double it.
func normEnd(bin int) float64 { return math.Exp2(float64(bin+1-normBins) / 4) }

// normBin is the bin of a norm.
func normBin(share float64) int {
	bin := 0
	for bin < normBins-1 && share > normEnd(bin) {
		bin++
	}
	return bin
}

// person writes what a person's rows add to a round.
func (q *learnQuestion) person(v []float64, round int, t rule.Tree, rows learnRows, from, to int, base baseline) {
	switch kind := q.rounds[round]; {
	case kind == ofNorms:
		gains := make([]float64, q.gains(round))
		q.compare(gains, t, rows, from, to, base)
		square := 0.0
		for _, g := range gains {
			square += g * g
		}
		if from < to {
			v[normBin(math.Sqrt(square)/q.largest(base))] = 1
		}
	case kind == ofGains:
		q.compare(v, t, rows, from, to, base)
	case kind == ofReturns:
		q.first(v, rows, from, to)
	case kind == ofExits:
		q.exits(v, rows, from, to, math.Sqrt2)
	default:
		for row := from; row < to; row++ {
			q.grid.AddProducts(v, rows.terms[row], rows.part[row])
		}
	}
}

// compare writes what a person's rows add to the gains.
func (q *learnQuestion) compare(v []float64, t rule.Tree, rows learnRows, from, to int, base baseline) {
	for row := from; row < to; row++ {
		if q.scores {
			q.addTerms(v, rows, row, base)
		} else {
			q.add(v, t, rows, row, base)
		}
	}
}
