package yamlfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheRuleChoosesWhatIsLeftOut: the rows are those of docs/training.md, "The recipe". The run that comes of a configuration is the one
// that its recipe tells.
func TestTheRuleChoosesWhatIsLeftOut(t *testing.T) {
	const method, mechanism, episodes, perturbation = "local.method", "privacy.mechanism", "local.episodes", "local.perturbation"
	for text, want := range map[string]string{
		// Nothing is stated: epsilon of a report and the number of weights decide.
		"privacy: {epsilon: 2}": "antithetic one-bit 5: " + method + " " + mechanism + " " + episodes + " " + perturbation,
		"privacy: {epsilon: 2, mechanism: auto}\nlocal: {method: auto}": "antithetic one-bit 5: " + method + " " + mechanism + " " + episodes + " " + perturbation,
		"privacy: {epsilon: 2.1}":                        "policy-gradient privunit 5: " + method + " " + mechanism + " " + episodes,
		"privacy: {epsilon: 8, reports: 8}":              "antithetic one-bit 5: " + method + " " + mechanism + " " + episodes + " " + perturbation,
		"privacy: {epsilon: 1}\nnetwork: {hidden: [21]}": "antithetic one-bit 5: " + method + " " + mechanism + " " + episodes + " " + perturbation, // 126 weights
		"privacy: {epsilon: 1}\nnetwork: {hidden: [22]}": "policy-gradient sign-prs 5: " + method + " " + mechanism + " " + episodes,                // 132
		// What is stated stands and decides the rest.
		"privacy: {epsilon: 1, mechanism: sign-prs}":                                                             "policy-gradient sign-prs 5: " + method + " " + episodes,
		"privacy: {epsilon: 1, mechanism: privunit}\nlocal: {episodes: 2}":                                       "policy-gradient privunit 2: " + method,
		"privacy: {epsilon: 8, mechanism: one-bit}":                                                              "antithetic one-bit 5: " + method + " " + episodes + " " + perturbation,
		"privacy: {mechanism: none}":                                                                             "policy-gradient none 5: " + method + " " + episodes,
		"privacy: {epsilon: 1}\nlocal: {method: policy-gradient}":                                                "policy-gradient sign-prs 5: " + mechanism + " " + episodes,
		"privacy: {epsilon: 1}\nlocal: {method: actor-critic}":                                                   "actor-critic sign-prs 1: " + mechanism,
		"privacy: {epsilon: 1}\nlocal: {method: evolution, perturbation: 0.1}":                                   "evolution one-bit 1: " + mechanism,
		"privacy: {epsilon: 8}\nlocal: {perturbation: 0.1}":                                                      "antithetic one-bit 5: " + method + " " + mechanism + " " + episodes,
		"privacy: {epsilon: 1}\nlocal: {gamma: 0.9}":                                                             "policy-gradient sign-prs 5: " + method + " " + mechanism + " " + episodes,
		"privacy: {epsilon: 1}\nlocal: {entropy: 0.1}":                                                           "policy-gradient sign-prs 5: " + method + " " + mechanism + " " + episodes,
		"privacy: {epsilon: 1}\nlocal: {reward: failure}":                                                        "policy-gradient sign-prs 5: " + method + " " + mechanism + " " + episodes,
		"privacy: {epsilon: 1}\nlocal: {steps: 3, optimizer: {kind: sgd, step: 1}}":                              "policy-gradient sign-prs 1: " + method + " " + mechanism,
		"privacy: {epsilon: 1, mechanism: sign-prs}\nlocal: {method: policy-gradient, episodes: 1}":              "policy-gradient sign-prs 1: ",
		"privacy: {epsilon: 1, mechanism: one-bit}\nlocal: {method: antithetic, episodes: 1, perturbation: 0.2}": "antithetic one-bit 1: ",
	} {
		path := filepath.Join(t.TempDir(), "train.yaml")
		if err := os.WriteFile(path, []byte("environment: {name: cart-pole}\nagents: 100\nserver: {submissions: 10}\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		y, err := LoadTrain(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := y.Recipe()
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(r.Method) + " " + string(r.Mechanism) + " " + string(rune('0'+r.Episodes)) + ": " + strings.Join(r.Chosen, " "); got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
		c, err := y.Config()
		if err != nil || c.Local.Method != r.Method || c.Terms.Randomizer.Mechanism != r.Mechanism || c.Local.Episodes != r.Episodes || c.Terms.Randomizer.Epsilon != r.Epsilon {
			t.Errorf("%s: the run has %s, %+v, %d episodes, %v; its recipe is %+v", text, c.Local.Method, c.Terms.Randomizer, c.Local.Episodes, err, r)
		}
	}
}
