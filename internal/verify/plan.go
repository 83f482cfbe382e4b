package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/buildinfo"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/feature"
)

// plan holds the release against the plan that follows from its public facts.
func (v *Verification) plan() error {
	r := v.Release
	if r.Privacy != nil && r.Disclosure == nil {
		return errors.New("disclosure is missing: every private release has one")
	}
	var root map[string]any
	if err := json.Unmarshal(v.JSON, &root); err != nil {
		return err
	}
	if evaluate.Foreign(r.Method) {
		v.NotChecked = v.nothingElse(root, "the method is not part of this library")
		return v.foreign()
	}
	err := replanned(r)
	d := r.Disclosure
	if err != nil {
		err = unsound{err}
	}
	switch {
	case d != nil && (d.CodeVersion == "") != (d.ConfigHash == ""):
		return errors.New("disclosure: of code_version and config_hash one is missing")
	case err == nil:
		v.Replanned, v.NotChecked = true, v.notChecked(root)
		return nil
	case d == nil || d.CodeVersion == buildinfo.Version():
		return err
	case d.CodeVersion != "":
		v.Notes = append(v.Notes, fmt.Sprintf("made by version %s, and this is version %s, which would have written it differently (%v): only that version, or a signature, can show whether it was changed", d.CodeVersion, buildinfo.Version(), err))
	default:
		v.Notes = append(v.Notes, fmt.Sprintf("names no version of the program, and this version would have written it differently (%v): only a signature can show whether it was changed", err))
	}
	v.NotChecked = v.nothingElse(root, "this version does not plan the release as it is")
	return nil
}

// replanned plans a release again and holds it against the plan.
func replanned(r *evaluate.Release) error {
	labels, features, err := labelsOf(r)
	if err != nil {
		return err
	}
	p, err := evaluate.Replan(r, features, labels)
	if err != nil {
		return err
	}
	if err := p.Verify(r); err != nil {
		return err
	}
	return sharedWords(r)
}

// foreign checks a release by a method that is not of this library: nobody can plan it
// again who does not have the author's code.
func (v *Verification) foreign() error {
	r := v.Release
	if r.Answer == nil || r.Answers != nil || r.Theta != nil || r.Values != nil || r.Privacy == nil {
		return fmt.Errorf("method %s is not of this library: such a release holds an answer and a guarantee, and nothing else", r.Method)
	}
	v.Notes = append(v.Notes, fmt.Sprintf("method %s is not part of this library: what its answer means is a claim of its author, and only the author's code can check that it follows from the noisy sums (Plan.Verify)", r.Method))
	return nil
}

// labelsOf takes the labels that a configuration writes out of the public facts of a
// release, and builds its features.
func labelsOf(r *evaluate.Release) (map[string]any, feature.Map, error) {
	labels := map[string]any{}
	for _, l := range []struct {
		name  string
		check func(r *evaluate.Release, v any) error
	}{{"target", checkTarget}, {"behavior", checkBehavior}, {"end", checkEnd}, {"records", checkRecords}, {"on_violation", checkViolation}, {"features", nil}, {"state_names", checkStateNames}, {"action_names", checkActionNames}, {"rewards", checkRewards}} {
		v, ok := r.Public[l.name]
		if !ok {
			continue
		}
		labels[l.name] = v
		if l.check == nil {
			continue
		}
		if err := l.check(r, v); err != nil {
			return nil, nil, fmt.Errorf("public.%s: %w", l.name, err)
		}
	}
	if labels["target"] == nil {
		return nil, nil, errors.New("public.target is missing")
	}
	if labels["behavior"] == nil && r.Public["on_policy"] == false && r.Method != "constant" {
		return nil, nil, errors.New("public.behavior is missing off-policy")
	}
	if labels["on_violation"] == nil && r.Privacy != nil {
		return nil, nil, errors.New("public.on_violation is missing")
	}
	if labels["features"] == nil {
		return labels, nil, nil
	}
	features, err := featuresOf(r, labels["features"])
	if err != nil {
		return nil, nil, fmt.Errorf("public.features: %w", err)
	}
	return labels, features, nil
}

// featuresOf builds the map of a specification that may come from anybody: one of
// more features than the release has numbers is refused before it is built.
func featuresOf(r *evaluate.Release, v any) (feature.Map, error) {
	var spec feature.Spec
	if err := strictly(v, &spec); err != nil {
		return nil, err
	}
	dim := float64(spec.States)
	switch {
	case spec.Order > 0:
		dim = math.Pow(float64(spec.Order+1), float64(len(spec.Names)))
	case spec.Centers > 0:
		dim = math.Pow(float64(spec.Centers), float64(len(spec.Names)))
	}
	most := 1 << 20 // of a scalar, which has none
	if r.Theta != nil {
		most = max(len(r.Values), len(r.Theta))
	}
	if dim > float64(most) {
		return nil, fmt.Errorf("%g features or states, and the release has numbers for %d", dim, most)
	}
	return spec.Map()
}

