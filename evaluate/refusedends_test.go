// Public facts at their ends: what no mechanism could carry out is refused with the plan, before anything is charged.

package evaluate

import (
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

func TestWhatNoMechanismCarriesOutIsRefusedBeforeItIsPaid(t *testing.T) {
	with := func(change func(p *Public)) Public {
		p := ringPublic(t, 1000)
		p.Privacy.Budget = dp.Budget{Epsilon: 1, Delta: 1e-5}
		p.Target = policy.Logged{}
		change(&p)
		return p
	}
	states := func(n int) Public {
		return with(func(p *Public) {
			f, err := feature.NewTabular(n, "obs_state")
			if err != nil {
				t.Fatal(err)
			}
			p.Features = f
		})
	}
	learned := func(p Public) Public {
		var err error
		if p.Target, err = policy.NewUniform(2); err != nil {
			t.Fatal(err)
		}
		return p
	}
	usual := with(func(*Public) {})
	survival := func(epsilon float64) Public {
		return with(func(p *Public) {
			p.Privacy.Budget, p.Privacy.NoiseFamily = dp.Budget{Epsilon: epsilon}, LaplaceNoise
			p.Features, p.Horizon, p.Gamma, p.Reward = nil, 1, 1, Range{}
			p.Outcome = &Outcome{Event: "obs_end", Causes: []Cause{{Name: "end", Number: 1}}, Censored: []float64{0}, Ends: []float64{1, 2}}
		})
	}
	for name, q := range map[string]struct {
		method Estimator
		public Public
		want   error
	}{
		"a share":                     {DPIS{Diagnostics: 1e-3}, usual, nil},
		"next to no share":            {DPIS{Diagnostics: 1e-24}, usual, dp.ErrBudget},
		"next to no share of a model": {DPFQE{StartShare: 1e-24}, usual, dp.ErrBudget},
		"states":                      {DPFQE{Form: "state", Interval: "none"}, states(5000), nil},
		"states by the gigabyte":      {DPFQE{Form: "state", Interval: "none"}, states(6000), ErrPublic},
		"pooled states":               {DPFQE{Form: "pooled", Interval: "none"}, states(6000), nil},
		"listed states":               {DPRefine{}, states(1 << 19), nil},
		"too many to be listed":       {DPRefine{}, states(1<<19 + 1), ErrPublic},
		"a baseline of too many":      {DPDR{Baseline: "state"}, states(1<<19 + 1), ErrPublic},
		"a rule of too many":          {DPLearn{}, learned(states(1<<17 + 1)), ErrPublic},
		"survival":                    {DPSurvival{}, survival(1e-11), nil},
		"survival of no budget":       {DPSurvival{}, survival(1e-12), mechanism.ErrParameter},
	} {
		if _, err := q.method.Plan(q.public); !errors.Is(err, q.want) {
			t.Errorf("%s: %v; want %v", name, err, q.want)
		}
	}
}
