package discreet

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// NamedTarget is one of several policies to evaluate: a [Target] with a name.
type NamedTarget struct {
	// Name is the policy's name in the release.
	Name string `yaml:"name"`
	// Kind is that of a target.
	Kind string `yaml:"kind"`
	// Actions is the number of actions (uniform).
	Actions int `yaml:"actions" json:",omitempty"`
	// Action is the action that is always taken, by number or by word (constant).
	Action *Action `yaml:"action" json:",omitempty"`
	// Names are the columns of all actions' probabilities (columns).
	Names []string `yaml:"names" json:",omitempty"`
	// Path is the policy's file (table, tree, softmax, soft-greedy).
	Path string `yaml:"path" json:",omitempty"`
	// Column holds the state number (table) or the policy's probabilities (column).
	Column string `yaml:"column" json:",omitempty"`
}

// target is the policy by itself.
func (n NamedTarget) target() Target {
	t := Target{Kind: n.Kind, Actions: n.Actions, Action: n.Action, Names: n.Names, Path: n.Path, Column: n.Column}
	if n.Kind == "column" {
		t.Name, t.Column = n.Column, ""
	}
	return t
}

// Levels says of which policies the value is an answer: all, none, or those that are
// named.
type Levels struct {
	None  bool     `json:",omitempty"`
	Names []string `json:",omitempty"`
}

// UnmarshalYAML accepts the words all and none, and a list of names.
func (l *Levels) UnmarshalYAML(decode func(any) error) error {
	if decode(&l.Names) == nil {
		if len(l.Names) == 0 {
			return errors.New("want all, none, or a list of names")
		}
		return nil
	}
	var word string
	if decode(&word) != nil || word != "all" && word != "none" {
		return errors.New("want all, none, or a list of names")
	}
	*l = Levels{None: word == "none"}
	return nil
}

// Contrasts says which differences of two policies are answers: all pairs, every
// policy against the logged one, or the pairs that are named, first less second.
type Contrasts struct {
	Word  string      `json:",omitempty"` // all or logged
	Pairs [][2]string `json:",omitempty"`
}

// UnmarshalYAML accepts the words all and logged, and a list of pairs.
func (c *Contrasts) UnmarshalYAML(decode func(any) error) error {
	want := errors.New("want all, logged, or a list of pairs of names, such as [[new, old]]")
	var word string
	if decode(&word) == nil {
		if word != "all" && word != "logged" {
			return want
		}
		*c = Contrasts{Word: word}
		return nil
	}
	var lists [][]string
	if decode(&lists) != nil || len(lists) == 0 {
		return want
	}
	*c = Contrasts{}
	for _, l := range lists {
		if len(l) != 2 {
			return want
		}
		c.Pairs = append(c.Pairs, [2]string{l[0], l[1]})
	}
	return nil
}

// Select asks which policy is best, and by which way.
type Select struct {
	// Best is limits, which is also what the word best in place of all keys means;
	// permute-and-flip, which names a policy and releases no value; or auto, which takes
	// the one that the plan expects to name the best policy more often.
	Best string `json:"best"`
	// Gap and Value are publicly supposed, for the forecast of permute-and-flip and auto,
	// in units of a return: by how much the best policy is better than the others, and
	// about what they are worth. Left out they are a tenth and the middle of the public
	// range of a return.
	Gap   *float64 `json:"gap,omitempty"`
	Value *float64 `json:"value,omitempty"`
}

