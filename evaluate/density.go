package evaluate

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/rl/policy"
)

// densities reports whether a target is a density of continuous actions.
func (p Public) densities() bool {
	dense := func(pi policy.Policy) bool { c, ok := pi.(policy.ProbColumn); return ok && c.Density }
	return slices.ContainsFunc(p.targets().Policies, func(a NamedPolicy) bool { return dense(a.Policy) })
}

// byRatio refuses densities for a private method that needs more of them than their ratio: that
// its mean is 1 at most is all that the sums of importance sampling rest on
// (docs/proofs/overlap.md, "Densities").
func (p Public) byRatio(method string) error {
	switch method {
	case "auto", "dp-is", "dp-pdis", "dp-wis":
		return nil
	}
	if p.densities() && (p.private() || method == "distribution") {
		return fmt.Errorf("%w: %s needs more of a policy than the ratio of two densities; for continuous actions use dp-is, dp-pdis or dp-wis", ErrMethod, method)
	}
	return nil
}
