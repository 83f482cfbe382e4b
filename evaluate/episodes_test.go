package evaluate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestSeveralEpisodesAreTold: plans say what the mean over a person's episodes supposes,
// exactly where a person may have several. Of people who stop after a success that mean
// is another number than the value, and intervals about it hold the value in none of
// hundreds of logs (docs/proofs/overlap.md).
func TestSeveralEpisodesAreTold(t *testing.T) {
	both := &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "a", Policy: mustConstant(t, 0)}, {Name: "b", Policy: mustConstant(t, 1)}}, Levels: []string{"a", "b"}, Contrasts: [][2]string{{"a", "b"}}}
	for _, c := range []struct {
		name     string
		episodes int64
		unit     evaluate.Unit
		change   func(*evaluate.Public)
		want     bool
	}{
		{"one episode", 1, "", nil, false},
		{"no cap", 0, "", nil, true},
		{"two", 2, evaluate.Person, nil, true},
		{"an episode is protected", 0, evaluate.Episode, nil, false},
		{"one decision in all", 0, "", func(p *evaluate.Public) { p.Horizon = 1 }, false},
		{"off-policy", 0, "", func(p *evaluate.Public) { p.Target = policy.ProbColumn{} }, true},
		{"several policies", 0, "", func(p *evaluate.Public) { p.Target, p.Targets = nil, both }, true},
		{"groups", 0, "", func(p *evaluate.Public) {
			p.By = &evaluate.Groups{Column: "obs_s", Of: []evaluate.Group{{Name: "x", Number: 0}, {Name: "y", Number: 1}}}
		}, true},
	} {
		_, p := unitData(c.unit)
		p.Episodes = c.episodes
		if c.change != nil {
			c.change(&p)
		}
		plan, err := (evaluate.DPIS{}).Plan(p)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		told := slices.ContainsFunc(plan.Notes, func(note string) bool { return strings.HasPrefix(note, "A person may have several episodes") })
		if told != c.want {
			t.Errorf("%s: told %v, want %v: %q", c.name, told, c.want, plan.Notes)
		}
	}
}

func mustConstant(t *testing.T, action int) policy.Policy {
	t.Helper()
	p, err := policy.NewConstant(action)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
