package smooth

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/rl/feature"
)

// LSL is least squares weighted by visits and with an l2 penalty.
type LSL struct {
	// Lambda is the penalty, above [LSL.Floor].
	Lambda float64

	public   facts.Public
	features feature.Finite
	weights  []float64
	norm     float64 // ||Phi||_2
	largest  float64 // max rho
}

// NewLSL takes public weights rho_s > 0 by state. The penalty is still to be set.
func NewLSL(p facts.Public, features feature.Finite, weights []float64) LSL {
	l := LSL{public: p, features: features, weights: weights, norm: featureNorm(features)}
	for _, w := range weights {
		l.largest = max(l.largest, w)
	}
	return l
}

// Floor is ||Phi||^2 max rho, which the penalty must exceed.
func (l LSL) Floor() float64 { return l.norm * l.norm * l.largest }

// featureNorm is the spectral norm of Phi for one-hot features: the root of the
// largest number of states that share a coordinate.
func featureNorm(f feature.Finite) float64 {
	shared := make([]float64, f.Dim())
	most := 0.0
	for s := range f.States() {
		shared[f.Cell(s)]++
		most = max(most, shared[f.Cell(s)])
	}
	return math.Sqrt(most)
}

// Bound implements [Method].
func (l LSL) Bound(counts []int64, beta float64) float64 {
	c := l.norm * l.largest / math.Sqrt(2*l.Lambda)
	scale := 2 * Spread(l.public.Returns) * l.norm / (l.Lambda - l.norm*l.norm*l.largest)
	limit := int64(-1)
	if l.public.Adjacency == dp.ReplaceOne {
		limit = l.public.Persons
	}
	return scale * math.Sqrt(psiLSL(counts, l.weights, c, beta, limit))
}

// Bias implements [Method], at the guessed visits.
func (l LSL) Bias() float64 {
	sum := 0.0
	counts := GuessedVisits(l.public.Persons, l.features.States())
	for _, n := range counts {
		visits := float64(n) * l.norm * l.norm
		shrink := l.Lambda / 2 / (visits + l.Lambda/2)
		sum += shrink * shrink
	}
	r := l.public.Returns
	square := (r.Max*r.Max + r.Max*r.Min + r.Min*r.Min) / 3
	return math.Sqrt(sum / float64(len(counts)) * square)
}

// Rule chooses the penalty from public facts: it minimises, over a grid, the
// squared bias of the penalty plus the variance of the noise at the guessed visits.
func (l LSL) Rule(alpha, beta float64) float64 {
	floor := l.Floor()
	counts := GuessedVisits(l.public.Persons, l.features.States())
	best, least := 2*floor, math.Inf(1)
	for i := 1; i <= 200; i++ {
		l.Lambda = floor * math.Pow(2, float64(i)/5)
		shrink := l.Bias()
		noise := alpha * l.Bound(counts, beta)
		if e := shrink*shrink + noise*noise; e < least {
			best, least = l.Lambda, e
		}
	}
	return best
}

// Solve implements [Method]. With one-hot features the system is diagonal and the
// factor 1/m cancels.
func (l LSL) Solve(v *Visits) []float64 {
	theta, total := make([]float64, l.features.Dim()), make([]float64, l.features.Dim())
	for state, w := range l.weights {
		c := l.features.Cell(state)
		visits := w * float64(v.counts[state])
		theta[c] += visits * v.mean(state)
		total[c] += visits
	}
	for c := range theta {
		theta[c] /= total[c] + l.Lambda/2
	}
	return theta
}
