package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/config"
)

// What a policy is learned by, and how it is asked for.
const (
	learningMethod = "dp-learn"
	learnedKind    = "learned"
)

// validateTargets checks the keys of the question as far as names go.
func validateTargets(c config.Config) error {
	switch {
	case len(c.Targets) > mostTargets:
		return fmt.Errorf("%w: targets: %d policies; want at most %d, for a release has 100 answers at most", config.ErrConfig, len(c.Targets), mostTargets)
	case c.Method.Name == learningMethod && c.Target.Kind != learnedKind:
		return fmt.Errorf("%w: method %s learns the policy; set target to {kind: learned, actions: K}, with the number of actions", config.ErrConfig, learningMethod)
	case several(c) && c.Target.Kind != "":
		return fmt.Errorf("%w: target and targets are both given; leave one of them out", config.ErrConfig)
	case !several(c) && (c.Contrasts != nil || c.Levels != nil || c.Select != nil):
		return fmt.Errorf("%w: contrasts, levels and select are about several policies; name them in targets, or leave these keys out", config.ErrConfig)
	case namesNoPolicy(c):
		return fmt.Errorf("%w: target.kind is missing; use {kind: logged} for the policy that made the data", config.ErrConfig)
	case c.Select != nil && byLimits(c.Select) && (c.Select.Gap != nil || c.Select.Value != nil):
		return fmt.Errorf("%w: select.gap and select.value are for the forecast of permute-and-flip; leave them out, or set select.best to permute-and-flip or auto", config.ErrConfig)
	case c.Select != nil && c.Select.Gap != nil && !(*c.Select.Gap > 0):
		return fmt.Errorf("%w: select.gap is %v; want a number above 0", config.ErrConfig, *c.Select.Gap)
	case !byLimits(c.Select) && (c.Contrasts != nil || c.Levels != nil):
		return fmt.Errorf("%w: select.best is %s, which chooses among all targets and asks for no value; leave levels and contrasts out, or set select to best", config.ErrConfig, c.Select.Best)
	}
	columns := map[string]bool{}
	for i, t := range policiesAsked(c) {
		key := "target"
		if several(c) {
			key = fmt.Sprintf("targets[%d]", i)
			if c.Targets[i].Name == "" {
				return fmt.Errorf("%w: %s: name is missing; give every policy a name", config.ErrConfig, key)
			}
		}
		if t.Kind == "" {
			return fmt.Errorf("%w: %s.kind is missing; use {kind: logged} for the policy that made the data", config.ErrConfig, key)
		}
		if err := checkTargetFields(t, key); err != nil {
			return err
		}
		if t.Kind == learnedKind && (several(c) || c.Method.Name != learningMethod) {
			return fmt.Errorf("%w: %s.kind is learned, which only a single target of method %s can be", config.ErrConfig, key, learningMethod)
		}
		if t.Kind == "column" {
			columns[t.Name] = true
		}
		if b := c.Data.Behavior; t.Kind == "columns" && b != nil && b.Precision != 0 {
			return fmt.Errorf("%w: %s.kind is columns, and data.behavior.precision is given, which says nothing of a column an action; give the target as kind column (the probability of the logged action), table, tree or softmax", config.ErrConfig, key)
		}
	}
	if err := checkLoggedName(c); err != nil {
		return err
	}
	if len(columns) > 1 {
		return fmt.Errorf("%w: targets: several policies are of kind column, and only one column of probabilities of the taken actions is read; give the others as kind columns (a column an action), table, tree or softmax", config.ErrConfig)
	}
	return nil
}

// loggedByName refuses another policy by the name of the logged one where contrasts would
// bring that one in.
func checkLoggedName(c config.Config) error {
	if c.Contrasts == nil || c.Contrasts.Word != loggedName || slices.ContainsFunc(c.Targets, func(t config.NamedTarget) bool { return t.Kind == "logged" }) {
		return nil
	}
	for i, t := range c.Targets {
		if t.Name == loggedName {
			return fmt.Errorf("%w: targets[%d].name is %q, a policy of kind %s, and contrasts: %s compares with the policy that made the data under that name; name this one otherwise",
				config.ErrConfig, i, t.Name, t.Kind, loggedName)
		}
	}
	return nil
}

