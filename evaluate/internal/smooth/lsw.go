package smooth

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/rl/feature"
)

// LSW is least squares with public weights by state.
type LSW struct {
	features feature.Finite
	weights  []float64
	cells    []float64 // weights added up by coordinate
	scale    float64
}

// NewLSW takes public weights w_s > 0 by state.
func NewLSW(p facts.Public, features feature.Finite, weights []float64) LSW {
	cells := byCell(features, weights)
	return LSW{features: features, weights: weights, cells: cells, scale: Spread(p.Returns) * pseudoInverseNorm(cells)}
}

// Bound implements [Method].
func (l LSW) Bound(counts []int64, beta float64) float64 {
	return l.scale * math.Sqrt(psiLSW(counts, l.weights, beta))
}

// Bias implements [Method]: there is no penalty.
func (l LSW) Bias() float64 { return 0 }

// Solve implements [Method].
func (l LSW) Solve(v *Visits) []float64 {
	theta := make([]float64, l.features.Dim())
	for state, w := range l.weights {
		c := l.features.Cell(state)
		theta[c] += w / l.cells[c] * v.mean(state)
	}
	return theta
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