// strictly decodes a part of a release; a member that into does not have is an error.
func strictly(v, into any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func checkEnd(_ *evaluate.Release, v any) error {
	switch v {
	case "terminated", "truncated", "column":
		return nil
	}
	return errors.New("want terminated, truncated or column")
}

// checkRewards wants one of the statements about empty rewards.
func checkRewards(_ *evaluate.Release, v any) error {
	words, _ := v.(string)
	before, after, _ := strings.Cut(spec.RewardsListed, "%s")
	absent := strings.TrimSuffix(strings.TrimPrefix(words, before), after)
	if n, err := strconv.ParseFloat(absent, 64); err == nil && words == fmt.Sprintf(spec.RewardsListed, strconv.FormatFloat(n, 'g', -1, 64)) {
		return nil
	}
	if v != spec.RewardsOnLastRow && v != spec.RewardsOrZero && v != spec.RewardsJoined {
		return errors.New("is no statement of this program about empty rewards")
	}
	return nil
}

// checkRecords wants the one statement that there is, and the rule that follows from it.
func checkRecords(r *evaluate.Release, v any) error {
	if v != "complete" {
		return errors.New("want complete")
	}
	stated := config.Config{Problem: config.Problem{Records: "complete"}, Privacy: config.Privacy{None: r.Privacy == nil}}
	words, _ := r.Public["on_violation"].(string) // and, after a semicolon, what a public value stands for
	if first, _, _ := strings.Cut(words, "; "); first != spec.ViolationWords(stated) {
		return errors.New("is complete, and public.on_violation is not reject")
	}
	return nil
}

// checkViolation wants words that some configuration makes.
func checkViolation(r *evaluate.Release, v any) error {
	c := config.Config{Problem: config.Problem{Reward: &config.Bounds{}}, Privacy: config.Privacy{None: r.Privacy == nil}}
	if r.Privacy != nil {
		c.Privacy.Unit = string(r.Privacy.Unit)
	}
	if r.Public["outcome"] != nil {
		c.Data.Outcome = &config.Outcome{}
	}
	for _, c.Data.OnViolation = range []string{"repair", "reject"} {
		for _, c.Data.Missing = range []string{"", "zero", "mean", "mean_of_range", "indicator", "reject"} {
			for _, c.Problem.Reward.Outside = range []string{"", "clip", "reject"} {
				for _, c.Data.Encode = range []map[string]config.Vocabulary{nil, {"any": {}}} {
					for _, c.Features = range []*feature.Spec{nil, {Column: "any"}} {
						if words := spec.ViolationWords(c); words != "" && v == words {
							return nil
						}
					}
				}
			}
		}
	}
	return errors.New("is no rule of this program")
}

// checkLedger holds what a release says of its charge against itself. What the
// ledger spent on others only the ledger knows.
func checkLedger(r *evaluate.Release) error {
	e := r.Ledger
	if e == nil {
		return nil
	}
	s := e.Shares
	switch {
	case e.Head.Seq != e.Seq || e.Head.Hash != e.Entry:
		return errors.New("ledger.head is not the entry that was just charged")
	case !(math.Abs(s.Before+s.This+s.Left-1) <= 1e-9):
		return fmt.Errorf("ledger.shares sum to %v; want 1", s.Before+s.This+s.Left)
	case e.Spent.Epsilon > e.Budget.Epsilon*(1+1e-9) || e.Spent.Delta > e.Budget.Delta*(1+1e-9):
		return errors.New("ledger.spent is above ledger.budget")
	case (s.Part == "budget") != (e.Rule == "basic"):
		return fmt.Errorf("ledger.shares are of the %s under the %s rule", s.Part, e.Rule)
	}
	return nil
}

// sharedWords are those of a release from a ledger.
func sharedWords(r *evaluate.Release) error {
	if r.Ledger == nil {
		return nil
	}
	if r.Disclosure.Composition != charging.Composition(r) {
		return errors.New("disclosure.composition is not that of the ledger's rule and budget")
	}
	if r.Disclosure.Series != charging.SharedSeries {
		return errors.New("disclosure.series is not that of a release from a ledger")
	}
	return nil
}

// checkStateNames wants a name for every state.
func checkActionNames(r *evaluate.Release, v any) error {
	var names []string
	if err := strictly(v, &names); err != nil {
		return err
	}
	if actions, _ := r.Public["actions"].(float64); float64(len(names)) != actions || slices.Contains(names, "") {
		return fmt.Errorf("%d names, none of them empty, for %g actions", len(names), actions)
	}
	return nil
}

func checkStateNames(r *evaluate.Release, v any) error {
	var names []string
	if err := strictly(v, &names); err != nil {
		return err
	}
	var spec struct {
		States int `json:"states"`
	}
	if err := loosely(r.Public["features"], &spec); err != nil {
		return err
	}
	if len(names) == 0 || len(names) != spec.States {
		return fmt.Errorf("%d names for %d states", len(names), spec.States)
	}
	if slices.Contains(names, "") {
		return errors.New("holds an empty name")
	}
	return nil
}
