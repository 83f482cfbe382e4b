package discreet

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Behavior says where the probabilities of the logged actions come from. An
// off-policy evaluation divides by them. If they were fitted on the same
// persons, one person's record changes the weights of others, and the stated
// guarantee is void.
type Behavior struct {
	// Source is design (actions were drawn with probabilities fixed beforehand),
	// logged (each probability was recorded when its action was drawn) or model
	// (fitted afterwards). There is no default.
	Source string `yaml:"source"`
	// TrainedOn says for source model whose data the model was fitted on:
	// other_persons or public.
	TrainedOn string `yaml:"trained_on"`
	// Note is free text that the release repeats. It must say nothing about the data.
	Note string `yaml:"note"`

	// Kind is column (the default: behavior_prob), columns, uniform,
	// constant_by_step, table, softmax or tree; or estimate, if the probabilities were not
	// recorded: they are then estimated privately from the same persons, in public cells
	// (see [evaluate.EstimatedBehavior]), and source is left out.
	Kind string `yaml:"kind"`
	// Name is the column of the logged action's probability (column).
	Name string `yaml:"name"`
	// Once says that one draw fixed all actions of an episode, as the arm of a trial does:
	// the probability applies to decision 0, and later decisions have probability 1
	// (column; required for estimate).
	Once *bool `yaml:"once" json:",omitempty"`
	// Names are the columns of all actions' probabilities (columns).
	Names []string `yaml:"names"`
	// Actions is the number of actions (uniform, estimate).
	Actions int `yaml:"actions"`
	// Probs are the probabilities at each decision of an episode, the last for all
	// later decisions too (constant_by_step).
	Probs StepProbs `yaml:"probs"`
	// Path is the policy's file (table, softmax, tree).
	Path string `yaml:"path"`
	// Column holds the state number (table), or that of the cell (estimate).
	Column string `yaml:"column"`
	// By may be features: a regression on the features replaces the cells (estimate).
	By string `yaml:"by" json:",omitempty"`
	// States is the number of cells (estimate).
	States int `yaml:"states" json:",omitempty"`
	// Floor is the smallest upper limit of a probability (estimate).
	Floor float64 `yaml:"floor" json:",omitempty"`
	// Share is the fraction of the budget that pays for the estimate (estimate).
	Share float64 `yaml:"share" json:",omitempty"`
}

// recorded reports whether the probabilities are a column of the data.
func (b *Behavior) recorded() bool { return b == nil || b.Kind == "" || b.Kind == "column" }

// once tells whether an action was drawn once an episode.
func (b *Behavior) once() bool { return b != nil && b.Once != nil && *b.Once }

// kindEstimate is the kind of probabilities that nobody knows.
const kindEstimate = "estimate"

// estimated is what an evaluation is asked to estimate; nil where probabilities are
// known.
func (b *Behavior) estimated() *evaluate.EstimatedBehavior {
	if b == nil || b.Kind != kindEstimate {
		return nil
	}
	return &evaluate.EstimatedBehavior{By: b.By, States: b.States, Column: b.Column, Actions: b.Actions, Floor: b.Floor, Share: b.Share, Once: b.once()}
}

