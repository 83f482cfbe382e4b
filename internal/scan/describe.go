package scan

import (
	"context"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/policy"
)

// describe makes the report on the data for their curator.
func (a *assembly) describe(ctx context.Context) (*overview.Report, error) {
	w, err := a.watched()
	if err != nil {
		return nil, err
	}
	r, err := w.Report()
	if err == nil {
		r.Warnings, err = contradictions(ctx, a.spec, r.Warnings)
	}
	return r, err
}

// doubts are what makes an answer doubtful, which must reach the curator before it is trusted. An
// answer from next to nothing is refused.
func doubts(ctx context.Context, s *spec.Spec, w *overview.Watch, usable, persons int) ([]string, error) {
	told, err := w.Warnings()
	if err != nil {
		return nil, err
	}
	if told, err = contradictions(ctx, s, told); err != nil {
		return nil, err
	}
	o, err := w.Outcome()
	if err != nil {
		return nil, err
	}
	sound, err := answering(s, o, usable, persons)
	if err != nil {
		return nil, err
	}
	nothing, err := Answerable(s, sound, persons)
	if nothing != "" {
		told = append(told, nothing)
	}
	return told, err
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

// facts are what the data are held against.
func facts(s *spec.Spec, plan *evaluate.Plan) overview.Facts {
	p := s.Config.Problem
	f := overview.Facts{Persons: p.Persons, Gamma: s.Public.Gamma, Horizon: p.Horizon, Return: p.Return, Target: s.Public.Target, Learned: s.Config.Target.Kind == "learned"}
	if t := s.Public.Targets; t != nil {
		f.Target = nil
		for _, a := range t.Policies {
			switch {
			case policy.OnPolicy(a.Policy):
			case f.Target == nil:
				f.Target = a.Policy
			default:
				f.Others = append(f.Others, a)
			}
		}
	}
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
	f.OneReward = s.Reading.RewardOnLast || len(s.Reading.OutcomeFiles) > 0 && s.Public.Outcome == nil
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
