package evaluate

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

func TestBaselineFollowsPublicFacts(t *testing.T) {
	table, err := policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	tabular, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		persons, horizon int64
		target           policy.Policy
		features         feature.Map
		method           DPDR
		want             string
	}{
		{10000, 100, table, tabular, DPDR{Baseline: "state"}, "state"},
		{100, 100, table, tabular, DPDR{}, "value"},
		{10000, 100, table, nil, DPDR{}, "value"},
		{10000, 1, table, nil, DPDR{Baseline: "action"}, "action"},
		{10000, 1, table, nil, DPDR{}, "value"},
		{10000, 1, policy.ProbColumn{}, nil, DPDR{}, "value"},
		{10000, 100, policy.Logged{}, tabular, DPDR{}, "none"},
		{10000, 100, table, tabular, DPDR{StateValues: chain.Values(0.6, 0.99)}, "public"},
		{10000, 100, table, nil, DPDR{ActionValues: []float64{0, 1}}, "public"},
	} {
		p := Public{Persons: c.persons, Gamma: 0.99, Horizon: c.horizon, Reward: Range{Min: 0, Max: 1},
			Features: c.features, Target: c.target,
			Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}}}
		plan, err := c.method.Plan(p)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got := plan.Facts["baseline"]; got != c.want {
			t.Errorf("persons %d, horizon %d, target %T: baseline %v; want %v", c.persons, c.horizon, c.target, got, c.want)
		}
	}
	p := Public{Persons: 1000, Gamma: 0.99, Horizon: 10, Reward: Range{Min: 0, Max: 1}, Target: policy.ProbColumn{},
		Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}}}
	one := 1.0
	for name, m := range map[string]DPDR{
		"unknown":           {Baseline: "best"},
		"action unknown":    {Baseline: "action"},
		"no states":         {Baseline: "state"},
		"nothing public":    {Baseline: "public"},
		"two at once":       {Constant: &one, ActionValues: []float64{1}},
		"wrong length":      {StateValues: []float64{1}},
		"not finite":        {ActionValues: []float64{math.NaN()}},
		"public and paid":   {Constant: &one, Baseline: "value"},
		"share for nothing": {Constant: &one, BaselineShare: 0.2},
		"nothing left":      {Baseline: "value", BaselineShare: 0.6, Diagnostics: 0.4},
		"negative share":    {Baseline: "value", BaselineShare: -0.1},
		"negative weight":   {MaxWeight: -1},
	} {
		if plan, err := m.Plan(p); err == nil {
			t.Errorf("%s: planned %v", name, plan.Event)
		}
	}
}
