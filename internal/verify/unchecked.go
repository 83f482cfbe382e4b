package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// unnoticed are fields of a release that was planned again of which at least one could be
// written otherwise without contradicting another, and why. A path stands for all that is
// below it, and [] for every element of a list.
type unnoticed struct {
	paths []string
	why   string
	// where limits them to some releases; nil means wherever the fields are.
	where func(r *evaluate.Release) bool
}

var unnoticedFields = []unnoticed{
	{[]string{"method"}, "another method would have planned and released the same", alike},
	{[]string{"disclosure.code_version", "disclosure.config_hash", "disclosure.justification"}, "statements of whoever made the release", nil},
	{[]string{"public.rewards"}, "what an empty reward means is a statement of the curator", nil},
	{[]string{"public.behavior"}, "where the probabilities of logged actions come from is a statement of the curator", nil},
	{[]string{"public.target", "public.actions", "public.targets.policies[].actions"}, "what is in the file of a policy, or in its columns, is not in the release", nil},
	{[]string{"public.features", "public.state_names", "public.action_names", "public.estimated_behavior.column", "public.by.column", "public.by.groups[].number", "public.outcome.event", "public.outcome.causes[].number", "public.outcome.censored", "public.outcome.strata"},
		"which columns were read, on which scale, and which of their values is meant is not in the release", nil},
	{[]string{"public.targets.differences[].ratios", "public.targets.differences[].products"}, "how the ratios of two policies go together may matter over several decisions alone", decidesOnce},
	{[]string{"public.design.ended"}, "whether all episodes ended is a statement of the curator, and does not always bound weights", nil},
	{[]string{"public.parameters"}, "parameters of the method that are at their default, or that no other field shows", nil},
	{[]string{"public.persons"}, "no other field shows it", hidesPersons},
	{[]string{"public.reward", "public.return", "public.gamma", "public.discounts", "public.episode_horizon"}, ofNothing, givesReturn},
	{[]string{"public.horizon", "public.episodes"}, ofNothing, func(r *evaluate.Release) bool { return givesReturn(r) && r.Public["counted"] == nil }}, // else a note tells them
	{[]string{"public.gamma", "public.discounts"}, "nothing is discounted over one decision", decidesOnce},
	{[]string{"public.design.squares", "public.design.usual", "public.design.each", "public.forecast", "public.anchored"}, "what forecasts suppose, and choices by them, may come to the same", nil},
	{[]string{"privacy.epsilon", "privacy.delta", "privacy.noise"}, "the release costs nothing and has no noise", isConstant},
	{[]string{"theta"}, "noisy numbers, which follow from nothing in the release", nil},
	{[]string{"diagnostics.sums", "diagnostics.learning", "diagnostics.practice.sums", "diagnostics.covariate", "diagnostics.behavior", "diagnostics.masses_by_cell", "diagnostics.baseline", "diagnostics.overlap.mean_weight", "diagnostics.overlap.clipped_share",
		"answers[].diagnostics.sums", "answers[].diagnostics.behavior", "answers[].diagnostics.masses_by_cell", "answers[].diagnostics.baseline", "answers[].diagnostics.overlap.mean_weight", "answers[].diagnostics.overlap.clipped_share"},
		"noisy numbers: a change is noticed only where another field follows from it", nil},
	{[]string{"diagnostics.cells"}, "noisy numbers: of parts of the rule in which nobody is nothing follows", func(r *evaluate.Release) bool { return r.Learned != nil }},
	{[]string{"diagnostics.std_privacy_by_coordinate", "diagnostics.persons_by_coordinate", "diagnostics.spread_of_returns"},
		"errors and counts that are made of noisy numbers which are not in the release", nil},
	{[]string{"diagnostics.model", "answers[].diagnostics.model"}, "the noisy counts or moments behind the model are not in the release; value and standard deviations of the estimate follow from it, and the interval does not", nil},
	{[]string{"diagnostics.weights", "answers[].diagnostics.weights"}, "weights of the data, without noise", nil},
	{[]string{"ledger.dataset", "ledger.ledger", "ledger.time", "ledger.key", "ledger.analyst", "ledger.purpose", "ledger.spent", "ledger.shares", "ledger.contract", "ledger.seq", "ledger.entry", "ledger.head"},
		"only the ledger knows (discreet ledger verify LEDGER RELEASE.json)", nil},
}

// notChecked names the fields of a release that neither its plan nor other fields
// determine: PATH, PATH: why.
func (v *Verification) notChecked(root map[string]any) []string {
	var out []string
	say := func(paths []string, why string) {
		if len(paths) > 0 {
			out = append(out, strings.Join(paths, ", ")+": "+why)
		}
	}
	for _, u := range unnoticedFields {
		if u.where != nil && !u.where(v.Release) {
			continue
		}
		say(slices.DeleteFunc(slices.Clone(u.paths), func(path string) bool {
			return !hasPath(root, strings.Split(path, "."))
		}), u.why)
	}
	if v.SignedBy == "" && (v.Envelope || v.Release.Signature != nil) {
		say([]string{"signature"}, "it was held against no key")
	}
	return out
}

// nothingElse names all of a release of which only form and accounting could be checked.
func (v *Verification) nothingElse(root map[string]any, why string) []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(root)), func(name string) bool {
		return name == "schema" || name == "signature" && v.SignedBy != ""
	})
	return []string{strings.Join(names, ", ") + ": " + why + "; checked are its form, what its event costs" + map[bool]string{true: " and its signature"}[v.SignedBy != ""]}
}

// hasPath tells whether a document has a field.
func hasPath(v any, path []string) bool {
	if len(path) == 0 {
		return v != nil
	}
	name, list := strings.CutSuffix(path[0], "[]")
	members, _ := v.(map[string]any)
	if !list {
		return hasPath(members[name], path[1:])
	}
	elements, _ := members[name].([]any)
	return slices.ContainsFunc(elements, func(e any) bool { return hasPath(e, path[1:]) })
}

func isConstant(r *evaluate.Release) bool {
	return r.Privacy != nil && r.Privacy.Event == dp.Event(dp.ApproximateDP{})
}

// ofNothing is why bounds on what a person adds could be others where the range of a return was given.
const ofNothing = "the range of a return was given, or nothing is computed from these facts"

func givesReturn(r *evaluate.Release) bool {
	return r.Privacy == nil || r.Public["return_given"] == true
}

// decidesOnce tells of a release about episodes of one decision.
func decidesOnce(r *evaluate.Release) bool {
	return fmt.Sprint(r.Public["horizon"]) == "1" || fmt.Sprint(r.Public["episode_horizon"]) == "1" || r.Public["one_decision"] == true
}

// hidesPersons tells of a release from which the number of persons does not follow.
func hidesPersons(r *evaluate.Release) bool {
	return r.Privacy == nil || r.Public["by"] != nil || len(r.Answers) == 0 || r.Answers[0].Diagnostics["model"] != nil || isConstant(r)
}

// alike tells whether a release could be by another method: one that is made without
// privacy follows from no plan, and of weighted estimators some plan and release alike.
func alike(r *evaluate.Release) bool {
	if r.Privacy == nil {
		return true
	}
	family := []string{"dp-is", "dp-pdis", "dp-wis"}
	if !slices.Contains(family, r.Method) {
		return false
	}
	return slices.ContainsFunc(family, func(other string) bool {
		changed := *r
		changed.Method = other
		return other != r.Method && replanned(&changed) == nil
	})
}
