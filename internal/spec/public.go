package spec

import (
	"fmt"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// mostDecisions bounds a product of two numbers of the configuration.
const mostDecisions = 1 << 40

// publicFacts builds the public facts of a configuration. It opens policy files,
// which are public, and no data.
func publicFacts(c config.Config) (evaluate.Public, error) {
	p := evaluate.Public{
		Persons:        c.Problem.Persons,
		Gamma:          c.Problem.Gamma,
		Discounts:      c.Problem.Discounts,
		Return:         c.Problem.Return,
		Horizon:        c.Problem.Horizon,
		Episodes:       c.Problem.Episodes,
		EpisodeHorizon: c.Problem.EpisodeHorizon,
		Complete:       complete(c),
		Labels:         map[string]any{},

		OneDecision: c.Data.OneRowEpisodes,
	}
	if c.Problem.Reward != nil {
		p.Reward = c.Problem.Reward.Range
	}
	if c.Data.OneRowEpisodes && p.Gamma == 0 {
		p.Gamma = 1 // a single reward is not discounted
	}
	if c.Data.Behavior != nil {
		p.Labels["behavior"] = behaviorLabel(c.Data.Behavior)
		p.Behavior = estimatedBehavior(c.Data.Behavior)
		p.BehaviorPrecision = c.Data.Behavior.Precision
	}
	if c.Problem.End != "" {
		p.Labels["end"] = c.Problem.End
	}
	if words := rewardWords(c); words != "" {
		p.Labels["rewards"] = words
	}
	if c.Data.EpisodePerPerson && p.Episodes == 0 {
		p.Episodes = 1
	}
	if words := ViolationWords(c); words != "" {
		p.Labels["on_violation"] = words
	}
	if p.OneDecision {
		if p.EpisodeHorizon == 1 {
			p.EpisodeHorizon = 0 // which it says already
		}
		if p.Horizon == 0 {
			p.Horizon = p.Episodes
		}
	}
	if p.Horizon == 0 && p.EpisodeHorizon > 0 && p.EpisodeHorizon <= mostDecisions/max(p.Episodes, 1) {
		p.Horizon = p.EpisodeHorizon * p.Episodes
	}
	var err error
	if c.Features != nil {
		p.Labels["features"] = *c.Features
		if p.Features, err = c.Features.Map(); err != nil {
			return p, fmt.Errorf("features: %w", err)
		}
		if names := stateNames(c, p.Features); names != nil {
			p.Labels["state_names"] = names
		}
	}
	if p.Start, err = startDistribution(c, p); err != nil {
		return p, fmt.Errorf("start: %w", err)
	}
	if p.Target, p.Targets, err = targetsOf(c); err != nil {
		return p, err
	}
	p.Labels["target"] = policyLabels(c, p.Targets)
	if c.Target.Kind == learnedKind && c.Data.Actions != nil {
		p.Labels["action_names"] = actionNames(*c.Data.Actions, c.Target.Actions)
	}
	if p.By, err = groupsOf(c); err != nil {
		return p, err
	}
	if p.Outcome, err = outcomeOf(c); err != nil {
		return p, err
	}
	if p.Privacy, err = Guarantee(c); err != nil {
		return p, err
	}
	return p, nil
}

// Guarantee builds the privacy that is asked for, nil for none.
func Guarantee(c config.Config) (*evaluate.Privacy, error) {
	if c.Privacy.None {
		return nil, nil
	}
	switch evaluate.Unit(c.Privacy.Unit) {
	case "", evaluate.Person, evaluate.Episode, evaluate.Row:
	default:
		return nil, fmt.Errorf("%w: privacy.unit is %q; want person, episode or row", config.ErrConfig, c.Privacy.Unit)
	}
	if c.Privacy.Adjacency == "" {
		return nil, fmt.Errorf("%w: privacy.adjacency is missing; want replace_one (%s is public) or add_remove_one (it is not)", config.ErrConfig, evaluate.Unit(c.Privacy.Unit).Words("the number of persons"))
	}
	adjacency, err := dp.ParseAdjacency(c.Privacy.Adjacency)
	if err != nil {
		return nil, fmt.Errorf("privacy.adjacency: %w", err)
	}
	g := &evaluate.Privacy{Unit: evaluate.Unit(c.Privacy.Unit), Adjacency: adjacency, Budget: dp.Budget{Epsilon: c.Privacy.Epsilon, Delta: c.Privacy.Delta}, LargeDelta: c.Privacy.LargeDelta}
	switch c.Privacy.NoiseFamily {
	case "", "auto":
		if c.Ledger != nil && c.Privacy.Delta > 0 {
			g.NoiseFamily = evaluate.GaussianNoise
		}
	default:
		g.NoiseFamily = evaluate.NoiseFamily(c.Privacy.NoiseFamily)
	}
	switch c.Privacy.Noise {
	case "", "exact":
	case "fast":
		g.Fast = true
	default:
		return nil, fmt.Errorf("%w: privacy.noise is %q; want exact or fast", config.ErrConfig, c.Privacy.Noise)
	}
	return g, nil
}
