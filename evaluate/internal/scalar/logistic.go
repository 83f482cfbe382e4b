package scalar

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// LogisticRounds is how many sums a logistic regression asks for: each is a gradient
// and a matrix of information at the coefficients that the ones before led to.
const LogisticRounds = 5

// LogisticShares are the parts of the regression's share of the budget that rounds get.
// What the limits are made of is the last; the others only have to come near.
func LogisticShares() [LogisticRounds]float64 {
	return [LogisticRounds]float64{0.1, 0.1, 0.1, 0.1, 0.6}
}

// Logistic estimates the probabilities with which actions were logged as a multinomial
// logistic function of a vector that is known before a decision, by Newton's method
// (McCullagh and Nelder 1989, section 2.5) on noisy sums. Ratios are made of simultaneous upper limits of them, for sampling and
// noise: docs/proofs/propensities.md.
//
// Released: in every round the sum over persons of the gradient of the log-likelihood
// and of its information, one vector of l2 norm at most the public Clip. Unit: a
// person. Adjacency: either. Event: dp.Gaussian for each round.
type Logistic struct {
	Dim, Actions int
	Decisions    int     // that one person makes at most
	Floor        float64 // least limit
	Noise        [LogisticRounds]float64
	Adjacency    dp.Adjacency
	Kind         mechanism.Noise
	// Together is that of [Behavior].
	Together int
}

// Choices are what persons did: of every row its action, or -1 where it has none, or
// [Sure], and the vector, of norm 1 at most, that was known before.
type Choices struct {
	Action []int
	X      []float64
}

// Coefficients is how many there are: those of the first action are 0.
func (l Logistic) Coefficients() int { return (l.Actions - 1) * l.Dim }

// Size is the length of what a person adds in a round.
func (l Logistic) Size() int { c := l.Coefficients(); return c + c*(c+1)/2 }

// Clip bounds the norm of what a person adds. One decision of two actions moves the
// gradient by 1 at most, of more by sqrt 2; several rarely go the same way.
func (l Logistic) Clip() float64 {
	one := math.Sqrt2
	if l.Actions == 2 {
		one = 1
	}
	return one * math.Sqrt(float64(l.Decisions))
}

// height scales the information beside the gradient: at most so much costs nothing,
// since a decision that moves the gradient far is one whose outcome was thought sure,
// and tells little.
func (l Logistic) height() float64 {
	if l.Actions == 2 {
		return 2.8 // sqrt 8 would do
	}
	return 1.4 // sqrt 2 would do, by search
}

// sd is the standard deviation of the noise in each number of a round.
func (l Logistic) sd(round int) float64 { return l.Noise[round] * l.Clip() }

// slack is by how much the noise of a round moves an eigenvalue of the information: the
// mean of the largest of a symmetric Gaussian matrix, and a deviation more.
func (l Logistic) slack(round int) float64 {
	return l.sd(round) / l.height() * (math.Sqrt(2*float64(l.Coefficients())) + 1)
}

// Resolves tells whether limits below 1 are possible: the least eigenvalue of the
// information is at most a quarter of the decisions over the dimension, and it has to
// exceed what noise makes of nothing.
func (l Logistic) Resolves(persons int64) bool {
	return float64(persons)*float64(l.Decisions)/(4*float64(l.Dim)) > l.slack(LogisticRounds-1)
}

// probabilities are those of all actions at x.
func (l Logistic) probabilities(dst, theta, x []float64) {
	top := 0.0
	dst[0] = 0
	for a := 1; a < l.Actions; a++ {
		dst[a] = 0
		for i, v := range x {
			dst[a] += theta[(a-1)*l.Dim+i] * v
		}
		top = max(top, dst[a])
	}
	sum := 0.0
	for a := range dst {
		dst[a] = math.Exp(dst[a] - top)
		sum += dst[a]
	}
	for a := range dst {
		dst[a] /= sum
	}
}

// contribution adds up the decisions of the rows from..to-1 in order, every one with the
// largest weight up to 1 with which the norm stays below the clip whatever the action
// is. So the weight is known before the action, and what is added has mean 0 at the
// true coefficients.
func (l Logistic) contribution(dst, theta []float64, c Choices, from, to int) {
	clear(dst)
	p := make([]float64, l.Actions)
	clip, height, used := l.Clip(), l.height(), 0.0
	for row := from; row < to && used < clip; row++ {
		action := c.Action[row]
		if action < 0 {
			continue
		}
		x := c.X[row*l.Dim : (row+1)*l.Dim]
		l.probabilities(p, theta, x)
		length := 0.0
		for _, v := range x {
			length += v * v
		}
		w := min(1, (clip-used)/math.Sqrt(length*(farthest(p)+height*height*length*spreadOf(p))))
		if !(w > 0) {
			continue
		}
		l.add(dst, p, x, action, w)
		used = 0
		for _, v := range dst {
			used += v * v
		}
		used = math.Sqrt(used)
	}
}

// farthest is the largest square distance, over actions but the first, of what was done
// from its probabilities.
func farthest(p []float64) float64 {
	most, all := 0.0, 0.0
	for _, v := range p[1:] {
		all += v * v
	}
	most = all
	for _, v := range p[1:] {
		most = max(most, all-v*v+(1-v)*(1-v))
	}
	return most
}

// spreadOf is the square norm of the covariance of what is done, over actions but the
// first.
func spreadOf(p []float64) float64 {
	square, fourth, diagonal := 0.0, 0.0, 0.0
	for _, v := range p[1:] {
		square += v * v
		fourth += v * v * v * v
		diagonal += v * v * (1 - v) * (1 - v)
	}
	return square*square - fourth + diagonal
}

