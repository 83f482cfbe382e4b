package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/config"
)

// kindDensity is the kind of probabilities that are densities of continuous actions, such as doses.
const kindDensity = "density"

// dense reports whether the columns of probabilities hold densities.
func dense(b *config.Behavior) bool { return b != nil && b.Kind == kindDensity }

// byRatio are the methods that need of policies no more than the ratio of their densities.
var byRatio = []string{"auto", "dp-is", "dp-pdis", "dp-wis", "is", "pdis", "wis"}

// CheckDensity refuses a method that takes the probability of an action to be one, 1 at most, or to be
// known for each of a finite number of actions.
func CheckDensity(method string, params map[string]any) error {
	if !slices.Contains(byRatio, method) {
		return fmt.Errorf("%w: data.behavior.kind is density, and method %s needs more of a policy than the ratio of two densities; want one of %s", config.ErrConfig, method, strings.Join(byRatio, ", "))
	}
	if factor, ok := params["confounding"]; ok && factor != 1 && factor != 1.0 {
		return fmt.Errorf("%w: data.behavior.kind is density, and method.confounding moves the odds of a probability, which a density has not; leave it out", config.ErrConfig)
	}
	return nil
}

// validateDensity refuses what does not go with densities.
func validateDensity(c config.Config) error {
	if !dense(c.Data.Behavior) || !offPolicy(c) {
		return nil
	}
	for i, t := range policiesAsked(c) {
		if t.Kind != "column" && t.Kind != "logged" {
			return fmt.Errorf("%w: %s is of kind %s, over a finite number of actions, and data.behavior.kind is density; want kind column, with the target's density of the logged action", config.ErrConfig, c.TargetKey(i), t.Kind)
		}
	}
	return CheckDensity(c.Method.Name, c.Method.Params)
}
