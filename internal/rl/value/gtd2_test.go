package value_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// The gradient from transitions against -A_i'w and A_i theta + C_i w - b_i from
// the matrices, with one-hot and with dense features.
func TestSaddleGradientsMatchTheirMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []history
		for _, episodes := range drawPersons(t) {
			all = append(all, episodes...)
		}
		d := build(all)
		pi := must(policy.NewTable(drawPolicy(t, "target"), 2, "obs_state"))
		line := must(feature.NewColumns([]string{"obs_state"}, []feature.Range{{Low: 0, High: 2}}, feature.ColumnsOptions{Intercept: true}))
		for _, m := range []feature.Map{tabular(3), must(feature.NewAggregation(3, 2, "obs_state")), line} {
			s := must(value.NewSample(d, value.Options{Gamma: 0.9, Features: m, Policy: pi}))
			n := s.Dim
			theta, w := make([]float64, n), make([]float64, n)
			for i := range n {
				theta[i] = rapid.Float64Range(-1, 1).Draw(t, "theta")
				w[i] = rapid.Float64Range(-1, 1).Draw(t, "w")
			}
			for _, weighting := range []value.Weighting{value.ByTrajectory, value.ByTransition} {
				g, moments := value.NewSaddle(s, weighting), value.NewMoments(n)
				for p := range d.Persons() {
					moments.Reset()
					moments.AddPerson(s, p, weighting)
					wantTheta, wantW := make([]float64, n), make([]float64, n)
					for i := range n {
						wantW[i] = floats.Dot(moments.A[i*n:i*n+n], theta) + floats.Dot(moments.C[i*n:i*n+n], w) - moments.B[i]
						for j := range n {
							wantTheta[j] -= moments.A[i*n+j] * w[i]
						}
					}
					dTheta, dW := g.Person(theta, w, p)
					if !floats.EqualApprox(dTheta, wantTheta, 1e-11) || !floats.EqualApprox(dW, wantW, 1e-11) {
						t.Fatalf("%T, %v, person %d: %v, %v; want %v, %v", m, weighting, p, dTheta, dW, wantTheta, wantW)
					}
				}
			}
		}
	})
}

// With a single person there is no randomness and the iterates converge to the
// solution of A theta = b.
func TestGTD2ConvergesToLSTD(t *testing.T) {
	s := sample(t, build([]history{{0, []step{{0, 0, 0.5, 1}, {1, 1, 0.5, 2}, {0, 1, 0.5, 0}, {1, 0, 0.5, -1}}, true, -1}}),
		value.Options{Gamma: 0.9, Features: tabular(2), Policy: must(policy.NewTable([]float64{0.4, 0.6, 0.5, 0.5}, 2, "obs_state"))})
	for _, average := range []bool{false, true} {
		g := value.GTD2{Steps: 20_000, StepTheta: 0.2, StepW: 0.2, Weighting: value.ByTrajectory, Average: average}
		got := must(g.Solve(s, rand.New(rand.NewPCG(1, 1))))
		want := must(value.LSTD{Weighting: value.ByTrajectory}.Solve(s))
		if !floats.EqualApprox(got, want, 1e-9) {
			t.Errorf("average %v: theta %v, want %v", average, got, want)
		}
	}
}

func TestGTD2RefusesWhatItCannotDo(t *testing.T) {
	s := chainSample(t, chain.Options{Episodes: 20, Seed: 1}, nil)
	good := value.GTD2{Steps: 100, StepTheta: 0.1, StepW: 0.1, Weighting: value.ByTransition}
	for name, spoil := range map[string]func(g *value.GTD2){
		"steps":      func(g *value.GTD2) { g.Steps = 0 },
		"theta step": func(g *value.GTD2) { g.StepTheta = 0 },
		"w step":     func(g *value.GTD2) { g.StepW = -1 },
		"weighting":  func(g *value.GTD2) { g.Weighting = 0 },
		"divergence": func(g *value.GTD2) { g.StepTheta, g.StepW, g.Steps = 1e10, 1e10, 10_000 },
	} {
		g := good
		spoil(&g)
		if _, err := g.Solve(s, rand.New(rand.NewPCG(1, 1))); !errors.Is(err, value.ErrOptions) {
			t.Errorf("%s: %v; want ErrOptions", name, err)
		}
	}
}

func TestContributionsAllocateNothing(t *testing.T) {
	s := chainSample(t, chain.Options{Episodes: 20, Seed: 1}, advancing(0.6))
	on := chainSample(t, chain.Options{Episodes: 20, Seed: 1}, nil)
	n := s.Data.Persons()
	num, den := make([]float64, n), make([]float64, n)
	m, theta := value.NewMoments(40), make([]float64, 40)
	saddle, trace, visits := value.NewSaddle(s, value.ByTransition), must(value.NewTraces(s, 0.5)), must(value.NewFirstVisits(on))
	for name, f := range map[string]func(){
		"ISContributions":   func() { value.ISContributions(num, den, s) },
		"PDISContributions": func() { value.PDISContributions(num, s) },
		"AddPerson":         func() { m.AddPerson(s, 3, value.ByTransition) },
		"Saddle":            func() { saddle.Person(theta, theta, 3) },
		"Traces":            func() { trace.AddPerson(m, 3, value.ByTransition) },
		"FirstVisits":       func() { visits.Person(3) },
	} {
		if got := testing.AllocsPerRun(50, f); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
}
