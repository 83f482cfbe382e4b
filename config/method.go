package config

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
)

// Method is an estimator by name, with its parameters; see evaluate.Methods.
type Method struct {
	// Name is the method's name; `discreet methods` lists them.
	Name string `yaml:"name"`
	// Params are the method's parameters, which docs/reference/methods.md lists.
	Params map[string]any `yaml:",inline"`
	// Sums is a method of the program's own, of that Name, which no file has. Without Params its
	// fields, as JSON, are the parameters.
	Sums evaluate.Sums `yaml:"-"`
}

// UnmarshalYAML takes keys of nested parameters for texts, whatever they look like: arms may be called 0 and 1.
func (m *Method) UnmarshalYAML(decode func(any) error) error {
	type plain Method
	if err := decode((*plain)(m)); err != nil {
		return err
	}
	for key, value := range m.Params {
		if of, ok := value.(map[any]any); ok {
			texts := make(map[string]any, len(of))
			for k, v := range of {
				if _, twice := texts[fmt.Sprint(k)]; twice {
					return fmt.Errorf("%s has the key %v twice, as a number and as a text; leave one out", key, k)
				}
				texts[fmt.Sprint(k)] = v
			}
			m.Params[key] = texts
		}
	}
	return nil
}

// Ledger names the budget to charge.
type Ledger struct {
	// Path is a SQLite file or a postgres:// URL.
	Path string `yaml:"path"`
	// Dataset names the budget in the store; it is optional if the store holds only
	// one.
	Dataset string `yaml:"dataset"`
	// Analyst is who asks, "unnamed" by default, and Purpose what for. Both go into
	// the ledger and into the release.
	Analyst string `yaml:"analyst"`
	Purpose string `yaml:"purpose"`
}

// Output says where a release is written.
type Output struct {
	// Dir is the directory for release.json and report.html; without it nothing is written.
	Dir string `yaml:"dir"`
}

// Terms is what a contract allows, besides fixing how the data are read.
type Terms struct {
	// Methods are the methods that may be asked for; an empty list allows all.
	Methods []string `yaml:"methods"`
	// FailedChecks is how many checks of the data may fail before the steward has to
	// clear them; 3 by default.
	FailedChecks int `yaml:"failed_checks"`
}
