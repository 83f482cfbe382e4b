package config

import (
	"encoding/json"
	"errors"
	"fmt"
)

// StepProbs are probabilities by the number of a decision, see [policy.NewByStep]: an
// entry of one number is the probability of the action taken, a longer one that of
// each action by its number. In YAML an entry is a number or a list, such as
// [[0.4, 0.6], 1].
type StepProbs [][]float64

// UnmarshalYAML accepts a list of numbers and of lists of numbers.
func (p *StepProbs) UnmarshalYAML(decode func(any) error) error {
	var entries []any
	if err := decode(&entries); err != nil {
		return errors.New("want a list with an entry for each decision")
	}
	*p = make(StepProbs, len(entries))
	for t, entry := range entries {
		list, several := entry.([]any)
		if !several {
			list = []any{entry}
		} else if len(list) < 2 {
			return fmt.Errorf("the list at decision %d has not one probability for each of two actions or more; write the number alone for the probability of the action taken", t)
		}
		for _, value := range list {
			switch value := value.(type) {
			case int:
				(*p)[t] = append((*p)[t], float64(value))
			case float64:
				(*p)[t] = append((*p)[t], value)
			default:
				return fmt.Errorf("decision %d: want a number, or a list of one number for each action", t)
			}
		}
	}
	return nil
}

// Entries are what the YAML form holds.
func (p StepProbs) Entries() []any {
	if p == nil {
		return nil
	}
	out := make([]any, len(p))
	for t, at := range p {
		out[t] = at
		if len(at) == 1 {
			out[t] = at[0]
		}
	}
	return out
}

// MarshalYAML gives the form that UnmarshalYAML accepts.
func (p StepProbs) MarshalYAML() (any, error) { return p.Entries(), nil }

// MarshalJSON gives the same form.
func (p StepProbs) MarshalJSON() ([]byte, error) { return json.Marshal(p.Entries()) }

// UnmarshalJSON accepts it.
func (p *StepProbs) UnmarshalJSON(text []byte) error {
	return p.UnmarshalYAML(func(into any) error { return json.Unmarshal(text, into) })
}
