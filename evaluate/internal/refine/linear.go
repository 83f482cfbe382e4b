package refine

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/feature"
)

// MaxDim bounds the number of linear features: the matrix has its square.
const MaxDim = 1024

// Linear is the form of dp-refine with a matrix, for linear features.
type Linear struct {
	Rounds
	form      string
	dim       int
	ones      bool    // theta = 1 is the constant function
	norm      float64 // public bound on |phi|
	matrixMax float64 // public bound on a person's matrix, Frobenius
	firstMax  float64 // public bound on a person's first residual, l2
}

// NewLinear takes form [Regression] or [LSTD]; the features have a finite bound on
// their norm above 0.
func NewLinear(r Rounds, form string) Linear {
	phi := r.Public.Features
	_, ones := phi.(feature.Finite)
	l := Linear{Rounds: r, form: form, dim: phi.Dim(), ones: ones, norm: phi.NormBound()}
	returns := r.Public.Returns
	largest := max(math.Abs(returns.Min), math.Abs(returns.Max), returns.Width()) * max(r.MaxWeight, 1)
	l.matrixMax, l.firstMax = l.norm*l.norm, l.norm*largest
	if form == LSTD {
		reward := max(math.Abs(r.Public.Reward.Min), math.Abs(r.Public.Reward.Max))
		l.matrixMax *= 2 * r.MaxWeight
		l.firstMax = l.norm * r.MaxWeight * min(reward+(1-r.Public.Gamma)*largest, 2*largest)
	}
	return l
}

// Name implements [Form].
func (r Linear) Name() string { return r.form }

// Expected implements [Form]: no error is predicted.
func (r Linear) Expected() float64 { return 0 }

// On implements [Form].
func (r Linear) On(s value.Persons) func(ctx context.Context, src *noise.Source) (*Estimate, error) {
	return func(ctx context.Context, src *noise.Source) (*Estimate, error) { return r.run(ctx, s, src) }
}

// Coordinates is the number of released coordinates of the matrix. That of the
// regression is symmetric: its upper half, with sqrt 2 off the diagonal, has the
// same norm and half the noise.
func (r Linear) Coordinates() int {
	if r.form == Regression {
		return r.dim * (r.dim + 1) / 2
	}
	return r.dim * r.dim
}

// linearScale is the first release: mean logarithms of the norms of a person's
// matrix and of the first residual, and the level where the features hold the constants.
type linearScale struct {
	persons, centre, centreSD float64
	matrix, residual          float64 // geometric mean norms over persons, a standard deviation up
}

func (r Linear) releaseScale(ctx context.Context, persons int, each func() *linearPerson, src *noise.Source) (linearScale, error) {
	dim, clip := 3, math.Sqrt(3)
	if r.Public.Adjacency == dp.AddRemoveOne {
		dim, clip = 4, 2
	}
	sum := r.sum(0, dim, clip)
	half := r.Public.Returns.Width() / 2
	noisy, err := sum.release(ctx, persons, func() Contribution {
		w := each()
		theta := r.constant(r.Public.Returns.Mid())
		return func(dst []float64, p int) {
			w.person(p, theta, true)
			dst[0] = within1((w.level - r.Public.Returns.Mid()) / half)
			dst[1] = logScale(xmath.SquareNorm(w.matrix), r.matrixMax)
			dst[2] = logScale(xmath.SquareNorm(w.residual), r.firstMax)
			if dim == 4 {
				dst[3] = 1
			}
		}
	}, src)
	if err != nil {
		return linearScale{}, err
	}
	m := r.persons(noisy[dim-1])
	sd := sum.SD() / m
	return linearScale{
		persons:  m,
		centre:   min(max(r.Public.Returns.Mid()+half*noisy[0]/m, r.Public.Returns.Min), r.Public.Returns.Max),
		centreSD: half * sd,
		matrix:   fromLogScale(noisy[1]/m+sd, r.matrixMax),
		residual: fromLogScale(noisy[2]/m+sd, r.firstMax),
	}, nil
}

// constant is the theta of the constant function c where the features hold it,
// and 0 otherwise.
func (r Linear) constant(c float64) []float64 {
	if !r.ones {
		c = 0
	}
	return slices.Repeat([]float64{c}, r.dim)
}

// normBits is half the number of powers of two below its public bound over which
// the logarithm of a norm is released: a bound may be far too wide, and the
// logarithm finds the scale all the same.
const normBits = 7

// logScale places a norm, given squared, on [-1, 1] by its logarithm.
func logScale(square, largest float64) float64 {
	return within1(1 + math.Log2(square/(largest*largest))/2/normBits)
}

// fromLogScale is the inverse of logScale.
func fromLogScale(x, largest float64) float64 {
	return largest * math.Exp2(normBits*(min(max(x, -1), 1)-1))
}

// within1 clips to [-1, 1]; NaN becomes 0.
func within1(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, -1), 1)
}

// releaseMatrix returns the noisy mean matrix and the noise in one entry of it.
func (r Linear) releaseMatrix(ctx context.Context, persons int, l linearScale, each func() *linearPerson, src *noise.Source) (*mat.Dense, float64, error) {
	n, clip := r.dim, min(r.Schedule.ClipFactor*l.matrix, r.matrixMax)
	sum := r.sum(1, r.Coordinates(), clip)
	noisy, err := sum.release(ctx, persons, func() Contribution {
		w := each()
		return func(dst []float64, p int) {
			w.person(p, nil, true)
			r.pack(dst, w.matrix)
		}
	}, src)
	if err != nil {
		return nil, 0, err
	}
	a := mat.NewDense(n, n, nil)
	r.unpack(a.RawMatrix().Data, noisy, l.persons)
	return a, sum.SD() / l.persons, nil
}

