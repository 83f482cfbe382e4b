package report

import (
	"encoding/json"

	"github.com/discreet-rl/discreet/rl/feature"
)

// Features names the features of a plan or a release by its public facts, in the
// order of theta; nil where they are known by number alone.
func Features(public map[string]any) []string {
	return features(public).Features()
}

// Tabular reports whether each weight of theta is that of a state, so that [States]
// names it.
func Tabular(public map[string]any) bool { return features(public).Kind == "tabular" }

// features reads the specification of the features; it is empty where it is that of
// another program, whose release holds the words.
func features(public map[string]any) feature.Spec {
	text, err := json.Marshal(public["features"])
	if err != nil {
		return feature.Spec{}
	}
	var s feature.Spec
	if json.Unmarshal(text, &s) != nil {
		return feature.Spec{}
	}
	return s
}

// States names the states of a plan or a release by its public facts, in the order of
// their numbers; nil where they are known by number alone.
func States(public map[string]any) []string { return namesIn(public, "state_names") }

// namesIn are the names that a public fact lists.
func namesIn(public map[string]any, fact string) []string {
	text, err := json.Marshal(public[fact])
	if err != nil {
		return nil
	}
	var names []string
	if json.Unmarshal(text, &names) != nil {
		return nil // the page of a release that names nothing this program knows
	}
	return names
}
