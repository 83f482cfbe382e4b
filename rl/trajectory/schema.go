package trajectory

import (
	"slices"
	"strconv"
	"strings"
)

// SchemaVersion is the version of the canonical schema. A format that can
// carry it does, under SchemaVersionKey, and refuses any other.
const (
	SchemaVersion    = "1"
	SchemaVersionKey = "discreet_schema_version"
)

// The canonical names.
const (
	colEpisode     = "episode_id"
	colStep        = "step"
	colUnit        = "unit_id"
	colObservation = "observation"
	colNextList    = "next_observation"
	colAction      = "action"
	colBehavior    = "behavior_prob"
	colActionProbs = "action_probs"
	colTarget      = "target_prob"
	colReward      = "reward"
	colTerminated  = "terminated"
	colTruncated   = "truncated"
	colDiscount    = "discount"

	prefixObs  = "obs_"
	prefixNext = "next_"
	prefixProb = "prob_"
)

// aliases returns the other names under which a column is recognised, in no
// order of preference: two of them in one file are ambiguous.
func aliases(canonical string) []string {
	switch canonical {
	case colEpisode:
		return []string{"trajectory_id", "traj_id"}
	case colUnit:
		return []string{"patient_id", "subject_id", "user_id", "customer_id", "device_id"}
	case colStep:
		return []string{"t", "timestep", "visit"}
	case colBehavior:
		return []string{"behaviour_prob", "pscore", "propensity_score", "action_prob"}
	case colReward:
		return []string{"click"}
	case colTerminated:
		return []string{"terminal", "terminals", "terminations", "is_terminal"}
	case colTruncated:
		return []string{"timeout", "timeouts", "truncations"}
	case colAction:
		return []string{"item_id", "actions"}
	}
	return nil
}

// CanonicalNames lists the columns of the canonical schema. The three that end
// in a placeholder stand for families: obs_<name>, next_obs_<name>, prob_<k>.
func CanonicalNames() []string {
	return []string{colEpisode, colStep, colUnit, "obs_<name>", colObservation, colAction, colBehavior,
		colActionProbs, "prob_<k>", colTarget, colReward, colTerminated, colTruncated,
		"next_obs_<name>", colNextList, colDiscount}
}

func isCanonical(name string) bool {
	if slices.Contains(CanonicalNames(), name) {
		return !strings.HasSuffix(name, ">")
	}
	if k, ok := strings.CutPrefix(name, prefixProb); ok {
		n, err := strconv.Atoi(k)
		return err == nil && n >= 0 && strconv.Itoa(n) == k
	}
	obs := strings.TrimPrefix(name, prefixNext)
	return strings.HasPrefix(obs, prefixObs) && len(obs) > len(prefixObs)
}
