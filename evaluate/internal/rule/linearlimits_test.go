package rule_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
)

// Scores in an order have slopes in it, and no others in that order are nearer to the least squares
// without one, in the metric of the products.
func TestOrderedScoresAreTheNearest(t *testing.T) {
	g := rule.Grid{Lows: []float64{-1, -1}, Highs: []float64{1, 1}, Actions: 3}
	r := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		products, terms := make([]float64, g.Products()), make([]float64, g.Dim())
		var points [][]float64
		for range 40 {
			u := 2*r.Float64() - 1
			x := []float64{u, 0.6*u + 0.4*(2*r.Float64()-1)}
			points = append(points, x)
			g.Terms(terms, x)
			g.AddProducts(products, terms, 1)
		}
		gains := make([]float64, g.Actions*g.Dim())
		for i := range gains {
			gains[i] = 20 * (r.Float64() - 0.5)
		}
		free, level := g.Linear(gains, products, 0)
		far := func(w [][]float64, b []float64) (d float64) {
			for a := range w {
				for _, x := range points {
					e := b[a] - level[a]
					for j := range x {
						e += (w[a][j] - free[a][j]) * x[j]
					}
					d += e * e
				}
			}
			return d
		}
		inOrder := func(w [][]float64) bool {
			return w[0][0] <= w[1][0]+1e-9 && w[1][0] <= w[2][0]+1e-9 && w[0][1] >= w[1][1]-1e-9 && w[1][1] >= w[2][1]-1e-9
		}
		limited := g
		limited.Order = []int{1, -1}
		w, b := limited.Linear(gains, products, 0)
		if !inOrder(w) {
			t.Fatalf("slopes %v", w)
		}
		best := far(w, b)
		for range 2000 {
			other, level := [][]float64{{0, 0}, {0, 0}, {0, 0}}, make([]float64, 3)
			for a := range other {
				level[a] = b[a] + 0.05*r.NormFloat64()
				for j := range 2 {
					other[a][j] = w[a][j] + 0.05*r.NormFloat64()
				}
			}
			if inOrder(other) && far(other, level) < best-1e-6*(1+best) {
				t.Fatalf("%v is in order and nearer than %v: %v, %v", other, w, far(other, level), best)
			}
		}
	}
}

// Whoever is counted at so many prices would be treated at these and at no higher one; the first price
// that few enough pay is taken, by numbers with noise to spare.
func TestAPriceIsPaidByFewEnough(t *testing.T) {
	weights, intercept := [][]float64{{0, 0}, {1, 0}, {-1, 2}}, []float64{0, -0.5, 0.1}
	g := rule.Grid{Lows: []float64{0, 0}, Highs: []float64{1, 1}, Actions: 3}
	largest := g.LargestMargin(weights, intercept)
	if math.Abs(largest-2.1) > 1e-12 {
		t.Errorf("largest margin %v; want 2.1", largest)
	}
	r := rand.New(rand.NewPCG(1, 9))
	counts := make([]float64, rule.Prices+1)
	var all []float64
	for range 5000 {
		x := []float64{r.Float64(), r.Float64()}
		m := rule.Margin(weights, intercept, x)
		if want := max(x[0]-0.5, 0.1-x[0]+2*x[1]); math.Abs(m-want) > 1e-12 {
			t.Fatalf("margin %v at %v; want %v", m, x, want)
		}
		paid := rule.Paid(m, largest)
		for place := range rule.Prices {
			if (m > rule.Price(place, largest)) != (place < paid) {
				t.Fatalf("margin %v pays %d prices, and place %d costs %v", m, paid, place, rule.Price(place, largest))
			}
		}
		counts[paid]++
		all = append(all, m)
	}
	g.Treated = 0.25
	last := 1.0
	for _, sd := range []float64{1e-9, 20, 1e9} {
		price, treated := rule.Price(g.Affordable(counts, sd), largest), 0.0
		for _, m := range all {
			if m > price {
				treated += 1. / 5000
			}
		}
		if treated > 0.25 || treated > last || sd < 1 && treated < 0.15 || sd > 1e8 && treated > 0 {
			t.Errorf("noise of %v: a share of %v is treated", sd, treated)
		}
		last = treated
	}
}
