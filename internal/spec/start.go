package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// distribution is the weight of every state, nil where no start is given.
func startDistribution(c config.Config, p evaluate.Public) ([]float64, error) {
	s := c.Start
	if s == nil {
		return nil, nil
	}
	uses, known := map[string]string{"state": "state", "uniform": "", "weights": "weights"}[s.Kind]
	if !known {
		return nil, fmt.Errorf("%w: kind is %q; want state, uniform or weights", config.ErrConfig, s.Kind)
	}
	if err := unused("start", s.Kind, uses, []given{{"state", s.State != nil}, {"weights", len(s.Weights) > 0}}); err != nil {
		return nil, err
	}
	f, ok := p.Features.(feature.Finite)
	if !ok {
		return nil, fmt.Errorf("%w: it weighs numbered states, and features are of another kind or missing; use features of kind tabular or aggregate, or leave start out", config.ErrConfig)
	}
	out := make([]float64, f.States())
	switch s.Kind {
	case "state":
		k, err := startState(c, f)
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
		return nil, fmt.Errorf("%w: %d weights for %d states; give each state one, in the order of their numbers", config.ErrConfig, len(weights), len(out))
	}
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0) {
			return nil, fmt.Errorf("%w: the weight of state %d is %v; want 0 or above", config.ErrConfig, i, w)
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("%w: the weights add up to %v; want a finite number above 0", config.ErrConfig, sum)
	}
	for i, w := range weights {
		out[i] = w / sum
	}
	return out, nil
}

// state is the number of the state that all start in.
func startState(c config.Config, f feature.Finite) (int, error) {
	s := c.Start.State
	switch {
	case s == nil:
		return 0, fmt.Errorf("%w: state is missing; name the state that all start in", config.ErrConfig)
	case s.Word == "" && s.Number >= 0 && s.Number < f.States():
		return s.Number, nil
	case s.Word == "":
		return 0, fmt.Errorf("%w: state is %d; want 0 to %d", config.ErrConfig, s.Number, f.States()-1)
	}
	if v, ok := stateWords(c); ok {
		if i := slices.Index(v.Words, s.Word); i >= 0 {
			if code := v.Code(i); code >= 0 && code < float64(f.States()) && code == float64(int(code)) {
				return int(code), nil
			}
		}
	}
	return 0, fmt.Errorf("%w: state is the word %q, and data.encode gives it the number of no state of column %s", config.ErrConfig, s.Word, c.Features.Column)
}

// stateWords is the vocabulary of the column that holds the number of the state.
func stateWords(c config.Config) (trajectory.Vocabulary, bool) {
	for _, name := range []string{c.Features.Column, strings.TrimPrefix(c.Features.Column, "obs_"), "obs_" + c.Features.Column} {
		if v, ok := c.Data.Encode[name]; ok && !v.OneHot {
			return trajectory.Vocabulary(v), true
		}
	}
	return trajectory.Vocabulary{}, false
}

// actionNames are the words for so many actions in their order. One without a word keeps its number.
func actionNames(words config.Vocabulary, actions int) []string {
	names := make([]string, actions)
	for a := range names {
		names[a] = strconv.Itoa(a)
	}
	v := trajectory.Vocabulary(words)
	for i, word := range v.Words {
		if code := v.Code(i); code >= 0 && code < float64(actions) && code == float64(int(code)) && word != "" {
			names[int(code)] = word
		}
	}
	return names
}

// stateNames are the words for the states in their order, nil where no vocabulary gives
// any. A state without a word keeps its number, one of several words has them all.
func stateNames(c config.Config, m feature.Map) []string {
	f, ok := m.(feature.Finite)
	if !ok {
		return nil
	}
	v, ok := stateWords(c)
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