// UnmarshalYAML accepts the word best and a mapping.
func (s *Select) UnmarshalYAML(decode func(any) error) error {
	var word string
	if decode(&word) == nil {
		if word != selectBest {
			return fmt.Errorf("select is %q; want best, or a mapping such as {best: permute-and-flip}", word)
		}
		*s = Select{Best: "limits"}
		return nil
	}
	var keys map[string]any
	if decode(&keys) != nil {
		return errors.New("select: want best, or a mapping such as {best: permute-and-flip}")
	}
	*s = Select{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		v := keys[key]
		number := func() (*float64, error) {
			switch x := v.(type) {
			case float64:
				return &x, nil
			case int:
				f := float64(x)
				return &f, nil
			}
			return nil, fmt.Errorf("select.%s: want a number", key)
		}
		if v == nil {
			continue
		}
		var err error
		switch word, isWord := v.(string); key {
		case selectBest:
			if s.Best = word; !isWord || !slices.Contains([]string{"limits", "permute-and-flip", "auto"}, word) {
				err = errors.New("select.best: want limits, permute-and-flip or auto")
			}
		case "gap":
			s.Gap, err = number()
		case "value":
			s.Value, err = number()
		default:
			err = fmt.Errorf("select: unknown key %q; want best, gap or value", key)
		}
		if err != nil {
			return err
		}
	}
	if s.Best == "" {
		return errors.New("select: best is missing; want limits, permute-and-flip or auto")
	}
	return nil
}

// hashed is the form in which the question is hashed: the word for what the word asks, and
// an empty one where nothing is asked, so that such a question keeps its hash.
func (s *Select) hashed() any {
	switch {
	case s == nil:
		return ""
	case *s == Select{Best: "limits"}:
		return selectBest
	}
	return s
}

// byLimits tells that no other way is asked for.
func (s *Select) byLimits() bool { return s == nil || s.Best == "limits" }

// Words of select, and the name of the logged policy where contrasts bring it in.
const (
	selectBest = "best"
	loggedName = "logged"
)

// asked are the policies to evaluate, without their names.
func (c Config) asked() []Target {
	if len(c.Targets) == 0 {
		return []Target{c.Target}
	}
	var out []Target
	for _, t := range c.Targets {
		out = append(out, t.target())
	}
	return out
}

// with is the configuration that asks about one policy.
func (c Config) with(t Target) Config {
	c.Target, c.Targets = t, nil
	return c
}

// offPolicy tells whether some policy is not the logged one.
func (c Config) offPolicy() bool {
	return slices.ContainsFunc(c.asked(), func(t Target) bool { return t.Kind != "logged" })
}

// mostTargets bounds what contrasts: all writes out, whose number grows with the square: a hundred
// answers speak of two hundred policies at most.
const mostTargets = 200

// validateTargets checks the keys of the question as far as names go.
func (c Config) validateTargets() error {
	several := len(c.Targets) > 0
	switch {
	case len(c.Targets) > mostTargets:
		return fmt.Errorf("%w: targets: %d policies; want at most %d, for a release has 100 answers at most", ErrConfig, len(c.Targets), mostTargets)
	case several && c.Target.Kind != "":
		return fmt.Errorf("%w: target and targets are both given; leave one of them out", ErrConfig)
	case !several && (c.Contrasts != nil || c.Levels != nil || c.Select != nil):
		return fmt.Errorf("%w: contrasts, levels and select are about several policies; name them in targets, or leave these keys out", ErrConfig)
	case !several && c.Target.Kind == "":
		return fmt.Errorf("%w: target.kind is missing; use {kind: logged} for the policy that made the data", ErrConfig)
	case c.Select != nil && c.Select.byLimits() && (c.Select.Gap != nil || c.Select.Value != nil):
		return fmt.Errorf("%w: select.gap and select.value are for the forecast of permute-and-flip; leave them out, or set select.best to permute-and-flip or auto", ErrConfig)
	case c.Select != nil && c.Select.Gap != nil && !(*c.Select.Gap > 0):
		return fmt.Errorf("%w: select.gap is %v; want a number above 0", ErrConfig, *c.Select.Gap)
	case !c.Select.byLimits() && (c.Contrasts != nil || c.Levels != nil):
		return fmt.Errorf("%w: select.best is %s, which chooses among all targets and asks for no value; leave levels and contrasts out, or set select to best", ErrConfig, c.Select.Best)
	}
	columns := map[string]bool{}
	for i, t := range c.asked() {
		key := "target"
		if several {
			key = fmt.Sprintf("targets[%d]", i)
			if c.Targets[i].Name == "" {
				return fmt.Errorf("%w: %s: name is missing; give every policy a name", ErrConfig, key)
			}
		}
		if t.Kind == "" {
			return fmt.Errorf("%w: %s.kind is missing; use {kind: logged} for the policy that made the data", ErrConfig, key)
		}
		if err := t.onlyItsOwn(key); err != nil {
			return err
		}
		if t.Kind == "column" {
			columns[t.Name] = true
		}
	}
	if err := c.loggedByName(); err != nil {
		return err
	}
	if len(columns) > 1 {
		return fmt.Errorf("%w: targets: several policies are of kind column, and only one column of probabilities of the taken actions is read; give the others as kind columns (a column an action), table, tree or softmax", ErrConfig)
	}
	return nil
}

