package spec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
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

// TestProbabilitiesOfOneDecision that stand as those of several are refused with the form that they should have.
func TestProbabilitiesOfOneDecision(t *testing.T) {
	one := func(probs ...float64) (all config.StepProbs) {
		for _, p := range probs {
			all = append(all, []float64{p})
		}
		return all
	}
	for name, c := range map[string]struct {
		probs  config.StepProbs
		public evaluate.Public
		want   string
	}{
		"one decision":          {one(0.6, 0.2, 0.2), evaluate.Public{Horizon: 1}, "3 decisions, and an episode has 1: if they are those of 3 actions at one decision, write them as one entry, in brackets of its own: probs: [[0.6, 0.2, 0.2]]"},
		"several episodes":      {one(0.5, 0.5), evaluate.Public{Horizon: 9, OneDecision: true}, "probs: [[0.5, 0.5]]"},
		"as many decisions":     {one(0.5, 0.5), evaluate.Public{Horizon: 2}, ""},
		"they do not add up":    {one(0.5, 0.6), evaluate.Public{Horizon: 1}, ""},
		"in one entry":          {config.StepProbs{{0.6, 0.2, 0.2}}, evaluate.Public{Horizon: 1}, ""},
		"a horizon of episodes": {one(0.5, 0.5), evaluate.Public{Horizon: 8, EpisodeHorizon: 2}, ""},
	} {
		err := inOneEntry(&config.Behavior{Probs: c.probs}, c.public)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}
