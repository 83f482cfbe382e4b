package charging

import (
	"encoding/json"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// A contract shows zeros that were written, and one that was stored without them
// still agrees with the configuration that it was made from.
func TestContractsHoldZerosAndAgreeWithThoseWithout(t *testing.T) {
	c, err := yamlfile.Decode[config.Config]("a.yaml", []byte(`
data: {path: a.csv, means: {bili: 0}}
problem: {gamma: 1, reward: {max: 1}, return: {min: -2, max: 0}, horizon: 2}
target: {kind: logged}
method: {name: dp-is}
privacy: {adjacency: replace_one, epsilon: 1, delta: 1e-4}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := spec.ContractTerms(c)
	if err != nil {
		t.Fatal(err)
	}
	problem := stored["problem"].(map[string]any)
	for section, want := range map[string]string{"reward": `{"max":1,"min":0}`, "return": `{"max":0,"min":-2}`} {
		if got, err := json.Marshal(problem[section]); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", section, got, err, want)
		}
	}
	if got, err := json.Marshal(stored["data"].(map[string]any)["means"]); err != nil || string(got) != `{"bili":0}` {
		t.Errorf("means are %s, %v", got, err)
	}
	if _, there := problem["persons"]; there {
		t.Error("persons, which nobody gave, are said")
	}
	for _, tree := range []func(config.Config) (map[string]any, error){spec.ContractTerms, spec.ComparedTerms} {
		stored, err := tree(c)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(stored)
		if err != nil {
			t.Fatal(err)
		}
		a, err := agreedIn(&ledger.Contract{Number: 1, Terms: text})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.keepsTo(c); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		other := c
		other.Problem.Return = nil
		if err := a.keepsTo(other); err == nil {
			t.Errorf("%s agrees with a configuration without a range of returns", text)
		}
	}
}
