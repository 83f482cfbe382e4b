package evaluate_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestMeansByLaplace: the mean of what was logged is worth .49. With pure epsilon the interval holds it in
// at least 95% of releases (fewer than 361 of 400 do with probability below 1e-4 at that rate), it is verified, costs epsilon at delta 0, and where
// noise is the larger error it is narrower than with Gaussian noise at delta 1e-5.
func TestMeansByLaplace(t *testing.T) {
	for name, complete := range map[string]bool{"complete": true, "maybe lost": false} {
		t.Run(name, func(t *testing.T) { meansByLaplace(t, complete) })
	}
}

func meansByLaplace(t *testing.T, complete bool) {
	const persons, releases = 300, 400
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		src, rng := noise.NewSeeded(6), rand.New(rand.NewPCG(6, 7))
		held := 0
		widths, plans := map[evaluate.NoiseFamily]float64{}, map[evaluate.NoiseFamily]*evaluate.Plan{}
		families := []evaluate.NoiseFamily{evaluate.LaplaceNoise, evaluate.GaussianNoise}
		for _, family := range families {
			p := banditPublic(t, persons, adjacency, policy.Logged{})
			p.Complete, p.Privacy.NoiseFamily, p.Privacy.Budget.Epsilon = complete, family, 0.3
			if family == evaluate.LaplaceNoise {
				p.Privacy.Budget.Delta = 0
			}
			plans[family] = must(evaluate.DPIS{}.Plan(p))
		}
		for range releases {
			d := bandit(rng, persons)
			for _, family := range families {
				r := runOf(t, plans[family], d, src)
				e := r.Answers[0].Estimate
				widths[family] += e.Interval[1] - e.Interval[0]
				if family == evaluate.GaussianNoise {
					continue
				}
				if e.Interval[0] <= 0.49 && 0.49 <= e.Interval[1] {
					held++
				}
				if held == 1 {
					plan, err := evaluate.Replan(r, nil, nil)
					if err == nil {
						err = plan.Verify(r)
					}
					if _, pure := plan.Event.(dp.DiscreteLaplace); err != nil || !pure || plan.Epsilon.Upper > 0.3 {
						t.Fatalf("%v: epsilon %v of %T", err, plan.Epsilon, plan.Event)
					}
				}
			}
		}
		if held < 361 {
			t.Errorf("%v: %d of %d intervals hold", adjacency, held, releases)
		}
		if l, g := widths[evaluate.LaplaceNoise], widths[evaluate.GaussianNoise]; !(l < 0.9*g) {
			t.Errorf("%v: mean widths %v with Laplace noise and %v with Gaussian", adjacency, l/releases, g/releases)
		}
	}
}

// TestTheFamilyIsChosenByWidth: without a family the narrower one, and none beside what Laplace noise does
// not pay for.
func TestTheFamilyIsChosenByWidth(t *testing.T) {
	p := banditPublic(t, 300, dp.ReplaceOne, policy.Logged{})
	p.Complete = true
	plan, err := evaluate.DPIS{}.Plan(p)
	if _, pure := plan.Event.(dp.DiscreteLaplace); err != nil || !pure {
		t.Errorf("%v, %T; want Laplace noise", err, plan.Event)
	}
	p.Privacy.Budget = dp.Budget{Epsilon: 20, Delta: 0.003} // where Gaussian noise is smaller
	if plan, err = (evaluate.DPIS{}).Plan(p); err != nil {
		t.Fatal(err)
	}
	if _, pure := plan.Event.(dp.Gaussian); !pure && plan.Expected.StdPrivacy > 0.001 {
		t.Errorf("%T at epsilon 20", plan.Event)
	}
	p.Privacy.Budget = dp.Budget{Epsilon: 1, Delta: 1e-5}
	p.Privacy.NoiseFamily = evaluate.GaussianNoise
	if plan, err = (evaluate.DPIS{}).Plan(p); err != nil || !strings.Contains(strings.Join(plan.Notes, " "), "privacy.noise_family: laplace") {
		t.Errorf("%v: the plan does not tell of the other family: %q", err, plan.Notes)
	}
	p.Privacy.NoiseFamily, p.Privacy.Budget.Delta, p.Complete = "", 0, false
	p.By = &evaluate.Groups{Column: "obs_x", Of: []evaluate.Group{{Name: "a", Number: 0}, {Name: "b", Number: 1}}}
	if _, err := (evaluate.DPIS{}).Plan(p); !errors.Is(err, dp.ErrBudget) {
		t.Errorf("delta 0 of groups: %v", err)
	}
	for name, change := range map[string]func(p *evaluate.Public, m *evaluate.DPIS){
		"diagnostics": func(p *evaluate.Public, m *evaluate.DPIS) { m.Diagnostics = 0.1 },
		"clip":        func(p *evaluate.Public, m *evaluate.DPIS) { m.Clip = "auto" },
		"fast":        func(p *evaluate.Public, m *evaluate.DPIS) { p.Privacy.Fast = true },
		"weights":     func(p *evaluate.Public, m *evaluate.DPIS) { p.Target = policy.ProbColumn{} },
	} {
		q, m := banditPublic(t, 30000, dp.ReplaceOne, policy.Logged{}), evaluate.DPIS{}
		q.Complete, q.Privacy.NoiseFamily = true, evaluate.LaplaceNoise
		change(&q, &m)
		if _, err := m.Plan(q); !errors.Is(err, evaluate.ErrMethod) && !errors.Is(err, evaluate.ErrPublic) {
			t.Errorf("%s beside Laplace noise: %v", name, err)
		}
	}
}
