package report

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
)

// disclosed is one line of what registries of deployments and reviewers ask.
type disclosed struct{ Heading, Text string }

// disclosures lists the fields of tier 3 of the OpenDP Deployments Registry and
// the points of NIST SP 800-226 that stand nowhere else on the page.
func disclosures(d *evaluate.Disclosure) []disclosed {
	if d == nil {
		return nil
	}
	var out []disclosed
	add := func(heading, text string) {
		if text != "" {
			out = append(out, disclosed{heading, text})
		}
	}
	add("Definition", d.Definition)
	add("Model", d.Model)
	add("Actors", d.Actors)
	add("Series", d.Series)
	add("Data domain", d.DataDomain)
	add("Unit of privacy", d.Unit)
	add("Unprotected", strings.Join(d.Unprotected, "; "))
	add("Mechanisms", mechanismWords(d.Mechanisms))
	add("Composition", d.Composition)
	add("Post-processing", d.PostProcessing)
	add("Preparation of the data", d.Preparation)
	add("Tuning", d.Tuning)
	add("Floating point", d.FloatingPoint)
	add("Randomness", d.Randomness)
	add("Timing", d.Timing)
	add("Security of the records", d.Security)
	add("Justification", d.Justification)
	add("Program", d.CodeVersion)
	add("Configuration", d.ConfigHash)
	return out
}

func mechanismWords(uses []evaluate.MechanismUse) string {
	if len(uses) == 0 {
		return "none: the release does not depend on the data"
	}
	var words []string
	for _, u := range uses {
		switch u.Runs {
		case 1:
			words = append(words, u.Kind+", once")
		default:
			words = append(words, fmt.Sprintf("%s, %d times", u.Kind, u.Runs))
		}
	}
	return strings.Join(words, "; ")
}
