package evaluate

import "fmt"

const linearRule = "linear"

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
	case m.Budget != 0 || m.Monotone != nil || m.Never != nil:
		return refuse("budget, monotone and never are limits on trees and tables, and the rule is linear; leave them or rule out")
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
	products := len(sums) - 2
	weights, intercept := q.grid.Linear(sums[products+1], sums[products], q.noise[products]*q.clipOf(products, sums))
	return PolicyFile{Schema: "discreet/policy/v1", Kind: "soft-greedy", Inputs: q.names, Weights: weights, Intercept: intercept}
}