func (r Linear) pack(dst, matrix []float64) {
	if r.form == LSTD {
		copy(dst, matrix)
		return
	}
	k := 0
	for i := range r.dim {
		for j := i; j < r.dim; j++ {
			dst[k] = matrix[i*r.dim+j]
			if j > i {
				dst[k] *= math.Sqrt2
			}
			k++
		}
	}
}

func (r Linear) unpack(matrix, packed []float64, persons float64) {
	if r.form == LSTD {
		for i, v := range packed {
			matrix[i] = v / persons
		}
		return
	}
	k := 0
	for i := range r.dim {
		for j := i; j < r.dim; j++ {
			v := packed[k] / persons
			if j > i {
				v /= math.Sqrt2
			}
			matrix[i*r.dim+j], matrix[j*r.dim+i] = v, v
			k++
		}
	}
}

func (r Linear) run(ctx context.Context, s value.Persons, src *noise.Source) (*Estimate, error) {
	each := func() *linearPerson { return newLinearPerson(s, r) }
	persons := s.Persons()
	l, err := r.releaseScale(ctx, persons, each, src)
	if err != nil {
		return nil, err
	}
	a, entrySD, err := r.releaseMatrix(ctx, persons, l, each, src)
	if err != nil {
		return nil, err
	}
	b := r.prior(l)
	norm, failed := l.residual, 0
	for k := 2; k < len(r.Schedule.Multipliers); k++ {
		theta := append([]float64(nil), b.mean.RawVector().Data...)
		if r.ones {
			r.inRange(theta)
		}
		clip := r.Schedule.ClipFactor * norm
		sum := r.sum(k, r.dim+1, clip)
		noisy, err := sum.release(ctx, persons, func() Contribution {
			w := each()
			return func(dst []float64, p int) {
				w.person(p, theta, false)
				copy(dst, w.residual)
				clipWithSquare(dst, r.dim, clip)
			}
		}, src)
		if err != nil {
			return nil, err
		}
		sd := sum.SD() / l.persons
		if !b.observe(a, theta, noisy[:r.dim], l.persons, sd, entrySD) {
			failed++
		}
		square := clip * (noisy[r.dim]/l.persons + clip)
		norm = min(norm, math.Sqrt(max(square, 0)+clip*sd))
	}
	out := r.report(b)
	out.Failed = failed
	return out, nil
}

// prior puts theta around the constant function where the features hold it, and
// around 0 otherwise, in units of the range of returns over the feature norm.
func (r Linear) prior(l linearScale) *linearBelief {
	n, width := r.dim, r.Public.Returns.Width()
	b := &linearBelief{mean: mat.NewVecDense(n, nil), cov: mat.NewDense(n, n, nil)}
	if r.ones {
		v := r.Rule.Level * width
		for i := range n {
			b.mean.SetVec(i, l.centre)
			for j := range n {
				b.cov.Set(i, j, v*v+l.centreSD*l.centreSD)
			}
			b.cov.Set(i, i, 2*v*v+l.centreSD*l.centreSD)
		}
		return b
	}
	v := max(math.Abs(r.Public.Returns.Min), math.Abs(r.Public.Returns.Max), width) / r.norm
	for i := range n {
		b.cov.Set(i, i, v*v)
	}
	return b
}

func (r Linear) report(b *linearBelief) *Estimate {
	out := &Estimate{Theta: append([]float64(nil), b.mean.RawVector().Data...), SD: make([]float64, r.dim)}
	for i := range out.SD {
		out.SD[i] = math.Sqrt(max(b.cov.At(i, i), 0))
	}
	if r.ones {
		r.inRange(out.Theta)
	}
	return out
}

// linearBelief is a normal distribution of theta.
type linearBelief struct {
	mean *mat.VecDense
	cov  *mat.Dense
}

// observe is the measurement update of a Kalman filter (Kalman 1960): it conditions the
// Gaussian belief on noisy/persons = A (theta* - theta) + noise. The error of A counts
// as more noise: entrySD^2 times the variance left in theta. The mean moves by a
// Newton step on the equations, regularised by that noise. It reports whether the equations could be solved: where rounding makes
// their matrix indefinite, the belief stands as it was.
func (b *linearBelief) observe(a *mat.Dense, theta, noisy []float64, persons, sd, entrySD float64) bool {
	n := len(theta)
	innovation := mat.NewVecDense(n, nil)
	ahead := mat.NewVecDense(n, nil)
	ahead.SubVec(b.mean, mat.NewVecDense(n, append([]float64(nil), theta...)))
	innovation.MulVec(a, ahead)
	for i := range n {
		innovation.SetVec(i, noisy[i]/persons-innovation.AtVec(i))
	}
	var ap, g mat.Dense
	ap.Mul(a, b.cov)
	g.Mul(&ap, a.T())
	sym := mat.NewSymDense(n, nil)
	extra := sd*sd + entrySD*entrySD*mat.Trace(b.cov)
	for i := range n {
		for j := i; j < n; j++ {
			v := (g.At(i, j) + g.At(j, i)) / 2
			if i == j {
				v += extra
			}
			sym.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		return false
	}
	var solved mat.VecDense
	var gain mat.Dense
	if chol.SolveVecTo(&solved, innovation) != nil || chol.SolveTo(&gain, &ap) != nil {
		return false
	}
	var step mat.VecDense
	step.MulVec(ap.T(), &solved)
	b.mean.AddVec(b.mean, &step)
	var less mat.Dense
	less.Mul(ap.T(), &gain)
	b.cov.Sub(b.cov, &less)
	return true
}