// add adds a decision of weight w: its gradient, and its information, of which what is
// off the diagonal counts sqrt 2 times, so that norms are those of the matrix.
func (l Logistic) add(dst, p, x []float64, action int, w float64) {
	for a := 1; a < l.Actions; a++ {
		g := -p[a]
		if a == action {
			g++
		}
		for i, v := range x {
			dst[(a-1)*l.Dim+i] += w * g * v
		}
	}
	k, height := l.Coefficients(), l.height()
	for i := range l.Coefficients() {
		a, u := 1+i/l.Dim, x[i%l.Dim]
		for j := i; j < l.Coefficients(); j++ {
			b, v := 1+j/l.Dim, x[j%l.Dim]
			cov := -p[a] * p[b]
			if a == b {
				cov += p[a]
			}
			cov *= w * height * u * v
			if i != j {
				cov *= math.Sqrt2
			}
			dst[k] += cov
			k++
		}
	}
}

// information is the matrix of a noisy sum.
func (l Logistic) information(sum []float64) *mat.SymDense {
	n := l.Coefficients()
	m, k := mat.NewSymDense(n, nil), n
	for i := range n {
		for j := i; j < n; j++ {
			v := sum[k] / l.height()
			if i != j {
				v /= math.Sqrt2
			}
			m.SetSym(i, j, v)
			k++
		}
	}
	return m
}

// longestStep bounds a step of the coefficients.
const longestStep = 4

// step moves coefficients by a Newton step, made of the noisy sum of a round, no eigenvalue
// of the information below what noise makes of nothing. It reports whether that is the
// whole step, or it was cut.
func (l Logistic) step(theta, sum []float64, round int) (values []float64, vectors *mat.Dense, whole bool) {
	n := l.Coefficients()
	var e mat.EigenSym
	vectors = mat.NewDense(n, n, nil)
	if !e.Factorize(l.information(sum), true) {
		return make([]float64, n), vectors, false // no information
	}
	e.VectorsTo(vectors)
	values = e.Values(nil)
	least := max(l.slack(round), 1e-6)
	move := make([]float64, n)
	for k, v := range values {
		along := 0.0
		for i := range n {
			along += vectors.At(i, k) * sum[i]
		}
		for i := range n {
			move[i] += vectors.At(i, k) * along / max(v, least)
		}
	}
	norm := 0.0
	for _, v := range move {
		norm += v * v
	}
	short := min(1, longestStep/math.Sqrt(norm))
	for i := range theta {
		theta[i] += short * move[i]
	}
	return values, vectors, short == 1
}

// at are the coefficients that the noisy sums of so many rounds lead to.
func (l Logistic) at(sums [][]float64) []float64 {
	theta := make([]float64, l.Coefficients())
	for round, sum := range sums {
		l.step(theta, sum, round)
	}
	return theta
}

// Release makes the rounds.
func (l Logistic) Release(s *value.Sample, c Choices, src *noise.Source) ([][]float64, error) {
	var sums [][]float64
	x := make([]float64, l.Size())
	for round := range LogisticRounds {
		theta := l.at(sums)
		sum, err := mechanism.NewVectorSum(l.Size(), l.Clip(), l.Noise[round], l.Kind)
		if err != nil {
			return nil, err
		}
		for p := range s.Data.Persons() {
			from, to := s.Episodes(p)
			l.contribution(x, theta, c, s.Data.EpisodeStart[from], s.Data.EpisodeStart[to])
			if err := sum.Add(x); err != nil {
				return nil, err
			}
		}
		noisy, _, err := sum.Release(src)
		if err != nil {
			return nil, err
		}
		sums = append(sums, noisy)
	}
	return sums, nil
}

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
	square := 0.0
	for _, v := range sum[:l.Coefficients()] {
		square += v * v
	}
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

// Apply divides the target's probabilities, which the ratios of the sample are up to
// here, by the limits that the noisy sums of all rounds make. A decision of no action has no
// weight, but for a sure one.
func (l Logistic) Apply(s *value.Sample, c Choices, sums [][]float64) {
	f := l.Fit(sums)
	for row, action := range c.Action {
		if action == Sure {
			continue
		}
		if action < 0 {
			s.Rho[row], s.Data.BehaviorProb[row] = 0, 1
			continue
		}
		upper := f.Upper(c.X[row*l.Dim:(row+1)*l.Dim], action)
		s.Rho[row] /= upper
		s.Data.BehaviorProb[row] = upper
	}
}

// Unprotected are the probabilities of what was done, row by row, at the largest
// likelihood, without noise. They are not private.
func (l Logistic) Unprotected(c Choices) []float64 {
	l.Decisions, l.Noise = 1, [LogisticRounds]float64{}
	theta, x, sum := make([]float64, l.Coefficients()), make([]float64, l.Size()), make([]float64, l.Size())
	for range 4 * LogisticRounds {
		clear(sum)
		for row := range c.Action {
			l.contribution(x, theta, c, row, row+1)
			for i, v := range x {
				sum[i] += v
			}
		}
		l.step(theta, sum, 0)
	}
	out, p := make([]float64, len(c.Action)), make([]float64, l.Actions)
	for row, action := range c.Action {
		if out[row] = 1; action >= 0 {
			l.probabilities(p, theta, c.X[row*l.Dim:(row+1)*l.Dim])
			out[row] = p[action]
		}
	}
	return out
}
