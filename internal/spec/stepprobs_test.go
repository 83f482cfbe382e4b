package spec

import (
	"encoding/json"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// Hashes and contracts hold the probabilities as they are written, so that plain
// numbers stay what they are.
func TestStepProbsKeepTheirForm(t *testing.T) {
	for _, form := range []string{"[0.5,1]", "[[0.4,0.6],1]", "[[0,1],[0.25,0.75]]", "null"} {
		c, err := yamlfile.Decode[config.Config]("a.yaml", []byte("data: {path: a.csv, behavior: {source: design, kind: constant_by_step, probs: "+form+"}}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(c.Data.Behavior.Probs); err != nil || string(text) != form {
			t.Errorf("JSON %s, %v; want %s", text, err, form)
		}
		tree, err := ComparedTerms(c)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(tree["data"].(map[string]any)["behavior"].(map[string]any)["probs"])
		if err != nil || string(text) != form {
			t.Errorf("a contract holds %s, %v; want %s", text, err, form)
		}
	}
}
