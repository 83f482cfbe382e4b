package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/policy"
)

// checkTarget holds the target in words against what the release says of it.
func checkTarget(r *evaluate.Release, v any) error {
	if r.Public["targets"] != nil {
		return checkTargets(r, v)
	}
	words, ok := v.(string)
	if !ok {
		return errors.New("is no text")
	}
	actions, _ := r.Public["actions"].(float64)
	onPolicy, _ := r.Public["on_policy"].(bool)
	return checkWords(words, onPolicy, actions)
}

// checkTargets holds the list of policies in words against what a plan sees of them.
func checkTargets(r *evaluate.Release, v any) error {
	var t struct {
		Policies []struct {
			Name     string  `json:"name"`
			OnPolicy bool    `json:"on_policy"`
			Actions  float64 `json:"actions"`
			Constant bool    `json:"constant"`
		} `json:"policies"`
	}
	var list []string
	if err := errors.Join(loosely(r.Public["targets"], &t), loosely(v, &list)); err != nil {
		return err
	}
	if len(list) != len(t.Policies) {
		return fmt.Errorf("holds %d policies, and targets %d", len(list), len(t.Policies))
	}
	for i, p := range t.Policies {
		words, ok := strings.CutPrefix(list[i], p.Name+": ")
		if !ok || p.Constant != constantTarget.MatchString(words) {
			return fmt.Errorf("[%d] is %.60q, and targets.policies[%[1]d] is another policy", i, list[i])
		}
		if err := checkWords(words, p.OnPolicy, p.Actions); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// loosely decodes a part of a release; other members of it are checked elsewhere.
func loosely(v, into any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// checkWords holds one policy in words against what is known of it.
func checkWords(words string, onPolicy bool, actions float64) error {
	logged := config.Target{Kind: "logged"}.String()
	var known float64
	switch {
	case words == logged:
		known = 0
	case words == "learned":
		known = actions
	case uniformTarget.MatchString(words):
		known = number(uniformTarget.FindStringSubmatch(words)[1])
	case constantTarget.MatchString(words):
		known = number(constantTarget.FindStringSubmatch(words)[1]) + 1
	case otherTarget.MatchString(words):
		known = actions
		if words == "column" || strings.HasPrefix(words, "column: ") {
			known = 0
		}
		if list, ok := strings.CutPrefix(words, "columns: "); ok {
			known = float64(strings.Count(list, ", ") + 1)
		}
	default:
		return fmt.Errorf("%.60q is no policy of this program", words)
	}
	if onPolicy != (words == logged) {
		return fmt.Errorf("%.60q, and on_policy is %v", words, onPolicy)
	}
	if known != actions {
		return fmt.Errorf("%.60q, and actions is %g", words, actions)
	}
	return nil
}

var (
	uniformTarget  = regexp.MustCompile(`^uniform over (\d+) actions$`)
	constantTarget = regexp.MustCompile(`^constant: action (\d+)( \(.+\))?$`)
	otherTarget    = regexp.MustCompile(`^(table|tree|softmax|soft-greedy|columns): .+$|^column(: .+)?$`)
)

// number is that of digits; too many of them are no number of actions.
func number(digits string) float64 {
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return -1
	}
	return x
}

// checkBehavior wants what a configuration may say of the probabilities.
func checkBehavior(r *evaluate.Release, v any) error {
	var b struct {
		Source    string            `json:"source"`
		Kind      string            `json:"kind"`
		Name      *string           `json:"name"`
		Once      *bool             `json:"once"`
		Actions   *int              `json:"actions"`
		Probs     *config.StepProbs `json:"probs"`
		TrainedOn *string           `json:"trained_on"`
		Note      *string           `json:"note"`
	}
	if err := strictly(v, &b); err != nil {
		return err
	}
	for _, text := range []*string{b.Name, b.TrainedOn, b.Note} {
		if text != nil && *text == "" {
			return errors.New("holds an empty text")
		}
	}
	if _, estimated := r.Public["estimated_behavior"]; estimated != (b.Kind == "estimate") || estimated != (b.Source == "estimate") {
		return errors.New("probabilities are estimated exactly where public.estimated_behavior says how")
	}
	if b.Kind == "" || b.Name != nil && b.Kind != "column" && b.Kind != "density" {
		return fmt.Errorf("kind is %.60q", b.Kind)
	}
	if b.Kind == "estimate" {
		if b.Once != nil || b.Probs != nil || b.TrainedOn != nil || b.Actions != nil {
			return errors.New("holds what known probabilities have")
		}
		return checkCells(r)
	}
	stated := config.Behavior{Source: b.Source, Kind: b.Kind}
	if (b.Actions != nil) != (b.Kind == "uniform") {
		return errors.New("actions are told exactly where kind is uniform")
	}
	if b.Actions != nil {
		if _, err := policy.NewUniform(*b.Actions); err != nil {
			return err
		}
		stated.Actions = *b.Actions
	}
	if b.TrainedOn != nil {
		stated.TrainedOn = *b.TrainedOn
	}
	if b.Once != nil {
		if stated.Once = b.Once; !*b.Once {
			return errors.New("once is false, which is left out")
		}
	}
	if b.Probs != nil {
		if _, err := policy.NewByStep(*b.Probs); err != nil {
			return err
		}
		stated.Probs = *b.Probs
	}
	if err := spec.ValidateBehavior(&stated, true); err != nil {
		return err
	}
	if b.Kind == "density" && r.Public["on_policy"] == false {
		params, _ := r.Public["parameters"].(map[string]any)
		if err := spec.CheckDensity(r.Method, params); err != nil {
			return err
		}
	}
	return errors.Join(checkDesign(r, stated), checkDifferences(r, stated))
}
