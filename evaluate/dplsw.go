package evaluate

import "math"

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
	// Constants chooses alpha and beta of the smooth-sensitivity mechanism: see
	// [Constants].
	Constants Constants `json:"constants,omitempty"`
}

// Plan implements [Estimator].
func (m DPLSW) Plan(p Public) (*Plan, error) {
	p = p.clone()
	const method = "dp-lsw"
	features, err := finiteProblem(method, p)
	if err != nil {
		return nil, err
	}
	weights, err := weightsByState(method, "weights", m.Weights, features.States())
	if err != nil {
		return nil, err
	}
	cells := byCell(features, weights)
	scale := spread(p.Returns()) * pseudoInverseNorm(cells)
	bound := func(counts []int64, beta float64) float64 {
		return scale * math.Sqrt(psiLSW(counts, weights, beta))
	}
	release, err := m.Constants.mechanism(p, features.Dim(), features.States(), bound)
	if err != nil {
		return nil, err
	}
	r := smoothRelease{method: method, public: p, features: features, release: release, bound: bound}
	r.solve = func(v *firstVisits) []float64 {
		theta := make([]float64, features.Dim())
		for state, w := range weights {
			c := features.Cell(state)
			theta[c] += w / cells[c] * v.mean(state)
		}
		return theta
	}
	return r.plan()
}

// pseudoInverseNorm is the spectral norm of (G^1/2 Phi)^+ for one-hot features:
// the columns of G^1/2 Phi are orthogonal, and the squared norm of column c is
// the weight of the states that share it. A coordinate without states (weight
// 0) has no column.
func pseudoInverseNorm(cells []float64) float64 {
	smallest := math.Inf(1)
	for _, w := range cells {
		if w > 0 {
			smallest = min(smallest, w)
		}
	}
	return 1 / math.Sqrt(smallest)
}
