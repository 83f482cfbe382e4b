package discreet_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
)

// ward is a configuration of three states with words, and what is asked beside them.
func ward(t *testing.T, more string) config.Config {
	t.Helper()
	c, err := discreet.Parse("ward.yaml", []byte(`data: {path: ward.csv, encode: {severity: [mild, moderate, severe]}}
problem: {persons: 100, gamma: 0.9, reward: {min: 0, max: 1}, horizon: 5}
features: {kind: tabular, states: 3, column: obs_severity}
target: {kind: logged}
method: {name: dp-refine}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1e-5}
`+more))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestStartForms: each form is the distribution that it says, by number or by word, and a
// part of the question; the states have the names of their vocabulary.
func TestStartForms(t *testing.T) {
	bare, err := ward(t, "").Hash()
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string][]float64{
		"start: {kind: state, state: severe}":          {0, 0, 1},
		"start: {kind: state, state: 0}":               {1, 0, 0},
		"start: {kind: uniform}":                       {1. / 3, 1. / 3, 1. / 3},
		"start: {kind: weights, weights: [2, 0.5, 0]}": {0.8, 0.2, 0},
	} {
		c := ward(t, form)
		p, err := discreet.Plan(c)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		got, _ := p.Facts["first_states"].([]float64)
		if len(got) != 3 || math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1])+math.Abs(got[2]-want[2]) > 1e-15 {
			t.Errorf("%s: %v; want %v", form, got, want)
		}
		if names, _ := p.Facts["state_names"].([]string); !slices.Equal(names, []string{"mild", "moderate", "severe"}) {
			t.Errorf("%s: names %q", form, p.Facts["state_names"])
		}
		if hash, err := c.Hash(); err != nil || hash == bare {
			t.Errorf("%s: hash %s, %v; without it %s", form, hash, err, bare)
		}
	}
	for form, want := range map[string]string{
		"start: {kind: state, state: dead}":                  `the word "dead", and data.encode gives it the number of no state of column obs_severity`,
		"start: {kind: state, state: 3}":                     "state is 3; want 0 to 2",
		"start: {kind: state}":                               "state is missing",
		"start: {kind: uniform, state: 0}":                   "kind uniform does not use state",
		"start: {kind: weights, weights: [1, 2]}":            "2 weights for 3 states",
		"start: {kind: weights, weights: [1, -1, 1]}":        "weight of state 1 is -1",
		"start: {kind: weights, weights: [0, 0, 0]}":         "add up to 0",
		"start: {kind: weights, weights: [1e308, 1e308, 0]}": "add up to +Inf",
		"start: {kind: logged}":                              `kind is "logged"; want state, uniform or weights`,
		"start: {kind: uniform}\nmethod: {name: dp-is}":      "",
	} {
		text := strings.Split(form, "\n")
		c := ward(t, text[0])
		if len(text) > 1 {
			c.Method = config.Method{Name: "dp-is"}
			want = "leave start out, or choose a method of a value function"
		}
		if _, err := discreet.Plan(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", form, err, want)
		}
	}
	c := ward(t, "start: {kind: uniform}")
	c.Features = nil
	c.Method.Name = "dp-is"
	if _, err := discreet.Plan(c); !errors.Is(err, config.ErrConfig) || !strings.Contains(err.Error(), "numbered states") {
		t.Errorf("without features: %v", err)
	}
}

// TestStatesKeepTheirNumberWithoutAWord: a vocabulary may leave states out, or give
// several words one number, and one-hot columns name no states.
func TestStatesKeepTheirNumberWithoutAWord(t *testing.T) {
	c := ward(t, "")
	c.Data.Encode = map[string]config.Vocabulary{"obs_severity": {Words: []string{"mild", "light", "severe", "halfway"}, Codes: []float64{0, 0, 2, 0.5}}}
	p, err := discreet.Plan(c)
	if names, _ := p.Facts["state_names"].([]string); err != nil || !slices.Equal(names, []string{"mild or light", "1", "severe"}) {
		t.Errorf("%q, %v", names, err)
	}
	c.Data.Encode = map[string]config.Vocabulary{"sex": {Words: []string{"f", "m"}}}
	if p, err = discreet.Plan(c); err != nil || p.Facts["state_names"] != nil {
		t.Errorf("names of another column: %v, %v", p.Facts["state_names"], err)
	}
}
