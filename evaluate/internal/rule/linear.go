package rule

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Dim is the number of terms of a linear rule: a constant, and each covariate.
func (g Grid) Dim() int { return 1 + g.Covariates() }

// Terms writes 1 and the covariates, whose ranges become [-1, 1], into dst.
func (g Grid) Terms(dst, x []float64) {
	dst[0] = 1
	for j, v := range x {
		low, high := g.Lows[j], g.Highs[j]
		dst[1+j] = min(max((2*v-low-high)/(high-low), -1), 1)
	}
}

// Products is the number of products of two terms, each counted once.
func (g Grid) Products() int { return g.Dim() * (g.Dim() + 1) / 2 }

// AddProducts adds the products of terms, those of two different ones by the root of 2, so that
// their norm is the square of that of the terms.
func (g Grid) AddProducts(dst, terms []float64, by float64) {
	at := 0
	for i, a := range terms {
		for j, b := range terms[:i+1] {
			scale := math.Sqrt2
			if i == j {
				scale = 1
			}
			dst[at] += by * scale * a * b
			at++
		}
	}
}

// Linear is, of noisy sums by action and term of gains, and of products with noise of so large a
// standard deviation, the score of every action: least squares, to whose products those of
// covariates that are independent and uniform are added, of as many persons as noise drowns. It
// gives a weight for each covariate as it is, and an intercept.
func (g Grid) Linear(gains, products []float64, sd float64) (weights [][]float64, intercept []float64) {
	p := g.Dim()
	drowned := 6 * sd * math.Sqrt(float64(p))
	uniform := func(i int) float64 {
		if i == 0 {
			return 1
		}
		return 1. / 3
	}
	m := mat.NewSymDense(p, nil)
	at := 0
	for i := range p {
		for j := range i {
			m.SetSym(i, j, products[at]/math.Sqrt2)
			at++
		}
		m.SetSym(i, i, products[at]+drowned*uniform(i))
		at++
	}
	var c mat.Cholesky
	solvable := c.Factorize(m)
	scores := make([][]float64, g.Actions)
	for a := range g.Actions {
		of := gains[a*p : (a+1)*p]
		var score mat.VecDense
		if !solvable || c.SolveVecTo(&score, mat.NewVecDense(p, of)) != nil {
			score = *mat.NewVecDense(p, nil)
			for i, v := range of {
				score.SetVec(i, v/uniform(i))
			}
		}
		scores[a] = score.RawVector().Data
	}
	if g.Order != nil {
		metric := mat.Symmetric(m)
		if !solvable {
			alone := mat.NewSymDense(p, nil)
			for i := range p {
				alone.SetSym(i, i, uniform(i))
			}
			metric = alone
		}
		g.ordered(scores, metric)
	}
	for _, score := range scores {
		constant, w := score[0], make([]float64, p-1)
		for j := range w {
			width := g.Highs[j] - g.Lows[j]
			w[j] = 2 * score[1+j] / width
			constant -= score[1+j] * (g.Lows[j] + g.Highs[j]) / width
		}
		weights, intercept = append(weights, w), append(intercept, constant)
	}
	return weights, intercept
}
