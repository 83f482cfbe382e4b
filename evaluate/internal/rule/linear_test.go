package rule_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
)

// Of gains that are linear in correlated covariates, and sums without noise, the scores are the
// gains themselves, in the covariates' own units; where noise drowns the products they are those
// of independent and uniform covariates.
func TestScoresAreLeastSquares(t *testing.T) {
	g := rule.Grid{Lows: []float64{20, -1}, Highs: []float64{80, 3}, Actions: 2}
	r := rand.New(rand.NewPCG(3, 4))
	gains, products, terms := make([]float64, 2*g.Dim()), make([]float64, g.Products()), make([]float64, g.Dim())
	truth := func(x []float64) float64 { return 0.3 - 0.01*x[0] + 0.2*x[1] }
	for range 500 {
		u := r.Float64()
		x := []float64{20 + 60*u, -1 + 4*(0.7*u+0.3*r.Float64())}
		g.Terms(terms, x)
		g.AddProducts(products, terms, 0.5)
		for i, v := range terms {
			gains[i] -= truth(x) * v / 2
			gains[g.Dim()+i] += truth(x) * v / 2
		}
	}
	w, b := g.Linear(gains, products, 0)
	for i, want := range []float64{0.3, -0.01, 0.2} {
		got := append([]float64{b[1]}, w[1]...)[i]
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("term %d: %v; want %v", i, got, want)
		}
	}
	for _, drowned := range []float64{1e9, -1e9} { // the second has no solution
		for i := range products {
			products[i] *= min(drowned, 1)
		}
		w, b = g.Linear([]float64{0, 0, 0, 1, 1, 0}, products, math.Abs(drowned))
		if ratio := w[1][0] * 30 / (b[1] + 50*w[1][0]); math.Abs(ratio-3) > 1e-6 || w[1][1] != 0 && math.Abs(w[1][1]/w[1][0]) > 1e-6 {
			t.Errorf("weights %v, intercept %v; want the slope three times the constant over the half range", w, b)
		}
	}
}

// The norm of the products is the square of that of the terms, which the clip relies on.
func TestProductsHaveTheSquaredNorm(t *testing.T) {
	g := rule.Grid{Lows: make([]float64, 3), Highs: []float64{1, 1, 1}, Actions: 2}
	terms, products := make([]float64, 4), make([]float64, g.Products())
	g.Terms(terms, []float64{0.1, 2, 0.8})
	g.AddProducts(products, terms, 1)
	square, norm := 0.0, 0.0
	for _, v := range terms {
		square += v * v
	}
	for _, v := range products {
		norm += v * v
	}
	if math.Abs(math.Sqrt(norm)-square) > 1e-12 || square > 4 {
		t.Errorf("norm %v of products, %v of terms", math.Sqrt(norm), square)
	}
}

// Noise in the products scatters coefficients as their deviations say, where gains have none.
func TestNoisyProductsScatterCoefficients(t *testing.T) {
	g := rule.Grid{Lows: []float64{20, -1}, Highs: []float64{80, 3}, Actions: 3}
	r := rand.New(rand.NewPCG(5, 6))
	gains := []float64{-150, 20, 30, 10, 0, 0, 140, -20, -30}
	const persons, sd, draws = 1000, 5, 4000
	exact := []float64{persons, math.Sqrt2 * 100, persons / 3., math.Sqrt2 * 50, math.Sqrt2 * -100, persons / 3.}
	sum, squares := make([]float64, 3), make([]float64, 3)
	for range draws {
		products := make([]float64, len(exact))
		for i, x := range exact {
			products[i] = x + sd*r.NormFloat64()
		}
		w, b := g.Linear(gains, products, sd)
		for i, c := range []float64{b[2] - b[0], w[2][0] - w[0][0], w[2][1] - w[0][1]} {
			sum[i] += c / draws
			squares[i] += c * c / draws
		}
	}
	for i, told := range g.Deviations(gains, exact, sd, 0, 0, persons) {
		if scatters := math.Sqrt(squares[i] - sum[i]*sum[i]); math.Abs(scatters/told-1) > 0.06 { // five standard errors
			t.Errorf("coefficient %d scatters by %v, told is %v", i, scatters, told)
		}
	}
}
