package evaluate

import "github.com/discreet-rl/discreet/evaluate/internal/smooth"

// DPLSW is least squares on first-visit Monte Carlo returns with public weights
// by state, released with noise scaled to a smooth bound on the local
// sensitivity (Balle, Gomrokchi and Precup 2016, Algorithm 1).
//
// Released: the weight vector theta of a value function. On-policy, one
// trajectory a person, tabular or aggregated features. Unit: a person.
// Adjacency: either. Clip: each first-visit return to the public range. Event:
// dp.SmoothGaussian. Proof: docs/proofs/smooth-release.md.
type DPLSW struct {
	// Weights holds w_s > 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
	// Constants chooses alpha and beta of the smooth-sensitivity mechanism: "exact", the
	// default, is the pair with the least expected noise that is certified for the budget;
	// "balle16" the closed forms of Balle et al. 2016, Lemma 1, which hold for epsilon <= 20
	// and ask for several times the noise that is needed.
	Constants string `json:"constants,omitempty"`
}

// Plan implements [Estimator].
func (m DPLSW) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	const method = "dp-lsw"
	features, err := finiteProblem(method, p)
	if err != nil {
		return nil, err
	}
	weights, err := weightsByState(method, "weights", m.Weights, features.States())
	if err != nil {
		return nil, err
	}
	return smoothRelease{method, p, features, smooth.NewLSW(p.numbers(), features, weights)}.plan(constants(m.Constants))
}
