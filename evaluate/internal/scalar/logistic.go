package scalar

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
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
		length := xmath.SquareNorm(x)
		w := min(1, (clip-used)/math.Sqrt(length*(farthest(p)+height*height*length*spreadOf(p))))
		if !(w > 0) {
			continue
		}
		l.add(dst, p, x, action, w)
		used = math.Sqrt(xmath.SquareNorm(dst))
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
	short := min(1, longestStep/math.Sqrt(xmath.SquareNorm(move)))
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
func (l Logistic) Release(s value.Persons, choices func(*value.Sample) (Choices, error), src *noise.Source) ([][]float64, error) {
	var sums [][]float64
	for round := range LogisticRounds {
		theta := l.at(sums)
		fresh := func() (*mechanism.VectorSum, error) {
			return mechanism.NewVectorSum(l.Size(), l.Clip(), l.Noise[round], l.Kind)
		}
		noisy, err := mechanism.Spread(fresh, mechanism.Workers(l.Size()), s.Persons(), func(sum *mechanism.VectorSum) func(int) error {
			var c Choices
			x, walk := make([]float64, l.Size()), s.Walk()
			bind := func(s *value.Sample) (err error) { c, err = choices(s); return err }
			return func(p int) error {
				s, p, err := walk.Bound(p, bind)
				if err != nil {
					return err
				}
				from, to := s.Episodes(p)
				l.contribution(x, theta, c, s.Data.EpisodeStart[from], s.Data.EpisodeStart[to])
				return sum.Add(x)
			}
		}, src)
		if err != nil {
			return nil, err
		}
		sums = append(sums, noisy)
	}
	return sums, nil
}
