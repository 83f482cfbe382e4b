package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/smooth"
)

// DPLSL is least squares on first-visit Monte Carlo returns, weighted by visits
// and with an l2 penalty, released with noise scaled to a smooth bound on the
// local sensitivity (Balle, Gomrokchi and Precup 2016, Algorithm 2).
//
// Released: the weight vector theta of a value function. On-policy, one
// trajectory a person, tabular or aggregated features. Unit: a person.
// Adjacency: either. Clip: each first-visit return to the public range. Event:
// dp.SmoothGaussian. Proof: docs/proofs/smooth-release.md.
type DPLSL struct {
	// Weights holds rho_s > 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
	// Lambda is the penalty. It must exceed ||Phi||^2 max rho. 0 chooses it by a
	// public rule: the least expected error at the guessed visits, for values
	// anywhere in their range.
	Lambda float64 `json:"lambda,omitempty"`
	// Constants chooses alpha and beta of the smooth-sensitivity mechanism: "exact", the
	// default, is the pair with the least expected noise that is certified for the budget;
	// "balle16" the closed forms of Balle et al. 2016, Lemma 1, which hold for epsilon <= 20
	// and ask for several times the noise that is needed.
	Constants string `json:"constants,omitempty"`
}

// Plan implements [Estimator].
func (m DPLSL) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	const method = "dp-lsl"
	features, err := finiteProblem(method, p)
	if err != nil {
		return nil, err
	}
	weights, err := weightsByState(method, "weights", m.Weights, features.States())
	if err != nil {
		return nil, err
	}
	l := smooth.NewLSL(p.numbers(), features, weights)
	l.Lambda = m.Lambda
	if l.Lambda == 0 {
		alpha, beta, err := constants(m.Constants).rough(p, features.Dim())
		if err != nil {
			return nil, err
		}
		l.Lambda = l.Rule(alpha, beta)
	}
	if !(l.Lambda > l.Floor()) || math.IsInf(l.Lambda, 0) {
		return nil, fmt.Errorf("%w: %s: lambda is %v; want a finite number above ||Phi||^2 max rho = %v", ErrMethod, method, l.Lambda, l.Floor())
	}
	plan, err := smoothRelease{method, p, features, l}.plan(constants(m.Constants))
	if err != nil {
		return nil, err
	}
	plan.Facts["lambda"] = l.Lambda
	plan.Notes = append(plan.Notes, "The penalty lambda shrinks the values of rarely visited states towards 0; the expected error includes that bias, for values anywhere in the public range.")
	return plan, nil
}
