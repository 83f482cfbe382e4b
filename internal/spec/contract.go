package spec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/internal/yamlfile"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/boundedfile"
)

// question are the keys that whoever asks may choose. Every other key, and so every
// new one, is the steward's: it belongs to the contract.
var question = []string{"target", "targets", "levels", "contrasts", "select", "start", "method", "privacy.epsilon", "privacy.delta", "ledger", "output", "justification", "sign"}

// StewardPart is the configuration without the keys of the question.
func StewardPart(c config.Config) config.Config {
	c.Target, c.Targets, c.Levels, c.Contrasts, c.Select, c.Start, c.Method = config.Target{}, nil, nil, nil, nil, nil, config.Method{}
	c.Privacy.Epsilon, c.Privacy.Delta = 0, 0
	c.Ledger, c.Output, c.Justification, c.Sign = nil, config.Output{}, "", ""
	if c.By != nil && c.By.Group != byFixed {
		c.By = nil
	}
	return c
}

// ComparedTerms is the contract that a configuration keeps to: what it says without zeros,
// which is what contracts are compared by.
func ComparedTerms(c config.Config) (map[string]any, error) {
	tree, err := ContractTerms(c)
	Prune(tree)
	return tree, err
}

// ContractTerms is a contract as it is stored and shown, as JSON of the keys that are the
// steward's. Paths are absolute, and of a policy's file the content counts too. A
// key that says nothing is left out.
func ContractTerms(c config.Config) (map[string]any, error) {
	var err error
	if c.Data.Path, err = absolute(c, c.Data.Path); err != nil {
		return nil, err
	}
	if o := c.Data.Outcome; o != nil && len(o.Path) > 0 {
		joined := *o
		if joined.Path, err = absolute(c, o.Path); err != nil {
			return nil, err
		}
		c.Data.Outcome = &joined
	}
	if c.Privacy.Noise == "exact" {
		c.Privacy.Noise = "" // what is meant where nothing is said, as in contracts that do not have the key
	}
	tree, err := yamlfile.Tree(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", config.ErrConfig, err)
	}
	if b := c.Data.Behavior; b != nil && b.Path != "" {
		sum, err := boundedfile.Hash(c.Resolve(b.Path), boundedfile.LargestPolicy)
		if err != nil {
			return nil, fmt.Errorf("%w: data.behavior.path: %w", config.ErrConfig, err)
		}
		tree["data.behavior.path.content"] = sum
	}
	// Whose guarantee hides which group a person is in, asks what anybody may ask.
	if c.By != nil && c.By.Group != byFixed {
		delete(tree, "by")
	}
	for _, key := range question {
		section, name, nested := strings.Cut(key, ".")
		if below, ok := tree[section].(map[string]any); nested && ok {
			delete(below, name)
		} else {
			delete(tree, section)
		}
	}
	leaveOut("", tree, func(section string, value any) bool {
		switch value.(type) {
		case int, float64:
			return !slices.Contains(numbers, section)
		}
		return true
	})
	return tree, nil
}

// absolute are paths of a configuration wherever it is.
func absolute(c config.Config, paths config.Names) (config.Names, error) {
	out := make(config.Names, len(paths))
	for i, p := range paths {
		abs, err := source.Abs(c.Resolve(p))
		if err != nil {
			return nil, err
		}
		out[i] = abs
	}
	return out, nil
}

// numbers are the sections that are there only where they were written, and in which
// zero is a number like any other.
var numbers = []string{"problem.reward", "problem.return", "data.means", "features.scale"}

// entries are the sections whose keys are whatever was written: one that is there with
// a zero, such as a public mean of 0, is not as if it were not there.
var entries = []string{"data.columns", "data.means", "features.scale"}

// Prune leaves out what says nothing: a key that a later program knows is not there
// before it is used.
func Prune(tree map[string]any) {
	leaveOut("", tree, func(section string, _ any) bool { return !slices.Contains(entries, section) })
}

// leaveOut leaves out the empty values of a tree for which a test of their section
// says so.
func leaveOut(section string, tree map[string]any, empty func(section string, value any) bool) {
	for key, value := range tree {
		if below, ok := value.(map[string]any); ok {
			leaveOut(strings.TrimPrefix(section+"."+key, "."), below, empty)
		}
		v := reflect.ValueOf(value)
		nothing := !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
		if nothing && empty(section, value) {
			delete(tree, key)
		}
	}
}

// CheckStewardPart checks a configuration of which the steward's part is wanted.
func CheckStewardPart(c config.Config) error {
	switch {
	case len(c.Data.Path) == 0:
		return fmt.Errorf("%w: data.path is missing; a contract says where the data are", config.ErrConfig)
	case c.Privacy.None:
		return fmt.Errorf("%w: privacy is none, and a contract is about what is charged; give privacy.adjacency and, unless it is person, privacy.unit", config.ErrConfig)
	case c.Contract != nil && c.Contract.FailedChecks < 0:
		return fmt.Errorf("%w: contract.failed_checks is %d; want 1 or more", config.ErrConfig, c.Contract.FailedChecks)
	}
	if c.Contract != nil {
		for _, name := range c.Contract.Methods {
			if _, err := evaluate.MethodNamed(name); err != nil {
				return fmt.Errorf("contract.methods: %w", err)
			}
		}
	}
	if c.Problem.Persons == 0 {
		return fmt.Errorf("%w: problem.persons is missing; a contract gives the public number, or under add_remove_one a public lower bound", config.ErrConfig)
	}
	if err := errors.Join(ValidateBehavior(c.Data.Behavior, false), validateRecords(c)); err != nil {
		return err
	}
	return checkNames(c)
}
