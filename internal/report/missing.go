package report

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
)

// One is the answer about a single policy; nil where several are asked about, or none.
func One(r *evaluate.Release) *evaluate.PolicyAnswer {
	if len(r.Answers) != 1 || r.Answers[0].Estimate == nil || r.JointConfidence != 0 {
		return nil
	}
	return &r.Answers[0]
}

// diagnosticsOf are those of the answer about a single policy, else those of all of a release.
func diagnosticsOf(r *evaluate.Release) map[string]any {
	if one := One(r); one != nil {
		return one.Diagnostics
	}
	return r.Diagnostics
}

// Missing tells how much of what the target policy would do the data of a release do not
// vouch for, with its standard error, of noise and of the choice of persons; false where
// the release does not say.
func Missing(r *evaluate.Release) (share, sd float64, ok bool) {
	return missing(diagnosticsOf(r))
}

func missing(diagnostics map[string]any) (share, sd float64, ok bool) {
	m, err := normalise("diagnostics", diagnostics)
	if err != nil {
		return 0, 0, false
	}
	mass, _ := m["missing_mass"].(map[string]any)
	share, ok = number(mass["share"])
	if !ok {
		return 0, 0, false
	}
	sd, ok = number(mass["share_std"])
	return share, sd, ok
}

// Unguarded reports whether the interval allows for no missing mass, since by the design and
// by the curator's statement nothing is missing, and the release does not contradict them.
func Unguarded(r *evaluate.Release) bool {
	share, sd, ok := Missing(r)
	return ok && fmt.Sprint(r.Public["tier"]) == "0" && (share < told || share < 2*sd)
}

// PlugIn reports whether the value is what a model says, about which the interval of
// another estimate does not stand: by how much that one is lengthened is then not told.
func PlugIn(r *evaluate.Release) bool {
	_, ok := diagnosticsOf(r)["model"]
	return ok
}

// told is the share of the missing mass from which on a release doubts that nothing is
// missing.
const told = 0.005

// Shares of the missing mass from which on a headline says that the data answer for a part
// of the question, and that they are why there is no answer.
const (
	partly = 0.1
	mostly = 0.5
)

// Asked says in words what missing mass is a share of.
func Asked(r *evaluate.Release) string {
	if r.Public["on_policy"] == true {
		return "what happened"
	}
	return "what the target policy would do"
}

// missingWords says what a missing share of the target policy's weight is.
func missingWords(r *evaluate.Release, share float64) string {
	if r.Public["on_policy"] == true {
		return fmt.Sprintf("The data say nothing about %.0f%% of what happened: it was in episodes that cannot be used and were left out, or comes after a record was cut off.", 100*share)
	}
	why := "it was never logged, was logged so rarely that its weight was clipped, was in episodes that cannot be used and were left out, or comes after a record was cut off"
	if public, err := normalise("public", r.Public); err == nil {
		if factor, ok := number(public["confounding"]); ok && factor > 1 {
			why = fmt.Sprintf("it is left open by hidden confounding, which may have changed the odds of logged actions by the stated factor of %s, or ", exact(factor)) + why
		}
	}
	return fmt.Sprintf("The data say nothing about %.0f%% of what the target policy would do: %s.", 100*share, why)
}

// allDiagnostics are those of all answers, and of the release.
func allDiagnostics(r *evaluate.Release) []map[string]any {
	out := []map[string]any{r.Diagnostics}
	for _, a := range r.Answers {
		out = append(out, a.Diagnostics)
	}
	return out
}

// Refuted says in words that the weights of a release show the probabilities of the
// logged actions to be wrong; it is empty where they do not.
func Refuted(r *evaluate.Release) string {
	for _, of := range allDiagnostics(r) {
		m, err := normalise("diagnostics", of)
		if err != nil {
			continue
		}
		found, _ := m["weights_refuted"].(map[string]any)
		if mean, ok := number(found["mean_weight"]); ok {
			return fmt.Sprintf("The probabilities of the logged actions are wrong: the mean weight of a person is %s, but with correct probabilities it is at most 1. A common cause is an arm that was drawn once but is recorded as drawn again at each decision. Every interval that uses these probabilities is the whole public range.", significant(mean, digits, down))
		}
	}
	return ""
}

// InPart says in words that the data answer for a part of the question alone. It is empty
// where what is missing is little or may be noise, and where there is no answer at all. Of
// several answers the one that lacks most decides.
func InPart(r *evaluate.Release) string {
	if r.Survival != nil {
		return unusableWords(r)
	}
	most, of, all := 0.0, "", 0
	lacks := func(name string, diagnostics map[string]any) {
		share, sd, ok := missing(diagnostics)
		if !ok || share < partly || share < 2*sd {
			return
		}
		if all++; share > most {
			most, of = share, name
		}
	}
	lacks("the distribution", r.Diagnostics)
	for _, a := range r.Answers {
		lacks(a.Name, a.Diagnostics)
	}
	if most == 0 || Unanswered(r) != "" {
		return ""
	}
	words := missingWords(r, most) + " For this share the interval allows any value in the public range."
	if One(r) == nil {
		words = AnswerName(r.Public, of) + ": " + words
	}
	if all > 1 {
		words += fmt.Sprintf(" It lacks most of %d answers that lack %.0f%% or more.", all, 100*partly)
	}
	return words
}
