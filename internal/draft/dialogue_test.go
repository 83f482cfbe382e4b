package draft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/draft"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// stays are the columns of a cohort as an export of intensive care has them.
var stays = &file.Description{Columns: []file.Column{
	{Name: "subject_id", Canonical: "unit_id", Type: "integer"}, {Name: "stay_id", Type: "integer"}, {Name: "charttime", Type: "text"},
	{Name: "dose_word", Type: "text"}, {Name: "lactate", Type: "number"}, {Name: "hospital_death", Type: "integer"},
}}

func ExampleAsk() {
	answers := strings.Join([]string{"", "", "", "", "hospital_death", "", "", "", "%Y-%m-%d %H:%M", "no", "2", "none, low, high", "4", ""}, "\n")
	var out strings.Builder
	a := draft.Ask(strings.NewReader(answers), &out, stays, nil)
	for line := range strings.Lines(string(draft.Configuration("icu.csv", "", stays, a))) {
		if !strings.Contains(line, "#") && line != "\n" {
			fmt.Print(line)
		}
	}
	// Output:
	// data:
	//   path: icu.csv
	//   steps: {kind: date, format: "%Y-%m-%d %H:%M", sort: true}
	//     action: dose_word
	//     episode_id: stay_id
	//     reward: hospital_death
	//     step: charttime
	//   reward: {on: last_row}
	// problem:
	// privacy:
	//   epsilon: FILL IN
	// method: {name: FILL IN}
}

// Whoever answers all questions gets a configuration that is planned as it stands.
func TestAllAnswersMakeAQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		columns []file.Column
		answers []string
		want    []string
	}{
		"a trial": {[]file.Column{{Name: "patient", Type: "text"}, {Name: "arm", Type: "text"}, {Name: "response", Type: "integer"}},
			[]string{"", "", "", "", "", "", "", "1", "placebo, drug", "3", "", "400", "1", "-1", "1", "1", "", "1", "", "constant drug"},
			[]string{"one_row_episodes: true", "actions: [placebo, drug]", "kind: constant_by_step, probs: [[0.5, 0.5], 1]", "delta: 1e-6", "target: {kind: constant, action: drug}", "    unit_id: patient"}},
		"a rule": {[]file.Column{{Name: "patient", Type: "text"}, {Name: "age", Type: "integer"}, {Name: "arm", Type: "text"}, {Name: "response", Type: "integer"}},
			[]string{"", "", "", "", "", "", "", "1", "placebo, drug", "3", "", "400", "1", "-1", "1", "1", "", "1", "", "learn 1", "learn 2", "weight 0 9", "age 90", "age 90 20", "age 20 90", "yes"},
			[]string{"target: {kind: learned, actions: 2}", "method: {name: dp-learn}", "features: {kind: columns, names: [age], low: [20], high: [90]}", "records: complete"}},
		"an experiment": {[]file.Column{{Name: "patient", Type: "text"}, {Name: "age", Type: "integer"}, {Name: "arm", Type: "text"}, {Name: "response", Type: "integer"}},
			[]string{"", "", "", "", "", "", "", "1", "placebo, drug", "3", "", "400", "1", "-1", "1", "1", "", "1", "", "compare", "nobody", "placebo", "arm 0 1", "age 20 90, age 1 2", "age 20 90", "yes"},
			[]string{"by: {column: arm, values: [placebo, drug], names: [placebo, drug], group: may_change}", "name: dp-experiment, control: placebo, allocation: {placebo: 0.5, drug: 0.5}}", "features: {kind: columns, names: [age], low: [20], high: [90]}", "records: complete"}},
		"arms in numbers": {[]file.Column{{Name: "patient", Type: "text"}, {Name: "action", Canonical: "action", Type: "integer"}, {Name: "response", Type: "integer"}},
			[]string{"", "", "", "", "", "", "", "1", "2", "3", "400", "1", "-1", "1", "1", "", "1", "", "compare", "zero, one", "0, 1", "0, 1, 2", "1", "", ""},
			[]string{"by: {column: action, values: [0, 1, 2], names: [\"0\", \"1\", \"2\"], group: may_change}", "name: dp-experiment, control: \"1\", allocation: {\"0\": 0.33333333333333331"}},
		"a bandit": {[]file.Column{{Name: "user_id", Canonical: "unit_id", Type: "integer"}, {Name: "item_id", Canonical: "action", Type: "integer"}, {Name: "click", Canonical: "reward", Type: "integer"}, {Name: "pscore", Canonical: "behavior_prob", Type: "number"}},
			[]string{"", "", "", "", "", "", "", "1", "", "2000000", "1", "-0.5", "1", "3", "", "1", "", "uniform 34"},
			[]string{"source: logged", "delta: 1e-9", "target: {kind: uniform, actions: 34}"}},
		"a hospital": {[]file.Column{{Name: "uid", Type: "text"}, {Name: "given_at", Type: "text"}, {Name: "severity", Type: "text"}, {Name: "therapy", Type: "text"}},
			[]string{"", "", "", "", "none", "", "", "2", "", "%d.%m.%Y %H:%M", "no", "discharge.csv", "status", "died: 0, home: 1", "-", "none, steroid", "4", "", "5000", "1", "0", "1", "3", "terminated", "1", "", "constant steroid"},
			[]string{"    unit_id: uid", "    step: given_at", "    action: therapy", "steps: {kind: date, format: \"%d.%m.%Y %H:%M\", sort: true}", "outcome: {path: discharge.csv, by: unit_id, column: status}", "behavior: {kind: estimate, actions: 2, once: false}    # in one cell:"}},
		"a shop": {[]file.Column{{Name: "user_id", Canonical: "unit_id", Type: "integer"}, {Name: "event_time", Type: "text"}, {Name: "variant", Type: "text"}, {Name: "purchase", Type: "integer"}},
			[]string{"", "", "", "", "", "", "", "3", "half an hour", "30m", "", "", "a, b", "2", "", "500", "1", "0", "1", "5", "10", "terminated", "1", "", "constant b"},
			[]string{"episodes: {gap: 30m}", "steps: {kind: date, sort: true}", "episode_horizon: 10", "end: terminated"}},
	} {
		of := &file.Description{Columns: c.columns}
		var out strings.Builder
		a := draft.Ask(strings.NewReader(strings.Join(c.answers, "\n")+"\n"), &out, of, func(string) string { return "has 3 values in 9 rows" })
		text := string(draft.Configuration("log.csv", "", of, a))
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		parsed, err := discreet.Parse("draft", []byte(text))
		if err == nil {
			_, err = discreet.Plan(parsed)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s\n%s", name, err, out.String(), text)
		}
		if !strings.Contains(out.String(), "for your eyes alone") {
			t.Errorf("%s: nothing is told of ids:\n%s", name, out.String())
		}
	}
}

