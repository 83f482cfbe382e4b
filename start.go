package discreet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

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

// distribution is the weight of every state, nil where no start is given.
func (c Config) distribution(p evaluate.Public) ([]float64, error) {
	s := c.Start
	if s == nil {
		return nil, nil
	}
	uses, known := map[string]string{"state": "state", "uniform": "", "weights": "weights"}[s.Kind]
	if !known {
		return nil, fmt.Errorf("%w: kind is %q; want state, uniform or weights", ErrConfig, s.Kind)
	}
	if err := unused("start", s.Kind, uses, []given{{"state", s.State != nil}, {"weights", len(s.Weights) > 0}}); err != nil {
		return nil, err
	}
	f, ok := p.Features.(feature.Finite)
	if !ok {
		return nil, fmt.Errorf("%w: it weighs numbered states, and features are of another kind or missing; use features of kind tabular or aggregate, or leave start out", ErrConfig)
	}
	out := make([]float64, f.States())
	switch s.Kind {
	case "state":
		k, err := c.state(f)
		if err != nil {
			return nil, err
		}
		out[k] = 1
	case "uniform":
		for i := range out {
			out[i] = 1 / float64(len(out))
		}
	case "weights":
		return normalised(s.Weights, out)
	}
	return out, nil
}

// normalised divides weights by their sum.
func normalised(weights, out []float64) ([]float64, error) {
	if len(weights) != len(out) {
		return nil, fmt.Errorf("%w: %d weights for %d states; give each state one, in the order of their numbers", ErrConfig, len(weights), len(out))
	}
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0) {
			return nil, fmt.Errorf("%w: the weight of state %d is %v; want 0 or above", ErrConfig, i, w)
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("%w: the weights add up to %v; want a finite number above 0", ErrConfig, sum)
	}
	for i, w := range weights {
		out[i] = w / sum
	}
	return out, nil
}

// state is the number of the state that all start in.
func (c Config) state(f feature.Finite) (int, error) {
	s := c.Start.State
	switch {
	case s == nil:
		return 0, fmt.Errorf("%w: state is missing; name the state that all start in", ErrConfig)
	case s.Word == "" && s.Number >= 0 && s.Number < f.States():
		return s.Number, nil
	case s.Word == "":
		return 0, fmt.Errorf("%w: state is %d; want 0 to %d", ErrConfig, s.Number, f.States()-1)
	}
	if v, ok := c.stateWords(); ok {
		if i := slices.Index(v.Words, s.Word); i >= 0 {
			if code := v.Code(i); code >= 0 && code < float64(f.States()) && code == float64(int(code)) {
				return int(code), nil
			}
		}
	}
	return 0, fmt.Errorf("%w: state is the word %q, and data.encode gives it the number of no state of column %s", ErrConfig, s.Word, c.Features.Column)
}

// stateWords is the vocabulary of the column that holds the number of the state.
func (c Config) stateWords() (trajectory.Vocabulary, bool) {
	for _, name := range []string{c.Features.Column, strings.TrimPrefix(c.Features.Column, "obs_"), "obs_" + c.Features.Column} {
		if v, ok := c.Data.Encode[name]; ok && !v.OneHot {
			return trajectory.Vocabulary(v), true
		}
	}
	return trajectory.Vocabulary{}, false
}

// stateNames are the words for the states in their order, nil where no vocabulary gives
// any. A state without a word keeps its number, one of several words has them all.
func (c Config) stateNames(m feature.Map) []string {
	f, ok := m.(feature.Finite)
	if !ok {
		return nil
	}
	v, ok := c.stateWords()
	if !ok {
		return nil
	}
	words := make([][]string, f.States())
	for i, word := range v.Words {
		if code := v.Code(i); code >= 0 && code < float64(len(words)) && code == float64(int(code)) && word != "" {
			words[int(code)] = append(words[int(code)], word)
		}
	}
	names := make([]string, len(words))
	for i, w := range words {
		if names[i] = strings.Join(w, " or "); len(w) == 0 {
			names[i] = strconv.Itoa(i)
		}
	}
	return names
}

// checkStateNames wants a name for every state.
func checkStateNames(r *evaluate.Release, v any) error {
	var names []string
	if err := strictly(v, &names); err != nil {
		return err
	}
	var spec struct {
		States int `json:"states"`
	}
	if err := loosely(r.Public["features"], &spec); err != nil {
		return err
	}
	if len(names) == 0 || len(names) != spec.States {
		return fmt.Errorf("%d names for %d states", len(names), spec.States)
	}
	if slices.Contains(names, "") {
		return errors.New("holds an empty name")
	}
	return nil
}
