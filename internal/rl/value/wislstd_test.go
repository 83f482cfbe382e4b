package value_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// traces returns every person's contribution of its own.
func traces(s *value.Sample, lambda float64, w value.Weighting) []*value.Moments {
	t := must(value.NewTraces(s, lambda))
	out := make([]*value.Moments, s.Data.Persons())
	for p := range out {
		out[p] = value.NewMoments(s.Dim)
		t.AddPerson(out[p], p, w)
	}
	return out
}

func TestWISLSTDWithoutTraceIsLSTD(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []history
		for _, episodes := range drawPersons(t) {
			all = append(all, episodes...)
		}
		s := must(value.NewSample(build(all), value.Options{
			Gamma: 0.9, Features: tabular(3), Policy: must(policy.NewTable(drawPolicy(t, "target"), 2, "obs_state")),
		}))
		for _, w := range []value.Weighting{value.ByTrajectory, value.ByTransition} {
			for p, got := range traces(s, 0, w) {
				want := value.NewMoments(3)
				want.AddPerson(s, p, w)
				if !floats.EqualApprox(got.A, want.A, 1e-12) || !floats.EqualApprox(got.B, want.B, 1e-12) || !(math.Abs(got.Weight-want.Weight) <= 1e-12) {
					t.Fatalf("person %d: %v, %v, %v; want %v, %v, %v", p, got.A, got.B, got.Weight, want.A, want.B, want.Weight)
				}
			}
		}
	})
}

// With lambda = 1, gamma constant and no ratios, A V = b says that V(s) is the
// mean over every visit of the return that follows: every-visit Monte Carlo.
func TestOnPolicyWithFullTraceIsEveryVisitMonteCarlo(t *testing.T) {
	d := simulate(t, chain.Options{Episodes: 300, Seed: 4})
	s := sample(t, d, value.Options{Gamma: 0.99, Features: tabular(40)})
	sum, count := make([]float64, 40), make([]float64, 40)
	for e := range d.Episodes() {
		lo, hi := s.Rows(e)
		g := 0.0
		for row := hi - 1; row >= lo; row-- {
			g = d.Reward[row] + 0.99*g
			sum[s.State[row]] += g
			count[s.State[row]]++
		}
	}
	floats.Div(sum, count)
	if got := must(value.WISLSTD{Lambda: 1}.Solve(s)); !floats.EqualApprox(got, sum, 1e-9) {
		t.Errorf("theta %v, want %v", got, sum)
	}
}

// forward makes every trajectory of a tiny problem terminate: what would be cut
// at the horizon ends instead, and the values are those of the stage-wise
// problem, whose states are numbered by stage.
func forward(all []history) {
	for e := range all {
		all[e].terminated = true
		for t := range all[e].steps {
			all[e].steps[t].state += float64(t * tinyStates)
		}
	}
}

// stageValues are the values of the stage-wise problem, stage by stage.
func (m *tiny) stageValues(pi []float64) []float64 {
	v := make([]float64, tinyHorizon*tinyStates)
	for stage := tinyHorizon - 1; stage >= 0; stage-- {
		for s := range tinyStates {
			for a := range tinyActions {
				q := m.lucky[s][a]*m.reward[s][a][1] + (1-m.lucky[s][a])*m.reward[s][a][0]
				if stage+1 < tinyHorizon {
					for next, p := range m.p[s][a][:tinyStates] {
						q += tinyGamma * p * v[(stage+1)*tinyStates+next]
					}
				}
				v[stage*tinyStates+s] += pi[s*tinyActions+a] * q
			}
		}
	}
	return v
}

// At the target policy's values the expectation of b - A V is zero, whatever
// lambda: taken over every trajectory, term by term.
func TestWISLSTDHasTheTargetValuesAsFixedPoint(t *testing.T) {
	draws, passed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		// A draw takes all trajectories, so the first ones do; once one has not passed,
		// rapid needs all that follow to shrink it.
		if draws == passed && passed >= 25 {
			return
		}
		draws++
		m := drawTiny(t)
		behavior, target := drawPolicy(t, "behavior"), drawPolicy(t, "target")
		all, pb, _ := m.enumerate(behavior, target)
		forward(all)
		var table []float64
		for range tinyHorizon {
			table = append(table, target...)
		}
		const n = tinyHorizon * tinyStates
		s := must(value.NewSample(build(all), value.Options{
			Gamma: tinyGamma, Features: tabular(n), Policy: must(policy.NewTable(table, tinyActions, "obs_state")),
		}))
		v := m.stageValues(target)
		residual := make([]float64, n)
		lambda := rapid.Float64Range(0, 1).Draw(t, "lambda")
		for p, c := range traces(s, lambda, value.ByTransition) {
			for i := range residual {
				residual[i] += pb[p] * (c.B[i] - floats.Dot(c.A[i*n:i*n+n], v))
			}
		}
		if !(floats.Norm(residual, math.Inf(1)) <= 1e-10) {
			t.Fatalf("lambda %v: expected residual %v, want 0", lambda, residual)
		}
		passed++
	})
}

