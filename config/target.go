package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Target is the policy to evaluate.
type Target struct {
	// Kind is logged, uniform, constant, column, columns, table, tree, softmax,
	// soft-greedy or learned.
	Kind string `yaml:"kind"`
	// Actions is the number of actions (uniform, learned).
	Actions int `yaml:"actions"`
	// Action is the action that is always taken, by number or by word (constant).
	Action *Action `yaml:"action"`
	// Name is the column of target probabilities (column); target_prob by default.
	Name string `yaml:"name"`
	// Names are the columns of all actions' probabilities, in the order of the
	// actions' numbers (columns).
	Names []string `yaml:"names"`
	// Path is the policy's file (table, tree, softmax, soft-greedy).
	Path string `yaml:"path"`
	// Column holds the state number (table).
	Column string `yaml:"column"`
}

// String describes the policy in a few words, such as "constant: action 1".
func (t Target) String() string {
	switch {
	case t.Kind == "logged":
		return "the policy that made the data"
	case t.Kind == "uniform":
		return fmt.Sprintf("uniform over %d actions", t.Actions)
	case t.Kind == "constant" && t.Action != nil && t.Action.Word != "":
		return "constant: action " + t.Action.Word
	case t.Kind == "constant" && t.Action != nil:
		return fmt.Sprintf("constant: action %d", t.Action.Number)
	case t.Path != "":
		return t.Kind + ": " + filepath.Base(t.Path)
	case t.Name != "":
		return t.Kind + ": " + t.Name
	case len(t.Names) > 0:
		return t.Kind + ": " + strings.Join(t.Names, ", ")
	}
	return t.Kind
}

// Action names an action: by its number, or by its word in the vocabulary of
// [Data.Actions].
type Action struct {
	Number int
	// Word is empty where the number is given.
	Word string
}

// UnmarshalYAML accepts a whole number or a word.
func (a *Action) UnmarshalYAML(decode func(any) error) error {
	if decode(&a.Number) == nil {
		return nil
	}
	a.Number = 0
	var value any
	if err := decode(&value); err != nil {
		return err
	}
	if word, ok := value.(string); ok && word != "" {
		a.Word = word
		return nil
	}
	return errors.New("want the number of an action, or its word in data.actions")
}

// MarshalJSON gives the number or the word.
func (a Action) MarshalJSON() ([]byte, error) {
	if a.Word != "" {
		return json.Marshal(a.Word)
	}
	return json.Marshal(a.Number)
}
