package evaluate

import (
	"fmt"
	"math"
)

// Rounds of a linear rule, after the mean: of norms, by which the last one is clipped, of
// products of terms, and of gains.
const (
	normsRound = 1 + iota
	productsRound
	gainsRound
)

const (
	linearRule    = "linear"
	normBins      = 16
	normsShare    = 0.06 // of what is learned from
	productsShare = 0.14
	normsQuantile = 0.95
)

// linear checks that a linear rule can be had.
func (q *learnQuestion) linear(m DPLearn, method string) error {
	switch {
	case m.Rule == "" || m.Rule == "tree":
		return nil
	case m.Rule != linearRule:
		return fmt.Errorf("%w: %s: rule is %q; want tree or linear", ErrMethod, method, m.Rule)
	case q.states != nil:
		return fmt.Errorf("%w: %s: the rule is linear, and numbered states have a table; leave rule out, or give features of kind columns", ErrMethod, method)
	case m.Depth != 0 || m.Bins != 0:
		return fmt.Errorf("%w: %s: depth and bins are those of a tree, and the rule is linear; leave them out", ErrMethod, method)
	case m.Budget != 0 || m.Monotone != nil || m.Never != nil:
		return fmt.Errorf("%w: %s: budget, monotone and never are limits on trees and tables, and the rule is linear; leave them or rule out", ErrMethod, method)
	}
	q.scores, q.depth = true, gainsRound
	return nil
}

// linearCells is the number of sums of a round.
func (q *learnQuestion) linearCells(round int) int {
	switch round {
	case normsRound:
		return normBins
	case productsRound:
		return q.grid.Products()
	}
	return q.grid.Actions * q.grid.Dim()
}

// linearClip is the largest norm of what a person adds to a round, given those before.
func (q *learnQuestion) linearClip(round int, sums [][]float64) float64 {
	switch round {
	case normsRound:
		return 1
	case productsRound:
		return float64(q.grid.Dim())
	}
	most, total, below := q.largestGain(q.baseline(sums[0])), 0.0, 0.0
	for _, n := range sums[normsRound] {
		total += n
	}
	for bin, n := range sums[normsRound] {
		if below += n; below >= normsQuantile*total {
			return most * float64(bin+1) / normBins
		}
	}
	return most
}

// largestGain is the largest norm that gains about a baseline can have.
func (q *learnQuestion) largestGain(base baseline) float64 {
	return q.clip(base) * math.Sqrt(float64(q.grid.Dim())/float64(q.grid.Covariates()))
}

// addLinear writes what a person adds to a round.
func (q *learnQuestion) addLinear(v []float64, round int, rows learnRows, from, to int, base baseline) {
	if round == productsRound {
		for row := from; row < to; row++ {
			q.grid.AddProducts(v, rows.terms[row], rows.part[row])
		}
		return
	}
	gains := v
	if round == normsRound {
		gains = make([]float64, q.linearCells(gainsRound))
	}
	for row := from; row < to; row++ {
		x := rows.part[row] * rows.weight[row] * (rows.returns[row] - base.of(0))
		for i, term := range rows.terms[row] {
			for a := range q.grid.Actions {
				gains[a*q.grid.Dim()+i] -= x * term / float64(q.grid.Actions)
			}
			gains[int(rows.action[row])*q.grid.Dim()+i] += x * term
		}
	}
	if round == normsRound && from < to {
		square := 0.0
		for _, g := range gains {
			square += g * g
		}
		share := math.Sqrt(square) / q.largestGain(base)
		v[min(int(share*normBins), normBins-1)] = 1
	}
}

// linearPolicy is the policy that follows from the sums.
func (q *learnQuestion) linearPolicy(sums [][]float64) PolicyFile {
	weights, intercept := q.grid.Linear(sums[gainsRound], sums[productsRound], q.noise[productsRound]*q.linearClip(productsRound, sums))
	return PolicyFile{Schema: "discreet/policy/v1", Kind: "soft-greedy", Inputs: q.names, Weights: weights, Intercept: intercept}
}
