package report

import "github.com/discreet-rl/discreet/evaluate"

// formOf is what a release of survival has of target policies: curves or limits; empty where each
// person is in one arm.
func formOf(r *evaluate.Release) string {
	form, _ := r.Public["form"].(string)
	if r.Survival == nil {
		return ""
	}
	return form
}

func underPolicies(r *evaluate.Release) bool { return formOf(r) != "" }

// armNoun is what an arm of a release is.
func armNoun(r *evaluate.Release) string {
	if underPolicies(r) {
		return "policy"
	}
	return "arm"
}

// policiesCount says what the method does under target policies.
const policiesCount = "Under each policy a person counts by how much more likely their decisions are under it than they were: by the time at which they left, and by whether they left with an event. All results follow from these sums. Noise hides each person’s contribution."

// policyBiases are what the intervals of survival under policies do not allow for.
func policyBiases(r *evaluate.Release, add adder) {
	if formOf(r) == "curves" {
		add(unmeasured, "Censoring that depends on prognosis", "Curves and means assume that under each policy persons whose follow-up ended would have fared like those who were followed on, and that their leaving did not depend on what the policy goes by. If it did, the curves are wrong, and nothing in the release shows it.")
	}
	add(unmeasured, "Wrong probabilities of the logged actions", "Every weight divides by them. If they are wrong, all results are.")
	everySurvivalBias(add)
}
