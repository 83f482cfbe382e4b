package scalar

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Fitted is a model of logged actions with the region that its coefficients are in.
type Fitted struct {
	l       Logistic
	Theta   []float64
	spread  []float64  // variance along each direction, times the region's quantile
	vectors *mat.Dense // the directions
	// Settled tells that the last step was no longer than noise makes it, and that the
	// region is one that its expansion can vouch for. Where it was longer the coefficients are
	// still on their way and nothing is known of how far they have to go; so every limit is 1.
	Settled bool
}

// longestRegion bounds the norm of the coefficients times the largest error of a log-odds
// in the region. What people did for sure tells little of how sure it was: where log-odds
// are steep the information falls along the region, the true coefficients lie beyond what
// an expansion at the fitted ones allows for, and with much noise nothing else shows it.
// It is no outcome of a proof: the 43 simulated logs with limits too low that were looked
// at had 38 and more (docs/proofs/propensities.md).
const longestRegion = 20

// unsettledMiss is how often coefficients that have settled are taken for others.
const unsettledMiss = 1e-3

// settled tests the gradient of the last round. The coefficients that it is asked at are
// those at which the round before, which used the same persons, would have found no
// gradient but for its noise: so it is the noise of both rounds, to first order.
func (l Logistic) settled(sum []float64) bool {
	const last = LogisticRounds - 1
	square := xmath.SquareNorm(sum[:l.Coefficients()])
	q := distuv.ChiSquared{K: float64(l.Coefficients())}.Quantile(1 - unsettledMiss)
	return square <= q*(l.sd(last-1)*l.sd(last-1)+l.sd(last)*l.sd(last))
}

// Fit is the model that the noisy sums of all rounds make. The last gradient, less its
// noise and the sampling error of the gradient at the truth, is information times
// what the coefficients are off by, to first order; so their error along an eigenvector
// of information v has variance (v + sd^2)/v^2, with v taken less by one
// and a half deviations of its noise.
func (l Logistic) Fit(sums [][]float64) *Fitted {
	const last = LogisticRounds - 1
	f := &Fitted{l: l, Theta: l.at(sums[:last-1])}
	_, _, before := l.step(f.Theta, sums[last-1], last-1)
	values, vectors, after := l.step(f.Theta, sums[last], last)
	f.vectors, f.Settled = vectors, before && after && l.settled(sums[last])
	q := distuv.ChiSquared{K: float64(l.Coefficients())}.Quantile(1 - bandMiss/float64(max(l.Together, 1)))
	for _, v := range values {
		v = max(v-1.5*l.sd(last)/l.height(), math.SmallestNonzeroFloat32)
		f.spread = append(f.spread, q*(v+l.sd(last)*l.sd(last))/v/v)
	}
	f.Settled = f.Settled && mat.Norm(mat.NewVecDense(len(f.Theta), f.Theta), 2)*math.Sqrt(slices.Max(f.spread)) <= longestRegion
	return f
}

// Upper is the limit of the probability of an action at x: the odds of every other
// action against it are the least in the region, with the square of the error of the
// log-odds for what is not linear.
func (f *Fitted) Upper(x []float64, action int) float64 {
	if !f.Settled {
		return 1
	}
	l, others := f.l, 0.0
	n := l.Coefficients()
	v := make([]float64, n)
	for b := range l.Actions {
		if b == action {
			continue
		}
		clear(v)
		for i, xi := range x {
			if b > 0 {
				v[(b-1)*l.Dim+i] += xi
			}
			if action > 0 {
				v[(action-1)*l.Dim+i] -= xi
			}
		}
		odds, variance := 0.0, 0.0
		for i := range v {
			odds += v[i] * f.Theta[i]
		}
		for k, s := range f.spread {
			along := 0.0
			for i := range v {
				along += v[i] * f.vectors.At(i, k)
			}
			variance += along * along * s
		}
		r := math.Sqrt(variance)
		others += math.Exp(odds - r*(1+r/2))
	}
	return max(1/(1+others), l.Floor)
}

// Divider divides the ratios of samples by the limits that the noisy sums of all rounds make.
func (l Logistic) Divider(sums [][]float64) func(s *value.Sample, c Choices) {
	f := l.Fit(sums)
	return func(s *value.Sample, c Choices) {
		divide(s, c.Action, func(row, action int) float64 { return f.Upper(c.X[row*l.Dim:(row+1)*l.Dim], action) })
	}
}

// Unprotected gives the probabilities of what was done, row by row, at the largest
// likelihood of all choices, without noise. They are not private.
func (l Logistic) Unprotected(all iter.Seq[Choices]) func(some Choices) []float64 {
	l.Decisions, l.Noise = 1, [LogisticRounds]float64{}
	theta, x, sum := make([]float64, l.Coefficients()), make([]float64, l.Size()), make([]float64, l.Size())
	for range 4 * LogisticRounds {
		clear(sum)
		for c := range all {
			for row := range c.Action {
				l.contribution(x, theta, c, row, row+1)
				for i, v := range x {
					sum[i] += v
				}
			}
		}
		l.step(theta, sum, 0)
	}
	return func(c Choices) []float64 {
		out, p := make([]float64, len(c.Action)), make([]float64, l.Actions)
		for row, action := range c.Action {
			if out[row] = 1; action >= 0 {
				l.probabilities(p, theta, c.X[row*l.Dim:(row+1)*l.Dim])
				out[row] = p[action]
			}
		}
		return out
	}
}
