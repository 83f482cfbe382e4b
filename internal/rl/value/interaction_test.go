package value_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// interacting is the value 2 - a + 3 b + .5 a b, in the columns' own units.
func interacting(a, b float64) float64 { return 2 - a + 3*b + .5*a*b }

// interactingLog has the rewards that make interacting the value of every state: each
// is the value less the discounted value of what follows.
func interactingLog(gamma float64) *trajectory.Dataset {
	r := rand.New(rand.NewPCG(11, 12))
	d := &trajectory.Dataset{Columns: []string{"a", "b"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for i := range 40 {
		a, b := -3+8*r.Float64(), 2+2*r.Float64()
		for step := range 3 {
			nextA, nextB := -3+8*r.Float64(), 2+2*r.Float64()
			follows := gamma * interacting(nextA, nextB)
			if step == 2 && i%2 == 0 {
				follows = 0
			}
			d.Obs = append(d.Obs, a, b)
			d.Reward = append(d.Reward, interacting(a, b)-follows)
			a, b = nextA, nextB
		}
		d.Final = append(d.Final, a, b)
		d.HasFinal = append(d.HasFinal, true)
		d.Terminated = append(d.Terminated, i%2 == 0)
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.PersonStart = append(d.PersonStart, i+1)
	}
	return d
}

// A value that is linear in two columns and their product is found exactly with the
// product among the features, however the columns are scaled, and not without it.
func TestLSTDFindsAnInteraction(t *testing.T) {
	const gamma = .9
	d := interactingLog(gamma)
	worst := func(o feature.ColumnsOptions) float64 {
		m := must(feature.NewColumns(d.Columns, []feature.Range{{Low: -3, High: 5}, {Low: 2, High: 4}}, o))
		theta := must(value.LSTD{}.Solve(sample(t, d, value.Options{Gamma: gamma, Features: m})))
		b, phi, off := must(m.Bind(d.Columns)), make([]float64, m.Dim()), 0.0
		for row := range d.Rows() {
			b.Apply(phi, d.Observation(row))
			off = max(off, math.Abs(floats.Dot(theta, phi)-interacting(d.Obs[2*row], d.Obs[2*row+1])))
		}
		return off
	}
	for _, symmetric := range []bool{false, true} {
		o := feature.ColumnsOptions{Intercept: true, Symmetric: symmetric}
		if off := worst(o); !(off > .1) {
			t.Errorf("symmetric %v: without the product the values are off by %v", symmetric, off)
		}
		o.Products = [][]string{{"a", "b"}}
		if off := worst(o); !(off < 1e-9) {
			t.Errorf("symmetric %v: off by %v", symmetric, off)
		}
	}
}
