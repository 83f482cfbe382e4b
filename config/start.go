package config

import "errors"

// Start is a public distribution of first states. The mean of a value function under it
// is released beside the values.
type Start struct {
	// Kind is state, uniform or weights.
	Kind string `yaml:"kind"`
	// State is the single first state (state): a number, or a word of data.encode.
	State *State `yaml:"state" json:",omitempty"`
	// Weights are the weights of the states, in their order (weights). They are divided by
	// their sum.
	Weights []float64 `yaml:"weights" json:",omitempty"`
}

// State names a state: by its number, or by its word in the vocabulary of the column of
// the features in [Data.Encode].
type State Action

// UnmarshalYAML accepts a whole number or a word.
func (s *State) UnmarshalYAML(decode func(any) error) error {
	if (*Action)(s).UnmarshalYAML(decode) != nil {
		return errors.New("want the number of a state, or its word in data.encode")
	}
	return nil
}

// MarshalJSON gives the number or the word.
func (s State) MarshalJSON() ([]byte, error) { return Action(s).MarshalJSON() }
