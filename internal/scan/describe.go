package scan

import (
	"context"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// describe makes the report on the data for their curator.
func describe(ctx context.Context, s *spec.Spec, data *trajectory.Dataset, plan *evaluate.Plan) (*overview.Report, error) {
	r, err := lookAt(s, data, facts(s, plan), overview.Look, func(r *overview.Report) *[]string { return &r.Warnings })
	if err != nil {
		return nil, err
	}
	r.Warnings, err = contradictions(ctx, s, r.Warnings)
	return r, err
}

// warnings are those that look would give.
func warnings(ctx context.Context, s *spec.Spec, data *trajectory.Dataset, plan *evaluate.Plan) ([]string, error) {
	warn := func(d *trajectory.Dataset, f overview.Facts) (*[]string, error) {
		told, err := overview.Warn(d, f)
		return &told, err
	}
	told, err := lookAt(s, data, facts(s, plan), warn, func(told *[]string) *[]string { return told })
	if err != nil {
		return nil, err
	}
	return contradictions(ctx, s, *told)
}

// contradictions adds to warnings what in the data contradicts the configuration.
func contradictions(ctx context.Context, s *spec.Spec, warnings []string) ([]string, error) {
	for _, look := range []func(context.Context, *spec.Spec) (string, error){contradiction, cutOff} {
		doubt, err := look(ctx, s)
		if err != nil {
			return warnings, err
		}
		if doubt != "" {
			warnings = append(warnings, doubt)
		}
	}
	return warnings, nil
}

// facts are what the data are held against, but for a target policy where there
// are several.
func facts(s *spec.Spec, plan *evaluate.Plan) overview.Facts {
	p := s.Config.Problem
	f := overview.Facts{Persons: p.Persons, Gamma: s.Public.Gamma, Horizon: p.Horizon, Return: p.Return, Target: s.Public.Target}
	f.Lower = s.Public.Privacy != nil && s.Public.Privacy.Adjacency == dp.AddRemoveOne
	switch {
	case s.Public.OneDecision:
		f.Horizon = 1
	case s.Public.EpisodeHorizon > 0:
		f.Horizon = s.Public.EpisodeHorizon
	}
	if p.Reward != nil {
		f.Reward = &p.Reward.Range
	}
	if s.Public.Outcome != nil {
		public := s.Public
		f.Outcome = &public
	}
	if m, ok := s.Estimator.(evaluate.DPDistribution); ok && m.Discrete {
		f.Listed, _ = plan.Facts["ends"].([]float64)
	}
	f.Cap = plan.TrajectoryCap()
	f.Words = spec.ActionWords(s.Config.Data)
	f.Estimated, f.Features = s.Public.Behavior, s.Public.Features
	return f
}

// lookAt describes the data beside the policy, or beside the first that is not the
// logged one; what is doubtful about another of several is a warning with its name.
func lookAt[T any](s *spec.Spec, data *trajectory.Dataset, f overview.Facts, look func(*trajectory.Dataset, overview.Facts) (*T, error), warnings func(*T) *[]string) (*T, error) {
	if s.Public.Targets == nil {
		return look(data, f)
	}
	var first *T
	for _, a := range s.Public.Targets.Policies {
		if policy.OnPolicy(a.Policy) {
			continue
		}
		f.Target = a.Policy
		r, err := look(data, f)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = r
			continue
		}
		told := warnings(first)
		for _, w := range *warnings(r) {
			if !slices.Contains(*told, w) {
				*told = append(*told, "policy "+a.Name+": "+w)
			}
		}
	}
	return first, nil
}
