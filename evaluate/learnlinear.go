package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

const (
	linearRule = "linear"
	// places of rounds of a linear rule
	ofProductsAt = 2
	ofMarginsAt  = 4
	marginsShare = 0.1
)

// linear checks that a linear rule can be had.
func (q *learnQuestion) linear(m DPLearn, method string) error {
	refuse := func(text string, args ...any) error {
		return fmt.Errorf("%w: %s: "+text, append([]any{ErrMethod, method}, args...)...)
	}
	switch {
	case m.Rule == "" || m.Rule == "tree":
		return nil
	case m.Rule != linearRule:
		return refuse("rule is %q; want tree or linear", m.Rule)
	case q.states != nil:
		return refuse("the rule is linear, and numbered states have a table; leave rule out, or give features of kind columns")
	case m.Depth != 0 || m.Bins != 0:
		return refuse("depth and bins are those of a tree, and the rule is linear; leave them out")
	case m.Never != nil:
		return refuse("never is a limit on trees and tables, and the rule is linear; leave it or rule out")
	}
	q.scores = true
	return nil
}

// addTerms writes what a row adds to the gains of a linear rule, by action and term.
func (q *learnQuestion) addTerms(v []float64, rows learnRows, row int, base baseline) {
	x := rows.part[row] * rows.weight[row] * (rows.returns[row] - base.of(0))
	for i, term := range rows.terms[row] {
		for a := range q.grid.Actions {
			v[a*q.grid.Dim()+i] -= x * term / float64(q.grid.Actions)
		}
		v[int(rows.action[row])*q.grid.Dim()+i] += x * term
	}
}

// linearPolicy is the policy that follows from the sums.
func (q *learnQuestion) linearPolicy(sums [][]float64) PolicyFile {
	weights, intercept := q.linearScores(sums)
	if q.grid.Treated > 0 {
		largest := q.grid.LargestMargin(weights, intercept)
		place := q.grid.Affordable(sums[ofMarginsAt], q.noise[ofMarginsAt])
		for a := 1; a < len(intercept); a++ {
			intercept[a] -= rule.Price(place, largest)
		}
		if place == rule.Prices { // wherever covariates are
			for a := range weights {
				clear(weights[a])
				intercept[a] = -float64(min(a, 1))
			}
		}
	}
	return PolicyFile{Schema: "discreet/policy/v1", Kind: "soft-greedy", Inputs: q.names, Weights: weights, Intercept: intercept}
}

// linearScores are weights and intercepts of every action, before anybody pays for it.
func (q *learnQuestion) linearScores(sums [][]float64) (weights [][]float64, intercept []float64) {
	return q.grid.Linear(sums[ofProductsAt+1], sums[ofProductsAt], q.noise[ofProductsAt]*q.clipOf(ofProductsAt, sums))
}

// deviations are those of what an action's score has more than that of action 0; nil where a limit moves scores.
func (q *learnQuestion) deviations(sums [][]float64) []float64 {
	if !q.scores || q.grid.Order != nil || q.grid.Treated > 0 {
		return nil
	}
	gain := q.clipOf(ofProductsAt+1, sums)
	mean := q.largest(q.baseline(sums[0]))
	square := mean * mean / q.most / (1 - 1/float64(q.grid.Actions)) / float64(q.grid.Dim())
	return q.grid.Deviations(sums[ofProductsAt+1], sums[ofProductsAt], q.noise[ofProductsAt]*q.clipOf(ofProductsAt, sums), q.noise[ofProductsAt+1]*gain, square, float64(q.learnOn))
}

// margins counts persons by how many prices of treatment they would pay, by the scores so far.
func (q *learnQuestion) margins(sums [][]float64, all *learners, persons []int, src *noise.Source) ([]float64, error) {
	sum, err := mechanism.NewVectorSum(rule.Prices+1, 1, q.noise[ofMarginsAt], q.public.Privacy.noise())
	if err != nil {
		return nil, err
	}
	weights, intercept := q.linearScores(sums)
	largest := q.grid.LargestMargin(weights, intercept)
	v := make([]float64, rule.Prices+1)
	return mechanism.Total(sum, len(persons), func(i int) error {
		clear(v)
		rows, from, to := all.of(persons[i])
		for row := from; row < to; row++ {
			v[rule.Paid(rule.Margin(weights, intercept, rows.values[row]), largest)] += rows.part[row]
		}
		return sum.Add(v)
	}, src)
}
