package serve_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// learnLives is the steward's part over times of the trial, and learn a question of which answers have intervals of their own.
const (
	learnLives = `
data:
  path: %s
  columns: {unit_id: id, action: arm}
  actions: [placebo, D-penicillamine]
  encode: {sex: [f, m]}
  behavior: {source: design, kind: uniform, actions: 2, note: arms drawn by lot}
  outcome: {time: days, event: status, causes: {death: death, transplant: transplant}, censored: censored, unit: days, every: 730.5, until: 3652.5}
problem: {persons: 312, records: complete}
features: {kind: columns, names: [age, sex], low: [20, 0], high: [80, 1]}
privacy: {unit: person, adjacency: replace_one}
contract: {methods: [dp-learn]}
ledger: {path: budget.db, dataset: pbc}
`
	learn = "target: {kind: learned, actions: 2}\nmethod: {name: dp-learn, depth: 1}\nprivacy: {epsilon: 1, delta: 1e-5}\n"
	pair  = "targets: [{name: a, kind: constant, action: 1}, {name: b, kind: constant, action: 0}]\nmethod: {name: dp-wis}\nprivacy: {epsilon: 1, delta: 1e-5}\n"
)

// A planned answer says whether its interval is a joint one, and whether it counts what is missing; words stand for actions.
func TestPlannedAnswersSayWhatTheirWidthsAreOf(t *testing.T) {
	times, err := filepath.Abs("../examples/pbc/survival.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part, question, interval, name string
		counts                         bool
	}{
		{"", pair, "joint", "a", false},
		{fmt.Sprintf(learnLives, times), learn, "90%", "learned - D-penicillamine", true},
	} {
		h := furnish(t, "")
		if c.part != "" {
			h.write("pbc.yaml", c.part)
		}
		p, err := h.open().client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: c.question})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, a := range p.GetAnswers() {
			names = append(names, a.GetName())
			if a.GetInterval() != c.interval || a.GetCountsMissing() != c.counts || a.GetHalfWidth() == 0 {
				t.Errorf("%v; want an interval %s, counts missing %v", a, c.interval, c.counts)
			}
		}
		if !strings.Contains(strings.Join(names, ", "), c.name) {
			t.Errorf("answers %q; want %s among them", names, c.name)
		}
	}
}
