package examine

import (
	"context"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestChoicesAreCertified: every pair of a plan by permute-and-flip stays within its
// epsilon, one of them needs most of it, and held against half of it some pair refutes it.
func TestChoicesAreCertified(t *testing.T) {
	constant, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	uniform, err := policy.NewUniform(2)
	if err != nil {
		t.Fatal(err)
	}
	j := Job{Estimator: evaluate.DPIS{MaxWeight: 2}, Seed: 1, Public: evaluate.Public{
		Persons: 6, Gamma: 1, Horizon: 2, Reward: evaluate.Range{Min: 0, Max: 1},
		Targets: &evaluate.Targets{Levels: []string{"a", "b"}, Best: true, Choose: &evaluate.Choice{By: "permute-and-flip"},
			Policies: []evaluate.NamedPolicy{{Name: "a", Policy: constant}, {Name: "b", Policy: uniform}}},
		Privacy: &evaluate.Privacy{Adjacency: dp.AddRemoveOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-2}},
	}, persons: 6}
	plan, err := j.Estimator.Plan(j.Public)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := j.pairs(plan, j.Public, 40)
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{plan: plan, event: plan.Event, pairs: pairs, chooses: 1}
	var o outcome
	if err := s.certifyChoices(context.Background(), &o); err != nil || len(o.broken) > 0 || o.worst < 0.6 {
		t.Errorf("worst share of epsilon %v, broken %v, %v", o.worst, o.broken, err)
	}
	s.chooses = 0.5
	o = outcome{}
	if err := s.certifyChoices(context.Background(), &o); err != nil || len(o.broken) == 0 || o.by != "replay certificate" {
		t.Errorf("half the epsilon is not refuted: %+v, %v", o, err)
	}
	o = outcome{}
	if err := s.countChoices(context.Background(), &o, false); err != nil || len(o.broken) > 0 {
		t.Errorf("chances that are as told are refuted: %q, %v", o.broken, err)
	}
	told, err := misrated(&j, *s, 0)
	if err != nil {
		t.Fatal(err)
	}
	o = outcome{}
	if err := told.countChoices(context.Background(), &o, true); err != nil || o.by != "distribution of choices" {
		t.Errorf("a third of the rate is not refuted: %+v, %v", o, err)
	}
}
