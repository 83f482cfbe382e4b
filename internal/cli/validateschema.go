package cli

import (
	"fmt"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// dataSchema says what a data file must hold; it is what `validate --schema` reads:
//
//	columns: {reward: click, behavior_prob: propensity_score}
//	one_row_episodes: true
//	need: [action, behavior_prob]
//	reward: {min: 0, max: 1}
//	missing: zero
type dataSchema struct {
	Columns        map[string]string  `yaml:"columns"`
	OneRowEpisodes bool               `yaml:"one_row_episodes"`
	Multiline      bool               `yaml:"multiline"`
	Observations   []string           `yaml:"observations"`
	Need           []string           `yaml:"need"`
	Reward         *discreet.Bounds   `yaml:"reward"`
	Missing        string             `yaml:"missing"`
	Means          map[string]float64 `yaml:"means"`
}

// loadSchema reads a schema from a file. An empty path is the canonical schema:
// every part is checked where it is there, and none is required.
func loadSchema(path string) (trajectory.Options, error) {
	var s dataSchema
	if path != "" {
		var err error
		if s, err = config.Load[dataSchema](path, nil); err != nil {
			return trajectory.Options{}, err
		}
	}
	return s.options(path)
}

func (s dataSchema) options(name string) (trajectory.Options, error) {
	o := trajectory.Options{
		Columns:        s.Columns,
		Observations:   s.Observations,
		OneRowEpisodes: s.OneRowEpisodes,
		Multiline:      s.Multiline,
		Means:          s.Means,
		Optional:       trajectory.AllParts,
	}
	if s.OneRowEpisodes {
		o.Optional &^= trajectory.Final
	}
	for _, part := range s.Need {
		p, ok := parts()[part]
		if !ok {
			return o, fmt.Errorf("%w: %s: need: unknown part %q; want action, behavior_prob, action_probs, target_prob, discount or final", discreet.ErrSyntax, name, part)
		}
		o.Need |= p
	}
	if s.Reward != nil {
		o.Reward = &trajectory.Range{Min: s.Reward.Min, Max: s.Reward.Max}
		switch s.Reward.Outside {
		case "", "reject":
		case "clip":
			o.ClipRewards = true
		default:
			return o, fmt.Errorf("%w: %s: reward.outside is %q; want reject or clip", discreet.ErrSyntax, name, s.Reward.Outside)
		}
	}
	if name == "" {
		s.Missing = "zero" // the canonical schema leaves missing observations to the evaluation
	}
	switch s.Missing {
	case "", "reject":
	case "zero":
		o.Missing = trajectory.MissingZero
	case "mean":
		o.Missing = trajectory.MissingMean
	default:
		return o, fmt.Errorf("%w: %s: missing is %q; want reject, zero or mean", discreet.ErrSyntax, name, s.Missing)
	}
	return o, nil
}

func parts() map[string]trajectory.Parts {
	return map[string]trajectory.Parts{
		"action":        trajectory.Action,
		"behavior_prob": trajectory.BehaviorProb,
		"action_probs":  trajectory.ActionProbs,
		"target_prob":   trajectory.TargetProb,
		"discount":      trajectory.Discount,
		"final":         trajectory.Final,
	}
}