// At gamma = lambda = 1 a start state that is never seen again gets the weighted
// importance sampling estimate: its row of A is the trajectory's ratio times the
// unit vector, and its b that ratio times the return, person by person.
func TestWISLSTDReducesToWeightedImportanceSampling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []history
		for _, episodes := range drawPersons(t) {
			for _, h := range episodes {
				for i := range h.steps[1:] {
					h.steps[i+1].state++
				}
				h.steps[0].state = 0
				h.terminated = true
				all = append(all, h)
			}
		}
		s := must(value.NewSample(build(all), value.Options{
			Gamma: 1, Features: tabular(4), Policy: must(policy.NewTable(append([]float64{0.3, 0.7}, drawPolicy(t, "target")...), 2, "obs_state")),
		}))
		num, den := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
		value.ISContributions(num, den, s)
		for p, got := range traces(s, 1, value.ByTransition) {
			// Ratios are below 10^5.
			if !floats.EqualApprox(got.A[:4], []float64{den[p], 0, 0, 0}, 1e-8*(1+den[p])) || !(math.Abs(got.B[0]-num[p]) <= 1e-8*(1+den[p])) {
				t.Fatalf("person %d: A %v, b %v; want %v, %v", p, got.A[:4], got.B[0], den[p], num[p])
			}
		}
	})
}

func TestTracesFollowFinalObservationsAndDiscounts(t *testing.T) {
	// One truncated episode 0 -> 1 -> 2, discounts .5 and .25, lambda 1, ratios 2
	// and 3 (probability 1 over 1/2 and 1/3). Worked by hand from the recursion.
	d := build([]history{{0, []step{{0, 0, 0.5, 1}, {1, 0, 1.0 / 3, 10}}, false, 2}})
	d.Discount = []float64{0.5, 0.25}
	s := sample(t, d, value.Options{Gamma: 1, Features: tabular(3), Policy: must(policy.NewConstant(0))})
	got := traces(s, 1, value.ByTransition)[0]
	// Step 0: z = (2,0,0); A = z (1,-.5,0); b = z. V = .5 z (1,-1,0) = row 0 (1,-1,0);
	// u = .5 z = (1,0,0).
	// Step 1: z = 3 (.5 (2,0,0) + (0,1,0)) = (3,3,0); A += z (0,1,-.25) + 2 V;
	// b += 10 z + 2 u.
	wantA := []float64{2 + 2, -1 + 3 - 2, -0.75, 0, 3, -0.75, 0, 0, 0}
	wantB := []float64{2 + 30 + 2, 30, 0}
	if !floats.EqualApprox(got.A, wantA, 1e-14) || !floats.EqualApprox(got.B, wantB, 1e-13) {
		t.Errorf("A = %v, b = %v; want %v, %v", got.A, got.B, wantA, wantB)
	}
}

func TestWISLSTDRefusesWhatItCannotDo(t *testing.T) {
	d := simulate(t, chain.Options{Episodes: 20, Seed: 1})
	s := sample(t, d, value.Options{Gamma: 1, Features: tabular(40)})
	for name, err := range map[string]error{
		"lambda":      second(value.WISLSTD{Lambda: 1.1}.Solve(s)),
		"lambda NaN":  second(value.WISLSTD{Lambda: math.NaN()}.Solve(s)),
		"weighting":   second(value.WISLSTD{Weighting: 9}.Solve(s)),
		"no features": second(value.WISLSTD{}.Solve(sample(t, d, value.Options{}))),
	} {
		if !errors.Is(err, value.ErrOptions) {
			t.Errorf("%s: %v; want ErrOptions", name, err)
		}
	}
}
