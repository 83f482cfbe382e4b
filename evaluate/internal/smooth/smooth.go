package smooth

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/feature"
)

// Method is a least-squares fit to first-visit returns.
type Method interface {
	// Bound is the smooth upper bound on the local sensitivity at given counts by
	// state.
	Bound(counts []int64, beta float64) float64
	// Solve computes theta.
	Solve(v *Visits) []float64
	// Bias is the expected root mean square, over states, of what a penalty takes
	// off a value that may lie anywhere in the public range.
	Bias() float64
}

// InnerBeta is the smoothness that psi is computed with: a little below the beta
// that the noise promises, so that the rounding of psi, at most 2^-46 relative a
// state, stays inside the promise (docs/proofs/smooth-release.md). It is not
// positive where that leaves no room.
func InnerBeta(beta float64, states int) float64 {
	inner := beta*(1-1e-9) - float64(states)*0x1p-46
	if inner < 0.9*beta {
		return 0
	}
	return inner
}

// Lattice fixes the lattice of the noise from the bound at extremes of the counts.
func Lattice(alpha, beta float64, p facts.Public, states int, m Method) (mechanism.Smooth, error) {
	inner := InnerBeta(beta, states)
	none, all := make([]int64, states), make([]int64, states)
	for s := range all {
		all[s] = maxCount(p)
	}
	a, b := m.Bound(none, inner), m.Bound(all, inner)
	step, err := mechanism.SmoothStep(alpha*min(a, b), 2*alpha*max(a, b))
	return mechanism.Smooth{Alpha: alpha, Beta: beta, Step: step}, err
}

// maxCount is the largest number of persons that may visit a state.
func maxCount(p facts.Public) int64 {
	if p.Adjacency == dp.ReplaceOne {
		return p.Persons
	}
	return MaxPersons
}

// Release draws the noise. Where persons are spread over processes, visits of all of them
// are added up first.
func Release(smooth mechanism.Smooth, m Method, v *Visits, dim int, src *noise.Source) ([]float64, error) {
	noisy, _, err := smooth.ReleaseOf(v.statistic(), dim, func(all mechanism.Statistic) ([]float64, float64, error) {
		of, err := v.of(all)
		if err != nil {
			return nil, 0, err
		}
		return m.Solve(of), m.Bound(of.counts, InnerBeta(smooth.Beta, len(of.counts))), nil
	}, src)
	return noisy, err
}

// byCell adds up public weights over the states that share a coordinate.
func byCell(f feature.Finite, weights []float64) []float64 {
	total := make([]float64, f.Dim())
	for state, w := range weights {
		total[f.Cell(state)] += w
	}
	return total
}
