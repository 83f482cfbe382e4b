package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
func (n NamedTarget) Target() Target {
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
		if word != "best" {
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
		case "best":
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

// TargetKey is the key of the policy at a place, as errors name it.
func (c Config) TargetKey(i int) string {
	if len(c.Targets) == 0 {
		return "target"
	}
	return fmt.Sprintf("targets[%d]", i)
}
