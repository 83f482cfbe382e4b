package spec

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/boundedfile"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// policyOf builds the target policy.
func policyOf(c config.Config) (policy.Policy, error) {
	t := c.Target
	switch t.Kind {
	case "logged":
		return policy.Logged{}, nil
	case "uniform", learnedKind: // a plan sees the number of actions alone
		return policy.NewUniform(t.Actions)
	case "constant":
		action, err := constantAction(c)
		if err != nil {
			return nil, err
		}
		return policy.NewConstant(action)
	case "column":
		return policy.ProbColumn{Density: dense(c.Data.Behavior)}, nil
	case "columns":
		return policy.NewColumns(t.Names)
	case "tree":
		return readPolicy(c.Resolve(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTree(f, t.Path) })
	case "table":
		return readPolicy(c.Resolve(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTable(f, t.Path, t.Column) })
	case "soft-greedy":
		return readPolicy(c.Resolve(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadSoftGreedy(f, t.Path) })
	case "softmax":
		return readPolicy(c.Resolve(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadSoftmax(f, t.Path) })
	}
	return nil, fmt.Errorf("%w: kind is %q; want logged, uniform, constant, column, columns, table, tree, softmax, soft-greedy or learned", config.ErrConfig, t.Kind)
}

func readPolicy(path string, read func(*os.File) (policy.Policy, error)) (policy.Policy, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: path is missing; name the policy's file", config.ErrConfig)
	}
	f, err := boundedfile.Open(path, boundedfile.LargestPolicy)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; name the file of a policy", config.ErrConfig, err)
	}
	p, err := read(f)
	return p, errors.Join(err, f.Close())
}

// BehaviorPolicy builds the behaviour policy, nil where it is a column of the data as it
// stands.
func BehaviorPolicy(b *config.Behavior, c config.Config) (policy.Policy, error) {
	switch {
	case Recorded(b) && drawnOnce(b):
		return policy.Once{}, nil
	case Recorded(b) || b.Kind == kindEstimate:
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
		return readPolicy(c.Resolve(b.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTable(f, b.Path, b.Column) })
	case "softmax":
		return readPolicy(c.Resolve(b.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadSoftmax(f, b.Path) })
	}
	return readPolicy(c.Resolve(b.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTree(f, b.Path) })
}

// inOneEntry refuses the probabilities of the actions at one decision where they stand as those of several decisions: single numbers that
// add up to 1, and more of them than an episode has decisions.
func inOneEntry(b *config.Behavior, p evaluate.Public) error {
	decisions := cmp.Or(p.EpisodeHorizon, p.Horizon)
	if p.OneDecision {
		decisions = 1
	}
	if b == nil || decisions < 1 || int64(len(b.Probs)) <= decisions {
		return nil
	}
	total := 0.0
	for _, at := range b.Probs {
		if len(at) != 1 {
			return nil
		}
		total += at[0]
	}
	if math.Abs(total-1) > 1e-6 {
		return nil
	}
	return fmt.Errorf("%w: data.behavior.probs gives one probability for each of %d decisions, and an episode has %d: if they are those of %[2]d actions at one decision, write them as one entry, in brackets of its own: probs: [%[4]v]", config.ErrConfig, len(b.Probs), decisions, commas(b.Probs.Entries()))
}

// commas writes a list as YAML does.
func commas(all []any) string {
	return "[" + strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]") + "]"
}

