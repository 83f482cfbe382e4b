package evaluate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/rl/policy"
)

// The mechanisms that a release discloses are the leaves of its event, counted.
func TestMechanismsAreTheLeavesOfTheEvent(t *testing.T) {
	const persons = 200
	data := chainData(t, persons, 1)
	for name, want := range map[string]map[string]int64{
		"constant": {},
		"dp-lsw":   {"smooth_gaussian": 1},
		"gpope":    nil,
		"dp-is":    nil,
	} {
		e, err := evaluate.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, e, chainPublic(t, persons, dp.ReplaceOne), data, noise.NewSeeded(1))
		if want == nil {
			text, err := dp.MarshalEvent(r.Privacy.Event)
			if err != nil {
				t.Fatal(err)
			}
			want = countJSON(t, text)
		}
		got := map[string]int64{}
		for _, m := range r.Disclosure.Mechanisms {
			got[m.Kind] += m.Runs
		}
		if len(got) != len(want) || len(got) != len(r.Disclosure.Mechanisms) {
			t.Errorf("%s: mechanisms %v; want %v", name, got, want)
		}
		for kind, n := range want {
			if got[kind] != n {
				t.Errorf("%s: %d times %s; want %d", name, got[kind], kind, n)
			}
		}
	}
}

// countJSON counts the leaves of an event from its JSON form, by other means
// than the program.
func countJSON(t *testing.T, event []byte) map[string]int64 {
	t.Helper()
	var e struct {
		Kind   string            `json:"kind"`
		Count  *int64            `json:"count"`
		Event  json.RawMessage   `json:"event"`
		Events []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		t.Fatal(err)
	}
	if e.Event == nil && e.Events == nil {
		return map[string]int64{e.Kind: 1}
	}
	times := int64(1)
	if e.Count != nil {
		times = *e.Count
	}
	out := map[string]int64{}
	for _, child := range append(e.Events, e.Event) {
		if child != nil {
			for kind, n := range countJSON(t, child) {
				out[kind] += times * n
			}
		}
	}
	return out
}

func TestTheDisclosureSaysWhatWasAsked(t *testing.T) {
	const persons = 50
	data := chainData(t, persons, 1)
	exact := run(t, evaluate.DPIS{}, chainPublic(t, persons, dp.ReplaceOne), data, noise.NewSeeded(1))
	if exact.Privacy.Model != "central" || !strings.Contains(exact.Disclosure.Unit, "exchanged") || exact.Disclosure.Unprotected[0] != "the number of persons" ||
		!strings.Contains(exact.Disclosure.Unit, "at most 10000 decisions") || !strings.HasPrefix(exact.Disclosure.Definition, "(epsilon, delta)") {
		t.Errorf("%+v", exact.Disclosure)
	}
	p := chainPublic(t, persons, dp.AddRemoveOne)
	p.Episodes = 3
	p.Privacy.Fast = true
	fast := run(t, evaluate.DPIS{}, p, data, noise.NewSeeded(1)).Disclosure
	if !strings.Contains(fast.Unit, "presence") || !strings.Contains(fast.Unit, "at most 3 count") || !strings.Contains(fast.Unprotected[0], "lower bound") ||
		!strings.Contains(fast.FloatingPoint, "not excluded") {
		t.Errorf("%+v", fast)
	}
}

// References carry no disclosure, and follow the schema too.
func TestReferencesFollowTheSchema(t *testing.T) {
	const persons = 100
	data := chainData(t, persons, 1)
	for _, m := range evaluate.Methods() {
		if m.Private || m.NeedOutcome { // dpsurvival_test.go
			continue
		}
		var params map[string]any
		if m.Name == "gtd2" {
			params = map[string]any{"steps": 1000}
		}
		e, err := evaluate.New(m.Name, params)
		if err != nil {
			t.Fatal(err)
		}
		p := chainPublic(t, persons, dp.ReplaceOne)
		p.Privacy = nil
		if m.Name == "dr" { // it needs the probability of every action
			if p.Target, err = policy.NewUniform(2); err != nil {
				t.Fatal(err)
			}
		}
		r := run(t, e, p, data, nil)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(schema.Release, text); err != nil || r.Disclosure != nil {
			t.Errorf("%s: %v, disclosure %v", m.Name, err, r.Disclosure)
		}
	}
}
