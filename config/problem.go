package config

import (
	"github.com/discreet-rl/discreet/evaluate"
)

// Problem is what is publicly known. None of it may be read off the data.
type Problem struct {
	// Persons is the public number of persons, or of the units of Privacy.Unit; under
	// add_remove_one a public lower bound on it. It is optional under replace_one without
	// a ledger: the check then counts them.
	Persons int64 `yaml:"persons"`
	// Gamma is the discount in (0, 1].
	Gamma float64 `yaml:"gamma"`
	// Discounts reads a discount for each decision from the data instead.
	Discounts bool `yaml:"discounts"`
	// Reward bounds one reward.
	Reward *Bounds `yaml:"reward"`
	// Return is an optional tighter bound on a trajectory's discounted return.
	Return *evaluate.Range `yaml:"return"`
	// Horizon is the largest number of decisions that a person contributes.
	Horizon int64 `yaml:"horizon"`
	// Episodes is the largest number of trajectories that a person contributes; 0
	// means no cap other than Horizon.
	Episodes int64 `yaml:"episodes"`
	// EpisodeHorizon is the largest number of decisions of one trajectory; 0 means
	// Horizon. With Episodes it gives Horizon, where that is left out.
	EpisodeHorizon int64 `yaml:"episode_horizon" json:",omitempty"`
	// End is what the last row of an episode means: terminated, truncated, or column (the
	// default), which reads the columns with these names. Methods that bootstrap from
	// the observation after the last decision require it.
	End string `yaml:"end" json:",omitempty"`
	// Records may be complete: the curator states that the file holds every decision of
	// every person, and that each is used unchanged. The check refuses data from
	// which anything would be left out or replaced.
	Records string `yaml:"records" json:",omitempty"`
}

// Bounds is a closed interval of public bounds on one reward.
type Bounds struct {
	evaluate.Range `yaml:",inline"`
	// Outside says how to treat a reward outside the bounds: clip or reject. The default is
	// clip if violations are repaired (Data.OnViolation), and reject if they are rejected.
	Outside string `yaml:"outside"`
}
