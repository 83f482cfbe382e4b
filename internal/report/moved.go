package report

import "github.com/discreet-rl/discreet/evaluate"

// Moved tells what the model of a direct method said where the interval excludes it, so
// that the value of the release is the end of the interval instead; false elsewhere.
func Moved(r *evaluate.Release) (says float64, moved bool) {
	one := One(r)
	if one == nil {
		return 0, false
	}
	m, err := normalise("diagnostics", one.Diagnostics)
	if err != nil {
		return 0, false
	}
	model, _ := m["model"].(map[string]any)
	says, ok := number(model["value"])
	return says, ok && says != one.Estimate.Value
}