// mostTargets bounds what contrasts: all writes out, whose number grows with the square: a hundred
// answers speak of two hundred policies at most.
const mostTargets = 200

// onlyItsOwn refuses a field that the kind does not use. Of a kind that is not known
// more is said where the policy is made.
func checkTargetFields(t config.Target, key string) error {
	uses, known := map[string]string{
		"logged": "", "learned": "actions", "uniform": "actions", "constant": "action", "column": "name", "columns": "names",
		"table": "path column", "tree": "path", "softmax": "path", "soft-greedy": "path",
	}[t.Kind]
	if !known {
		return nil
	}
	return unused(key, t.Kind, uses, []given{
		{"name", t.Name != ""}, {"names", len(t.Names) > 0}, {"actions", t.Actions != 0},
		{"action", t.Action != nil}, {"path", t.Path != ""}, {"column", t.Column != ""},
	})
}

// given tells whether a field of a policy was given.
type given struct {
	field string
	set   bool
}

// unused refuses a field that a kind of policy does not use: whoever wrote it meant
// something by it.
func unused(key, kind, uses string, fields []given) error {
	for _, f := range fields {
		if f.set && !slices.Contains(strings.Fields(uses), f.field) {
			return fmt.Errorf("%w: %s: kind %s does not use %s; leave it out", config.ErrConfig, key, kind, f.field)
		}
	}
	return nil
}

// Validate checks what is said of the source. Off-policy it must be said.
func ValidateBehavior(b *config.Behavior, offPolicy bool) error {
	if b == nil {
		if offPolicy {
			return fmt.Errorf("%w: data.behavior.source is missing: an off-policy value divides by the probabilities of the logged actions; say whether they are of the design, logged when the actions were drawn, or of a model, such as data.behavior: {source: logged}", config.ErrConfig)
		}
		return nil
	}
	if b.Kind == kindEstimate {
		if b.Source != "" || b.TrainedOn != "" {
			return fmt.Errorf("%w: data.behavior: source and trained_on are of probabilities that are known, and kind estimate estimates them from the same persons; leave them out", config.ErrConfig)
		}
		if b.Once == nil {
			return fmt.Errorf("%w: data.behavior.once is missing: kind estimate must know how actions were drawn; say once: true where one draw fixed the actions of a whole episode, as the arm of a trial, or once: false where each decision was drawn anew: a draw that is counted at every decision makes intervals wrong", config.ErrConfig)
		}
		return checkBehaviorFields(b)
	}
	switch b.Source {
	case "design", "logged":
		if b.TrainedOn != "" {
			return fmt.Errorf("%w: data.behavior.trained_on is for source model; leave it out", config.ErrConfig)
		}
	case "model":
		if b.TrainedOn != "other_persons" && b.TrainedOn != "public" {
			return fmt.Errorf("%w: data.behavior.trained_on is %q; a model's probabilities keep the guarantee only if it was fitted on other_persons or on public data: say which, or use a method that needs no probabilities", config.ErrConfig, b.TrainedOn)
		}
	default:
		return fmt.Errorf("%w: data.behavior.source is %q; want design, logged or model", config.ErrConfig, b.Source)
	}
	return checkBehaviorFields(b)
}

// onlyItsOwn refuses a field that the kind does not use.
func checkBehaviorFields(b *config.Behavior) error {
	uses := map[string]string{
		"": "name once precision", "column": "name once precision", kindDensity: "name", "columns": "names", "uniform": "actions", "constant_by_step": "probs",
		"table": "path column", "softmax": "path", "tree": "path",
		kindEstimate: "actions by states column floor share once",
	}
	own, known := uses[b.Kind]
	if !known {
		return fmt.Errorf("%w: data.behavior.kind is %q; want column, columns, uniform, constant_by_step, table, softmax, tree, density or estimate", config.ErrConfig, b.Kind)
	}
	return unused("data.behavior", KindOf(b), own, []given{
		{"name", b.Name != ""}, {"names", len(b.Names) > 0}, {"actions", b.Actions != 0}, {"once", b.Once != nil},
		{"probs", len(b.Probs) > 0}, {"path", b.Path != ""}, {"column", b.Column != ""},
		{"by", b.By != ""}, {"states", b.States != 0}, {"floor", b.Floor != 0}, {"share", b.Share != 0}, {"precision", b.Precision != 0},
	})
}
