package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/rl/feature"
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
	// Constants chooses alpha and beta of the smooth-sensitivity mechanism: see
	// [Constants].
	Constants Constants `json:"constants,omitempty"`
}

// lsl holds the public side of a DPLSL.
type lsl struct {
	public   Public
	features feature.Finite
	weights  []float64
	norm     float64 // ||Phi||_2
	largest  float64 // max rho
}

// Plan implements [Estimator].
func (m DPLSL) Plan(p Public) (*Plan, error) {
	p = p.clone()
	const method = "dp-lsl"
	features, err := finiteProblem(method, p)
	if err != nil {
		return nil, err
	}
	weights, err := weightsByState(method, "weights", m.Weights, features.States())
	if err != nil {
		return nil, err
	}
	l := lsl{public: p, features: features, weights: weights, norm: featureNorm(features)}
	for _, w := range weights {
		l.largest = max(l.largest, w)
	}
	lambda := m.Lambda
	if lambda == 0 {
		alpha, beta, err := m.Constants.rough(p, features.Dim())
		if err != nil {
			return nil, err
		}
		lambda = l.rule(alpha, beta)
	}
	if floor := l.norm * l.norm * l.largest; !(lambda > floor) || math.IsInf(lambda, 0) {
		return nil, fmt.Errorf("%w: %s: lambda is %v; want a finite number above ||Phi||^2 max rho = %v", ErrMethod, method, lambda, floor)
	}
	release, err := m.Constants.mechanism(p, features.Dim(), features.States(), l.bound(lambda))
	if err != nil {
		return nil, err
	}
	r := smoothRelease{method: method, public: p, features: features, release: release, bound: l.bound(lambda), bias: l.bias(lambda)}
	r.solve = func(v *firstVisits) []float64 { return l.solve(v, lambda) }
	plan, err := r.plan()
	if err != nil {
		return nil, err
	}
	plan.Facts["lambda"] = lambda
	plan.Notes = append(plan.Notes, "The penalty lambda draws the values of rarely visited states towards 0; the expected error holds that bias for values anywhere in the public range.")
	return plan, nil
}

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

// bound is the smooth bound on the local sensitivity at a penalty.
func (l lsl) bound(lambda float64) smoothBound {
	c := l.norm * l.largest / math.Sqrt(2*lambda)
	scale := 2 * spread(l.public.Returns()) * l.norm / (lambda - l.norm*l.norm*l.largest)
	limit := int64(-1)
	if l.public.Privacy.Adjacency == dp.ReplaceOne {
		limit = l.public.Persons
	}
	return func(counts []int64, beta float64) float64 {
		return scale * math.Sqrt(psiLSL(counts, l.weights, c, beta, limit))
	}
}

// bias is the expected root mean square, over states, of what the penalty takes
// off a value that may lie anywhere in the public range, at the guessed visits.
func (l lsl) bias(lambda float64) float64 {
	sum := 0.0
	counts := guessedVisits(l.public, l.features.States())
	for _, n := range counts {
		visits := float64(n) * l.norm * l.norm
		shrink := lambda / 2 / (visits + lambda/2)
		sum += shrink * shrink
	}
	r := l.public.Returns()
	square := (r.Max*r.Max + r.Max*r.Min + r.Min*r.Min) / 3
	return math.Sqrt(sum / float64(len(counts)) * square)
}

// rule chooses lambda from public facts: it minimises, over a grid, the squared
// bias of the penalty plus the variance of the noise at the guessed visits.
func (l lsl) rule(alpha, beta float64) float64 {
	floor := l.norm * l.norm * l.largest
	counts := guessedVisits(l.public, l.features.States())
	best, least := 2*floor, math.Inf(1)
	for i := 1; i <= 200; i++ {
		lambda := floor * math.Pow(2, float64(i)/5)
		shrink := l.bias(lambda)
		noise := alpha * l.bound(lambda)(counts, beta)
		if e := shrink*shrink + noise*noise; e < least {
			best, least = lambda, e
		}
	}
	return best
}

// solve computes theta. With one-hot features the system is diagonal and the
// factor 1/m cancels.
func (l lsl) solve(v *firstVisits, lambda float64) []float64 {
	theta, total := make([]float64, l.features.Dim()), make([]float64, l.features.Dim())
	for state, w := range l.weights {
		c := l.features.Cell(state)
		visits := w * float64(v.counts[state])
		theta[c] += visits * v.mean(state)
		total[c] += visits
	}
	for c := range theta {
		theta[c] /= total[c] + lambda/2
	}
	return theta
}
