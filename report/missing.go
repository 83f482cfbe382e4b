package report

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
)

// Missing tells how much of what the target policy would do the data of a release do not
// vouch for, with its standard error, of noise and of the choice of persons; false where
// the release does not say.
func Missing(r *evaluate.Release) (share, sd float64, ok bool) {
	m, err := normalise("diagnostics", r.Diagnostics)
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

// Shares of the missing mass from which on a headline says that the data answer for a part
// of the question, and that they are why there is no answer.
const (
	partly = 0.1
	mostly = 0.5
)

// missingWords says what a missing share of the target policy's weight is.
func missingWords(share float64) string {
	return fmt.Sprintf("The data do not vouch for %.0f%% of what the target policy would do: it was never tried, or so rarely that its weight was cut, or it lies after a record was cut off.", 100*share)
}

// InPart says in words that the data answer for a part of the question alone. It is empty
// where what is missing is little or may be noise, and where there is no answer at all.
func InPart(r *evaluate.Release) string {
	share, sd, ok := Missing(r)
	if !ok || r.Estimate == nil || share < partly || share < 2*sd || Unanswered(r) != "" {
		return ""
	}
	return missingWords(share) + " There the interval allows for anything in the public range."
}
