package rule

import (
	"math"
	"slices"

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
	scores, metric := make([][]float64, g.Actions), g.metric(products, sd)
	for a := range g.Actions {
		scores[a] = solved(metric, gains[a*p:(a+1)*p])
	}
	if g.Order != nil {
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

// metric are the products that scores are solved by: those of covariates that are independent and uniform where noise
// leaves no others.
func (g Grid) metric(products []float64, sd float64) *mat.SymDense {
	p := g.Dim()
	drowned := 6 * sd * math.Sqrt(float64(p))
	m, alone := mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)
	at := 0
	for i := range p {
		uniform := 1.
		if i > 0 {
			uniform = 1. / 3
		}
		alone.SetSym(i, i, uniform)
		for j := range i {
			m.SetSym(i, j, products[at]/math.Sqrt2)
			at++
		}
		m.SetSym(i, i, products[at]+drowned*uniform)
		at++
	}
	var c mat.Cholesky
	if !c.Factorize(m) || c.Cond() > mat.ConditionTolerance {
		return alone
	}
	return m
}

// solved is what times the metric is of.
func solved(metric *mat.SymDense, of []float64) []float64 {
	var c mat.Cholesky
	var out mat.VecDense
	if c.Factorize(metric); c.SolveVecTo(&out, mat.NewVecDense(len(of), of)) != nil {
		panic("rule: the metric is singular") // which factorises
	}
	return out.RawVector().Data
}

// Deviations are standard deviations of the intercept, and of each weight, of an action less those of action 0, by noise
// in gains and products and by the choice of so many persons, whose weighted gains have at most this mean square. What
// clips do is not in them.
func (g Grid) Deviations(gains, products []float64, sd, noise, square, persons float64) []float64 {
	p, metric := g.Dim(), g.metric(products, sd)
	apart := mat.NewVecDense(p, nil) // scores of the action that they are farthest of
	for a := 1; a < g.Actions; a++ {
		less := slices.Clone(gains[a*p : (a+1)*p])
		for j := range less {
			less[j] -= gains[j]
		}
		if s := mat.NewVecDense(p, solved(metric, less)); mat.Dot(s, s) > mat.Dot(apart, apart) {
			apart = s
		}
	}
	var out []float64
	for j := range p {
		along := make([]float64, p) // the coefficient, of scores in terms
		if along[j] = 1; j > 0 {
			along[j] = 2 / (g.Highs[j-1] - g.Lows[j-1])
		} else {
			for i := 1; i < p; i++ {
				along[i] = -(g.Lows[i-1] + g.Highs[i-1]) / (g.Highs[i-1] - g.Lows[i-1])
			}
		}
		u := mat.NewVecDense(p, solved(metric, along))
		spread, dot := mat.Inner(u, metric, u), mat.Dot(u, apart)
		product := (mat.Dot(u, u)*mat.Dot(apart, apart) + dot*dot) / 2 // of a symmetric matrix, as AddProducts scales it
		if metric.At(0, 0) == 1 {                                      // of no persons
			spread, product = persons*float64(p)*mat.Dot(u, u), 0
		}
		out = append(out, math.Sqrt(2*(noise*noise*mat.Dot(u, u)+square*spread)+sd*sd*product))
	}
	return out
}