// behaviorLabel is what a release says of the behaviour policy.
func behaviorLabel(b *config.Behavior) map[string]any {
	out := map[string]any{"source": b.Source, "kind": KindOf(b)}
	if b.Kind == kindEstimate {
		out["source"] = kindEstimate
	}
	if b.Name != "" {
		out["name"] = b.Name
	}
	if drawnOnce(b) && b.Kind != kindEstimate {
		out["once"] = true
	}
	if len(b.Probs) > 0 {
		out["probs"] = b.Probs.Entries()
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

// estimatedBehavior is what an evaluation is asked to estimate; nil where probabilities are
// known.
func estimatedBehavior(b *config.Behavior) *evaluate.EstimatedBehavior {
	if b == nil || b.Kind != kindEstimate {
		return nil
	}
	return &evaluate.EstimatedBehavior{By: b.By, States: b.States, Column: b.Column, Actions: b.Actions, Floor: b.Floor, Share: b.Share, Once: drawnOnce(b)}
}

// constantAction is the number of the action that the target always takes.
func constantAction(c config.Config) (int, error) {
	a, v := c.Target.Action, c.Data.Actions
	switch {
	case a == nil:
		return 0, fmt.Errorf("%w: action is missing; name the action that is always taken", config.ErrConfig)
	case v == nil && a.Word != "":
		return 0, fmt.Errorf("%w: action is the word %q, and data.actions does not say which number it stands for", config.ErrConfig, a.Word)
	case v == nil:
		return a.Number, nil
	}
	if i := slices.Index(v.Words, strconv.Itoa(a.Number)); a.Word == "" && i >= 0 {
		if code := int(trajectory.Vocabulary(*v).Code(i)); code != a.Number {
			return 0, fmt.Errorf(`%w: action is %[2]d, and data.actions reads %[2]d as the action %[3]d; write "%[2]d" in quotes for that value, or %[4]s for the action %[2]d`, config.ErrConfig, a.Number, code, quotedAction(v, a.Number))
		}
	}
	for i, word := range v.Words {
		code := int(trajectory.Vocabulary(*v).Code(i))
		if a.Word != "" && word == a.Word || a.Word == "" && code == a.Number {
			return code, nil
		}
	}
	return 0, fmt.Errorf("%w: action is none of those that data.actions lists: %s", config.ErrConfig, strings.Join(v.Words, ", "))
}

// quotedAction is the value that stands for an action, in quotes.
func quotedAction(v *config.Vocabulary, action int) string {
	for i, word := range v.Words {
		if int(trajectory.Vocabulary(*v).Code(i)) == action {
			return strconv.Quote(word)
		}
	}
	return "another value"
}

// policyWords describes the target policy in words, with that of its action.
func policyWords(c config.Config) string {
	k, err := constantAction(c)
	if c.Target.Kind != "constant" || c.Data.Actions == nil || err != nil {
		return c.Target.String()
	}
	v := trajectory.Vocabulary(*c.Data.Actions)
	for i, word := range v.Words {
		if int(v.Code(i)) == k {
			return fmt.Sprintf("constant: action %d (%s)", k, word)
		}
	}
	return c.Target.String()
}

// ActionWords are those of the actions, by number.
func ActionWords(d config.Data) map[int]string {
	if d.Actions == nil {
		return nil
	}
	v, out := trajectory.Vocabulary(*d.Actions), map[int]string{}
	for i, word := range v.Words {
		out[int(v.Code(i))] = word
	}
	return out
}

// checkCovers checks that a policy over K actions and the vocabulary of actions speak of
// the same ones: each has a number below K, and each number a word.
func checkCovers(d config.Data, key string, p policy.Policy) error {
	switch p.(type) {
	case nil, policy.Constant, policy.Logged, policy.ProbColumn:
		return nil
	}
	if d.Actions == nil || p.Actions() == 0 {
		return nil
	}
	v := trajectory.Vocabulary(*d.Actions)
	for i := range v.Words {
		if v.Code(i) >= float64(p.Actions()) {
			return fmt.Errorf("%w: %s has %d actions, and data.actions gives one the number %g; number them from 0 without gaps, as the policy does", config.ErrConfig, key, p.Actions(), v.Code(i))
		}
	}
	if len(v.Words) != p.Actions() {
		return fmt.Errorf("%w: %s has %d actions, and data.actions lists %d; name them all", config.ErrConfig, key, p.Actions(), len(v.Words))
	}
	return nil
}

// columnsOf are the observation columns that a policy looks at.
func columnsOf(p policy.Policy) []string {
	if reader, ok := p.(interface{ Columns() []string }); ok {
		return reader.Columns()
	}
	return nil
}

// kindEstimate is the kind of probabilities that nobody knows.
const kindEstimate = "estimate"

// KindOf is the kind of a behaviour policy, a column by default.
func KindOf(b *config.Behavior) string { return cmp.Or(b.Kind, "column") }

// Recorded reports whether the probabilities are a column of the data.
func Recorded(b *config.Behavior) bool {
	return b == nil || b.Kind == "" || b.Kind == "column" || dense(b)
}

// drawnOnce reports whether an action was drawn once an episode.
func drawnOnce(b *config.Behavior) bool { return b != nil && b.Once != nil && *b.Once }

// constants are the policies that always take one action: no deterministic policy has a ratio
// that none of them has.
func constants(actions int) (all []policy.Policy) {
	for a := range actions {
		if p, err := policy.NewConstant(a); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// several tells that targets are asked about, and not one target.
func several(c config.Config) bool { return len(c.Targets) > 0 }

// namesNoPolicy tells that neither is.
func namesNoPolicy(c config.Config) bool { return !several(c) && c.Target.Kind == "" }

// policiesAsked are the policies to evaluate, without their names.
func policiesAsked(c config.Config) []config.Target {
	if !several(c) {
		return []config.Target{c.Target}
	}
	var out []config.Target
	for _, t := range c.Targets {
		out = append(out, t.Target())
	}
	return out
}

// offPolicy reports whether some policy is not the logged one.
func offPolicy(c config.Config) bool {
	return slices.ContainsFunc(policiesAsked(c), func(t config.Target) bool { return t.Kind != "logged" })
}

// loggedName is the name of the logged policy where contrasts bring it in.
const loggedName = "logged"
