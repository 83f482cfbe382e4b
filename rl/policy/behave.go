package policy

import (
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// WithBehavior returns d with the behaviour probabilities of a policy that is known
// from elsewhere, such as the design of a trial, in place of a column. Nothing
// else of d is copied. A row whose logged action the policy does not take, or that
// it cannot judge, is an error for the curator alone, in the form of [Check]'s.
func WithBehavior(d *trajectory.Dataset, behaviour Policy) (*trajectory.Dataset, error) {
	b, err := behaviour.Bind(d)
	if err != nil {
		return nil, err
	}
	out := *d
	out.BehaviorProb = make([]float64, d.Rows())
	err = everyRow(d, func(row int) bool {
		p, ok := b.Prob(row)
		out.BehaviorProb[row] = p
		return ok && p > 0
	}, "the behaviour policy gives the logged action no probability, or does not cover it",
		"correct data.behavior, since every logged action had a probability above 0; or correct or drop these rows")
	if err != nil {
		return nil, err
	}
	return &out, nil
}
