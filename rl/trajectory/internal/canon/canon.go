package canon

import (
	"slices"
	"strconv"
	"strings"
)

// The canonical names.
const (
	Episode         = "episode_id"
	Step            = "step"
	Unit            = "unit_id"
	Observation     = "observation"
	NextObservation = "next_observation"
	Action          = "action"
	BehaviorProb    = "behavior_prob"
	ActionProbs     = "action_probs"
	TargetProb      = "target_prob"
	Reward          = "reward"
	Terminated      = "terminated"
	Truncated       = "truncated"
	Discount        = "discount"

	PrefixObs  = "obs_"
	PrefixNext = "next_"
	PrefixProb = "prob_"

	SuffixMissing = "_missing"
)

// Aliases returns the other names under which a column is recognised, in no
// order of preference: two of them in one file are ambiguous.
func Aliases(canonical string) []string {
	switch canonical {
	case Episode:
		return []string{"trajectory_id", "traj_id"}
	case Unit:
		return []string{"patient_id", "subject_id", "user_id", "customer_id", "device_id"}
	case Step:
		return []string{"t", "timestep", "visit"}
	case BehaviorProb:
		return []string{"behaviour_prob", "pscore", "propensity_score", "action_prob"}
	case Reward:
		return []string{"click"}
	case Terminated:
		return []string{"terminal", "terminals", "terminations", "is_terminal"}
	case Truncated:
		return []string{"timeout", "timeouts", "truncations"}
	case Action:
		return []string{"item_id", "actions"}
	}
	return nil
}

// Means returns the canonical name of the column that a file's column of this name
// is taken for where nothing is mapped, "" if it is taken for none.
func Means(column string) string {
	if Has(column) {
		return column
	}
	for _, canonical := range Names() {
		if slices.Contains(Aliases(canonical), column) {
			return canonical
		}
	}
	return ""
}

// Names lists the columns of the canonical schema. The three that end
// in a placeholder stand for families: obs_<name>, next_obs_<name>, prob_<k>.
func Names() []string {
	return []string{Episode, Step, Unit, "obs_<name>", Observation, Action, BehaviorProb,
		ActionProbs, "prob_<k>", TargetProb, Reward, Terminated, Truncated,
		"next_obs_<name>", NextObservation, Discount}
}

// Has reports whether a name is that of a column of the schema, or of a column
// of one of its families.
func Has(name string) bool {
	if slices.Contains(Names(), name) {
		return !strings.HasSuffix(name, ">")
	}
	if k, ok := strings.CutPrefix(name, PrefixProb); ok {
		n, err := strconv.Atoi(k)
		return err == nil && n >= 0 && strconv.Itoa(n) == k
	}
	obs := strings.TrimPrefix(name, PrefixNext)
	return strings.HasPrefix(obs, PrefixObs) && len(obs) > len(PrefixObs)
}
