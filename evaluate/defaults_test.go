package evaluate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/policy"
)

// listed takes the names of a parameter apart from its default, which stands in
// the parentheses at the end, several of them in the order of the names.
var listed = regexp.MustCompile(`^([a-z_]+(?:, [a-z_]+)*)(?::.*)? \(([^()]*)\)$`)

// TestListedDefaultsAreTheDefaults writes every default that the listing of
// methods states as a number or a word into the parameters: the plan, and of a
// reference the release, must stay the same to the last byte, and a parameter that
// is twice the default (or another word) must not be taken for it.
func TestListedDefaultsAreTheDefaults(t *testing.T) {
	checked := 0
	known := map[string]string{} // outcomes without the parameter, by what is given
	for _, m := range evaluate.Methods() {
		for _, line := range m.Parameters {
			match := listed.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			values := strings.Split(strings.Split(match[2], ";")[0], ", ")
			for i, name := range strings.Split(match[1], ", ") {
				value, other, ok := defaultOf(name, values[min(i, len(values)-1)])
				if !ok {
					continue
				}
				given := map[string]any{}
				switch {
				case name == "max_ratio":
					given["form"] = "state"
				case name == "clip_share":
					given["clip"] = "auto"
				case name == "baseline_share":
					given["baseline"] = "state"
				}
				key := fmt.Sprint(m.Name, given, name == "steps", name == "sampling", name == "schedule")
				if known[key] == "" {
					known[key] = outcome(t, m, given, name)
				}
				plain := known[key]
				given[name] = value
				if got := outcome(t, m, given, name); got != plain {
					t.Errorf("%s: %s: with the listed default %v\n%s\nwithout\n%s", m.Name, name, value, got, plain)
				}
				given[name] = other
				if got := outcome(t, m, given, name); got == plain {
					t.Errorf("%s: %s: %v and the default %v are the same", m.Name, name, other, value)
				}
				checked++
			}
		}
	}
	if checked < 28 {
		t.Errorf("%d defaults were checked; want at least 28", checked)
	}
}

// defaultOf reads a stated default and makes another value of its kind. Lists, and
// defaults that follow a rule, are left out.
func defaultOf(name, text string) (value, other any, ok bool) {
	word, _, _ := strings.Cut(text, " ")
	switch x, err := strconv.ParseFloat(strings.TrimSuffix(word, ":"), 64); {
	case name == "weights":
		return nil, nil, false
	case text == "true":
		return true, false, true
	case err == nil && x == 0:
		return x, 0.25, true
	case err == nil:
		return x, 2 * x, true
	case name == "clip" && word == "auto":
		return word, "public", true
	}
	o, ok := map[string]string{"public": "auto", "auto": "none", "exact": "balle16", "poisson": "uniform", "constant": "polynomial",
		"transition": "trajectory", "trajectory": "transition", "monte_carlo": "regression"}[word]
	return word, o, ok
}

// outcome is what a method makes of its parameters: the plan, and of a reference the
// release.
func outcome(t *testing.T, m evaluate.Method, params map[string]any, varied string) string {
	t.Helper()
	params = maps.Clone(params)
	switch {
	case varied == "schedule":
		params["exponent"] = 0.5
	case m.Name == "gtd2" && varied != "steps":
		params["steps"] = 1000
	}
	length := 0 // to the end
	if m.Name == "gtd2" {
		length = 8 // it takes many steps, each of a whole episode
	}
	if m.Name == "gpope" {
		params["iterations"] = 10 // noise for many sampled steps is slow to find
		if varied != "sampling" {
			params["sampling"] = "everyone"
		}
	}
	p, data := chainPublic(t, 100_000, dp.ReplaceOne), must(chain.Simulate(chain.Options{Episodes: 40, Seed: 1, MaxSteps: length}))
	switch {
	case m.Name == "dr":
		data = bandit(rand.New(rand.NewPCG(1, 2)), 40)
		p = banditPublic(t, 40, dp.ReplaceOne, must(policy.NewConstant(1)))
	case !strings.HasPrefix(m.Name, "dp-ls") && !strings.HasPrefix(m.Name, "ls"):
		p.Target = must(policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column))
	}
	if m.Learns {
		w := trialWorlds()[0]
		p, data = w.public(10_000, 1, dp.ReplaceOne), w.draw(40, 1)
	}
	if !m.Private {
		p.Privacy = nil
	}
	plan, err := must(evaluate.New(m.Name, params)).Plan(p)
	if err != nil {
		t.Fatalf("%s %v: %v", m.Name, params, err)
	}
	delete(plan.Facts, "parameters") // what was asked for, default or not
	out := map[string]any{"facts": plan.Facts, "event": plan.Event, "expected": plan.Expected}
	if !m.Private {
		r := runOf(t, plan, data, nil)
		out["theta"], out["answers"] = r.Theta, r.Answers
	}
	return string(must(json.Marshal(out)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