// validate checks what is said of the source. Off-policy it must be said.
func (b *Behavior) validate(offPolicy bool) error {
	if b == nil {
		if offPolicy {
			return fmt.Errorf("%w: data.behavior.source is missing: an off-policy value divides by the probabilities of the logged actions; say whether they are of the design, logged when the actions were drawn, or of a model, such as data.behavior: {source: logged}", ErrConfig)
		}
		return nil
	}
	if b.Kind == kindEstimate {
		if b.Source != "" || b.TrainedOn != "" {
			return fmt.Errorf("%w: data.behavior: source and trained_on are of probabilities that are known, and kind estimate estimates them from the same persons; leave them out", ErrConfig)
		}
		if b.Once == nil {
			return fmt.Errorf("%w: data.behavior.once is missing: kind estimate must know how actions were drawn; say once: true where one draw fixed the actions of a whole episode, as the arm of a trial, or once: false where each decision was drawn anew: a draw that is counted at every decision makes intervals wrong", ErrConfig)
		}
		return b.onlyItsOwn()
	}
	switch b.Source {
	case "design", "logged":
		if b.TrainedOn != "" {
			return fmt.Errorf("%w: data.behavior.trained_on is for source model; leave it out", ErrConfig)
		}
	case "model":
		if b.TrainedOn != "other_persons" && b.TrainedOn != "public" {
			return fmt.Errorf("%w: data.behavior.trained_on is %q; a model's probabilities keep the guarantee only if it was fitted on other_persons or on public data: say which, or use a method that needs no probabilities", ErrConfig, b.TrainedOn)
		}
	default:
		return fmt.Errorf("%w: data.behavior.source is %q; want design, logged or model", ErrConfig, b.Source)
	}
	return b.onlyItsOwn()
}

// onlyItsOwn refuses a field that the kind does not use.
func (b *Behavior) onlyItsOwn() error {
	uses := map[string]string{
		"": "name once", "column": "name once", "columns": "names", "uniform": "actions", "constant_by_step": "probs",
		"table": "path column", "softmax": "path", "tree": "path",
		kindEstimate: "actions by states column floor share once",
	}
	own, known := uses[b.Kind]
	if !known {
		return fmt.Errorf("%w: data.behavior.kind is %q; want column, columns, uniform, constant_by_step, table, softmax, tree or estimate", ErrConfig, b.Kind)
	}
	return unused("data.behavior", orColumn(b.Kind), own, []given{
		{"name", b.Name != ""}, {"names", len(b.Names) > 0}, {"actions", b.Actions != 0}, {"once", b.Once != nil},
		{"probs", len(b.Probs) > 0}, {"path", b.Path != ""}, {"column", b.Column != ""},
		{"by", b.By != ""}, {"states", b.States != 0}, {"floor", b.Floor != 0}, {"share", b.Share != 0},
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
			return fmt.Errorf("%w: %s: kind %s does not use %s; leave it out", ErrConfig, key, kind, f.field)
		}
	}
	return nil
}

func orColumn(kind string) string {
	if kind == "" {
		return "column"
	}
	return kind
}

// policy builds the behaviour policy, nil where it is a column of the data as it
// stands.
func (b *Behavior) policy(c Config) (policy.Policy, error) {
	switch {
	case b.recorded() && b.once():
		return policy.Once{}, nil
	case b.recorded() || b.Kind == kindEstimate:
		return nil, nil
	}
	switch b.Kind {
	case "columns":
		return policy.NewColumns(b.Names)
	case "uniform":
		return policy.NewUniform(b.Actions)
	case "constant_by_step":
		return policy.NewByStep(b.Probs)
	case "table":
		return readPolicy(c.path(b.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTable(f, b.Path, b.Column) })
	case "softmax":
		return readPolicy(c.path(b.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadSoftmax(f, b.Path) })
	}
	return readPolicy(c.path(b.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTree(f, b.Path) })
}

// label is what a release says of the behaviour policy.
func (b *Behavior) label() map[string]any {
	out := map[string]any{"source": b.Source, "kind": orColumn(b.Kind)}
	if b.Kind == kindEstimate {
		out["source"] = kindEstimate
	}
	if b.Name != "" {
		out["name"] = b.Name
	}
	if b.once() && b.Kind != kindEstimate {
		out["once"] = true
	}
	if len(b.Probs) > 0 {
		out["probs"] = b.Probs.plain()
	}
	if b.Kind == "uniform" {
		out["actions"] = b.Actions
	}
	if b.TrainedOn != "" {
		out["trained_on"] = b.TrainedOn
	}
	if b.Note != "" {
		out["note"] = b.Note
	}
	return out
}