// loggedByName refuses another policy by the name of the logged one where contrasts would
// bring that one in.
func (c Config) loggedByName() error {
	if c.Contrasts == nil || c.Contrasts.Word != loggedName || slices.ContainsFunc(c.Targets, func(t NamedTarget) bool { return t.Kind == "logged" }) {
		return nil
	}
	for i, t := range c.Targets {
		if t.Name == loggedName {
			return fmt.Errorf("%w: targets[%d].name is %q, a policy of kind %s, and contrasts: %s compares with the policy that made the data under that name; name this one otherwise",
				ErrConfig, i, t.Name, t.Kind, loggedName)
		}
	}
	return nil
}

// targets builds what is asked about several policies, nil where it is one.
func (c Config) targets() (*evaluate.Targets, error) {
	if len(c.Targets) == 0 {
		return nil, nil
	}
	t := &evaluate.Targets{Best: c.Select != nil}
	if !c.Select.byLimits() {
		t.Choose = &evaluate.Choice{By: c.Select.Best, Value: c.Select.Value}
		if c.Select.Gap != nil {
			t.Choose.Gap = *c.Select.Gap
		}
	}
	for _, n := range c.Targets {
		p, err := c.with(n.target()).policy()
		if err != nil {
			return nil, fmt.Errorf("targets: %s: %w", n.Name, err)
		}
		t.Policies = append(t.Policies, evaluate.NamedPolicy{Name: n.Name, Policy: p})
		t.Levels = append(t.Levels, n.Name)
	}
	if l := c.Levels; l != nil && (l.None || len(l.Names) > 0) {
		t.Levels = l.Names
	}
	if c.Contrasts != nil {
		c.Contrasts.ask(t)
	}
	return t, nil
}

// ask writes the pairs out.
func (c Contrasts) ask(t *evaluate.Targets) {
	t.Contrasts = c.Pairs
	switch c.Word {
	case "all":
		for i, a := range t.Policies {
			for _, b := range t.Policies[i+1:] {
				t.Contrasts = append(t.Contrasts, [2]string{a.Name, b.Name})
			}
		}
	case loggedName:
		base := slices.IndexFunc(t.Policies, func(a evaluate.NamedPolicy) bool { return policy.OnPolicy(a.Policy) })
		if base < 0 {
			base = len(t.Policies)
			t.Policies = append(t.Policies, evaluate.NamedPolicy{Name: loggedName, Policy: policy.Logged{}})
		}
		for i, a := range t.Policies {
			if i != base {
				t.Contrasts = append(t.Contrasts, [2]string{a.Name, t.Policies[base].Name})
			}
		}
	}
}

// label says in words which policies are evaluated: one, or a list with names.
func (c Config) label(t *evaluate.Targets) any {
	if t == nil {
		return c.target()
	}
	var out []string
	for _, n := range c.Targets {
		out = append(out, n.Name+": "+c.with(n.target()).target())
	}
	for _, a := range t.Policies[len(c.Targets):] {
		out = append(out, a.Name+": "+Target{Kind: "logged"}.String())
	}
	return out
}

// policies are all that are evaluated.
func policies(p evaluate.Public) []policy.Policy {
	if p.Targets == nil {
		return []policy.Policy{p.Target}
	}
	var out []policy.Policy
	for _, a := range p.Targets.Policies {
		out = append(out, a.Policy)
	}
	return out
}

// key is the key of the policy at a place, for errors.
func (c Config) key(i int) string {
	if len(c.Targets) == 0 {
		return "target"
	}
	return fmt.Sprintf("targets[%d]", i)
}
