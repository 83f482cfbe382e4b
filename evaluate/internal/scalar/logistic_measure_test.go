//go:build slow && measure

package scalar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-rl/discreet/dp/noise"
)

// minimum minimises the negative log-likelihood plus ridge |theta|^2/2 + slope theta.
func minimum(l Logistic, c Choices, ridge float64, slope []float64) []float64 {
	n := l.Coefficients()
	theta, y, one := make([]float64, n), make([]float64, l.Size()), l
	one.Decisions = 1
	for range 12 {
		g, h := mat.NewVecDense(n, nil), mat.NewSymDense(n, nil)
		for row := range c.Action {
			one.contribution(y, theta, c, row, row+1)
			for i := range n {
				g.SetVec(i, g.AtVec(i)+y[i])
			}
			h.AddSym(h, l.information(y))
		}
		for i := range n {
			g.SetVec(i, g.AtVec(i)-ridge*theta[i]-slope[i])
			h.SetSym(i, i, h.At(i, i)+ridge)
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(h) || chol.SolveVecTo(&step, g) != nil {
			return theta
		}
		short := min(1, longestStep/mat.Norm(&step, 2))
		for i := range theta {
			theta[i] += short * step.AtVec(i)
		}
	}
	return theta
}

// TestWaysToFit prints the mean error of probabilities by the ways of fitting them at
// one mu. Rivals are favoured: the ridge of output perturbation and that of objective
// perturbation are the best of a list for each row, known from the truth; objective perturbation pays nothing for
// its determinant and finds its minimum exactly; gradient descent has the best of its numbers of steps.
func TestWaysToFit(t *testing.T) {
	fmt.Println("dimension\tpersons\tmu\tnot private\toutput\tobjective\tgradient steps\tNewton")
	for _, dim := range []int{3, 6} {
		for _, n := range []int{2000, 10000 / dim * 3} {
			for _, mu := range []float64{0.12, 0.5} {
				rng := rand.New(rand.NewPCG(1, 7))
				src := noise.NewSeeded(1)
				l := logistic(dim, 2, 1, mu)
				ridges := []float64{1, 5, 25, 125}
				steps := []int{10, 30, 100}
				var bare, newton float64
				output, objective, descent := make([]float64, 4), make([]float64, 4), make([]float64, 3)
				const logs = 20
				for range logs {
					theta := normal(rng, dim)
					s, c := choicesOf(rng, l, theta, n)
					off := func(found []float64) float64 {
						p, q, sum, rows := make([]float64, 2), make([]float64, 2), 0.0, 0.0
						for row := 0; row < n; row += 10 {
							x := c.X[row*dim : (row+1)*dim]
							l.probabilities(p, theta, x)
							l.probabilities(q, found, x)
							sum += math.Abs(p[1] - q[1])
							rows++
						}
						return sum / rows / logs
					}
					bare += off(minimum(l, c, 1e-3, make([]float64, dim)))
					for k, ridge := range ridges {
						found := minimum(l, c, ridge, make([]float64, dim))
						for i := range found {
							found[i] += 2 / ridge / mu * rng.NormFloat64()
						}
						output[k] += off(found)
						slope := make([]float64, dim)
						for i := range slope {
							slope[i] = 2 / mu * rng.NormFloat64()
						}
						objective[k] += off(minimum(l, c, ridge, slope))
					}
					for k, count := range steps {
						found, sum, y := make([]float64, dim), make([]float64, dim), make([]float64, l.Size())
						for range count {
							clear(sum)
							for row := range c.Action {
								l.contribution(y, found, c, row, row+1)
								for i := range sum {
									sum[i] += y[i]
								}
							}
							for i := range found {
								found[i] += 8 / float64(n) * (sum[i] + 2/mu*math.Sqrt(float64(count))*rng.NormFloat64())
							}
						}
						descent[k] += off(found)
					}
					sums, err := l.Release(s, chose(c), src)
					if err != nil {
						t.Fatal(err)
					}
					newton += off(l.Fit(sums).Theta)
				}
				least := func(x []float64) float64 {
					m := x[0]
					for _, v := range x {
						m = min(m, v)
					}
					return m
				}
				fmt.Printf("%d\t%d\t%v\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", dim, n, mu, bare, least(output), least(objective), least(descent), newton)
			}
		}
	}
}

// TestSteepRegressions prints in how many logs some limit is below what it limits, where
// log-odds are slope (u - 1/2) over u in [low, high], fitted on (1, u)/sqrt 2.
func TestSteepRegressions(t *testing.T) {
	fmt.Println("slope\tu\tpersons\tmu\tnorm\tlogs\tsettled\tmissed\tby up to")
	for _, c := range []struct {
		slope, low, high float64
		persons, logs    int
		mu               float64
	}{
		{4, 0, 1, 2000, 60, .5}, {8, 0, 1, 2000, 60, .5}, {8, 0, 1, 20000, 40, .5},
		{12, -.4, .6, 3000, 40, .12}, {12, 0, 1, 2000, 60, .5}, {12, 0, 1, 10000, 40, .5},
		{15, 0, 1, 2000, 60, .5}, {15, 0, 1, 2000, 60, 1.5}, {15, 0, 1, 20000, 40, .5}, {30, 0, 1, 20000, 40, .5}, {30, .4, .6, 100000, 8, 1},
		{8, -.4, .6, 3000, 40, .12}, {8, -.4, .6, 1000, 40, .12}, {12, 0, 1, 1000, 40, .12}, {12, 0, 1, 3000, 40, .12}, {12, -.4, .6, 500, 40, .25}, {20, -.4, .6, 3000, 40, .12}, {20, -.4, .6, 1000, 40, .25}, {30, -.4, .6, 3000, 40, .12},
		{2, -.5, 1, 2000, 40, .12}, {4, -.5, 1, 2000, 40, .12}, {4, 0, 1, 20000, 40, .12},
	} {
		l := logistic(2, 2, 1, c.mu)
		rng, src := rand.New(rand.NewPCG(11, 7)), noise.NewSeeded(5)
		// choicesOf draws z in [-1, 1]; log-odds in terms of u = middle + half z.
		middle, half := (c.low+c.high)/2, (c.high-c.low)/2
		theta := []float64{-c.slope / 2 * math.Sqrt2, c.slope * math.Sqrt2}
		at := []float64{theta[0] + theta[1]*middle, theta[1] * half}
		settled, missed, worst := 0, 0, 1.0
		p := make([]float64, l.Actions)
		for range c.logs {
			s, choices := choicesOf(rng, l, at, c.persons)
			for row := range c.persons {
				choices.X[2*row+1] = middle/math.Sqrt2 + half*choices.X[2*row+1]
			}
			sums, err := l.Release(s, chose(choices), src)
			if err != nil {
				t.Fatal(err)
			}
			f, off := l.Fit(sums), 1.0
			for row := 0; row < c.persons; row += c.persons / 200 {
				x := choices.X[2*row : 2*row+2]
				l.probabilities(p, theta, x)
				for a, right := range p {
					off = max(off, right/f.Upper(x, a))
				}
			}
			if off > 1 {
				missed++
			}
			if f.Settled {
				settled++
			}
			worst = max(worst, off)
		}
		fmt.Printf("%g\t%g to %g\t%d\t%g\t%.0f\t%d\t%d\t%d\t%.1f%%\n", c.slope, c.low, c.high, c.persons, c.mu, math.Hypot(theta[0], theta[1]), c.logs, settled, missed, 100*(worst-1))
	}
}
