package value_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// near compares with what float32 statistics can hold, relative to the largest
// number involved.
func near(got, want []float64, tolerance float64) bool {
	largest := 1.0
	for _, x := range want {
		largest = max(largest, math.Abs(x))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > tolerance*largest {
			return false
		}
	}
	return len(got) == len(want)
}

// scattered is a person's gradient of compiled cells as dense vectors.
func scattered(g *value.CellSaddle, theta, w []float64, person int) (dTheta, dW []float64) {
	cells := g.Cells(person)
	k := len(cells)
	local := make([]float64, 4*k)
	a, b, c, d := local[:k], local[k:2*k], local[2*k:3*k], local[3*k:]
	for i, j := range cells {
		c[i], d[i] = theta[j], w[j]
		a[i] = math.NaN() // what was there before must not matter
	}
	g.Gradient(a, b, c, d, person)
	dTheta, dW = make([]float64, len(theta)), make([]float64, len(theta))
	for i, j := range cells {
		dTheta[j] += a[i]
		dW[j] += b[i]
	}
	return dTheta, dW
}

func drawSample(t *rapid.T) (*trajectory.Dataset, policy.Table) {
	var all []history
	for _, episodes := range drawPersons(t) {
		all = append(all, episodes...)
	}
	return build(all), must(policy.NewTable(drawPolicy(t, "target"), 2, "obs_state"))
}

func TestCompiledGradientsAreTheGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, pi := drawSample(t)
		line := must(feature.NewColumns([]string{"obs_state"}, []feature.Range{{Low: 0, High: 2}}, feature.ColumnsOptions{}))
		for _, m := range []feature.Map{tabular(3), must(feature.NewAggregation(3, 2, "obs_state")), line} {
			s := must(value.NewSample(d, value.Options{Gamma: 0.9, Features: m, Policy: pi}))
			theta, w := make([]float64, s.Dim), make([]float64, s.Dim)
			for i := range theta {
				theta[i] = rapid.Float64Range(-1, 1).Draw(t, "theta")
				w[i] = rapid.Float64Range(-1, 1).Draw(t, "w")
			}
			for _, weighting := range []value.Weighting{value.ByTrajectory, value.ByTransition} {
				g := value.NewSaddle(s, weighting)
				dense, straight := value.NewDenseSaddle(s, weighting, true), value.NewDenseSaddle(s, weighting, false)
				for p := range d.Persons() {
					wantTheta, wantW := g.Person(theta, w, p)
					check := func(name string, dTheta, dW []float64) {
						if !near(dTheta, wantTheta, 3e-6) || !near(dW, wantW, 3e-6) {
							t.Fatalf("%s, %T, %v, person %d: %v, %v; want %v, %v", name, m, weighting, p, dTheta, dW, wantTheta, wantW)
						}
					}
					if s.Cell != nil {
						dTheta, dW := scattered(value.NewCellSaddle(s, weighting), theta, w, p)
						check("cells", dTheta, dW)
					}
					dTheta, dW := dense.Person(theta, w, p)
					check("kept", dTheta, dW)
					dTheta, dW = straight.Person(theta, w, p)
					check("from transitions", dTheta, dW)
				}
			}
		}
	})
}

// What is kept of a person must not change by a bit when another person's record
// does: a clip bounds what one person moves only if it is so.
func TestCompiledGradientsDependOnTheirPersonAlone(t *testing.T) {
	d := simulate(t, chain.Options{Episodes: 30, Seed: 3})
	other := *d
	other.Reward = append([]float64(nil), d.Reward...)
	lo, hi := d.EpisodeStart[0], d.EpisodeStart[1]
	for row := lo; row < hi; row++ {
		other.Reward[row] = 1e30
	}
	theta, w := make([]float64, 40), make([]float64, 40)
	for i := range theta {
		theta[i], w[i] = math.Sin(float64(i)), math.Cos(float64(i))
	}
	gradient := func(d *trajectory.Dataset, person int) (a, b []float64) {
		s := sample(t, d, value.Options{Gamma: 0.99, Features: tabular(40)})
		return scattered(value.NewCellSaddle(s, value.ByTrajectory), theta, w, person)
	}
	for person := range d.Persons() {
		a, b := gradient(d, person)
		c, e := gradient(&other, person)
		same := true
		for i := range a {
			same = same && a[i] == c[i] && b[i] == e[i]
		}
		if same != (person != 0) {
			t.Errorf("person %d: gradients equal is %v", person, same)
		}
	}
}

func BenchmarkCellSaddle(b *testing.B) {
	s := benchSample(b, nil)
	g := value.NewCellSaddle(s, value.ByTrajectory)
	x := make([]float64, 160)
	report(b, s, func() {
		for p := range s.Data.Persons() {
			k := len(g.Cells(p))
			g.Gradient(x[:k], x[40:40+k], x[80:80+k], x[120:120+k], p)
		}
	})
}

func BenchmarkNewCellSaddle(b *testing.B) {
	s := benchSample(b, nil)
	report(b, s, func() { value.NewCellSaddle(s, value.ByTrajectory) })
}