// Whatever is answered, and wherever the answers end, the file can be read, and what keeps it from being planned
// is named; a time is no word, and nothing is clipped unasked.
func TestAnyAnswersMakeAFileThatCanBeRead(t *testing.T) {
	pool := []string{"", "-", "none", "subject_id", "stay_id", "subject_id, stay_id", "a: 1, b: 0", "charttime", "dose_word", "hospital_death", "lactate", "1", "2", "3", "4", "5", "0", "ordered", "date", "%Y", "yes", "no", "a, b", "x: {", "\x1b]", "logged", "constant a: b", "uniform 3", "pi.csv", "-1", "1e-3", "terminated", "row"}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 60).Draw(t, "answers")
		var out strings.Builder
		a := draft.Ask(strings.NewReader(strings.Join(lines, "\n")), &out, stays, nil)
		text := string(draft.Configuration("icu.csv", "", stays, a))
		if _, err := discreet.Parse("draft", []byte(text)); err != nil && !strings.Contains(err.Error(), yamlfile.Open) {
			t.Fatalf("%v\n%q\n%s", err, lines, text)
		}
		if strings.Contains(text, "charttime: [") || strings.Contains(text, "outside:") {
			t.Fatal(text)
		}
	})
}

// Columns that are likely by their names are proposed, but not one of two.
func TestLikelyColumnsAreProposed(t *testing.T) {
	for name, want := range map[string]string{
		"subject_id,stay_id,charttime,treatment":                 "action=treatment episode_id=stay_id step=charttime unit_id=subject_id",
		"person_id,visit_occurrence_id,drug_concept_id":          "action=drug_concept_id episode_id=visit_occurrence_id unit_id=person_id",
		"uniquepid,patientunitstayid,drugstartoffset":            "episode_id=patientunitstayid step=drugstartoffset unit_id=uniquepid",
		"user_pseudo_id,ga_session_id,event_timestamp,variant":   "action=variant episode_id=ga_session_id step=event_timestamp unit_id=user_pseudo_id",
		"Customer ID,event time,allocation-prob":                 "behavior_prob=allocation-prob step=event time unit_id=Customer ID",
		"client,visitor,treated,arm,propensity,prob,amount,note": "",
	} {
		var columns []file.Column
		for c := range strings.SplitSeq(name, ",") {
			columns = append(columns, file.Column{Name: c, Type: "text"})
		}
		var got []string
		for role, column := range draft.Proposed(&file.Description{Columns: columns}).Columns {
			got = append(got, role+"="+strings.Join(column, "+"))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
}
