package draft_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/draft"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func ExampleConfiguration() {
	text := draft.Configuration("trial.csv", "", &file.Description{Columns: []file.Column{
		{Name: "patient_id", Canonical: "unit_id", Type: "text"}, {Name: "visit", Canonical: "step", Type: "integer"},
		{Name: "arm", Type: "text"}, {Name: "reward", Canonical: "reward", Type: "number"},
	}}, draft.Answers{})
	for line := range bytes.Lines(text) {
		if strings.HasPrefix(string(line), "data:") || strings.HasPrefix(string(line), "  ") && !strings.Contains(string(line), yamlfile.Open) {
			fmt.Print(string(line))
		}
	}
	// Output:
	// data:
	//   path: trial.csv
	//   # na: [NA, "."]               # texts that stand for a missing value, where there are some
	//   # steps: {from: 1}            # where the first step is 1; {kind: ordered} for days, {kind: date} for dates; sort: true for rows in any order
	//   episode_per_person: true      # PROPOSED, to be confirmed: no column names an episode, so that all rows of a person would be one
	//   columns:                      # the column of the file that holds each of these
	//   # actions: [placebo, drug]    # where the column of the action holds words: all that there can be; they become 0, 1
	//   behavior:                     # where the probabilities of the logged actions come from; leave it out on-policy
	//     # Where nobody recorded them, in place of source and kind, to be paid for: kind: estimate, column: ..., states: 3, actions: 2, once: false
	//     # once: true                # for a column, where the arm was drawn once an episode and later rows repeat its probability
	//   # encode: {arm: [...]}    # for columns of words that are read: all that there can be, such as [f, m], which become 0, 1
	//   # episode_horizon: ...  # the most decisions of one episode, where a person may have several: intervals are narrower
	//   # return: {min: ..., max: ...}  # what a whole return can be at all, where that is less than the horizon times a reward
	//   unit: person                  # whom unit_id names
	//   adjacency: replace_one        # the number of persons is public; add_remove_one where it is not
}

// What a header may hold, it is written so that it can be read and steers nothing.
func TestHostileNamesAreQuoted(t *testing.T) {
	text := string(draft.Configuration("a\nb: c", "", &file.Description{Separator: '\t', Columns: []file.Column{{Name: "x\u202e\x1b\n# y", Type: "text"}, {Name: "obs_a, b]", Canonical: "obs_a, b]", Type: "number"}}}, draft.Answers{}))
	if strings.ContainsAny(text, "\u202e\x1b") || !strings.Contains(text, `  path: "a\nb: c"`) || !strings.Contains(text, `  separator: "\t"`) || !strings.Contains(text, `names: ["obs_a, b]"]`) {
		t.Error(text)
	}
}

// Whether rows are episodes is asked: where no column tells, the draft asks,
// whatever the names of the person and of the day may look like to a reader.
func TestWhatARowIsIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		columns []file.Column
		asks    bool
	}{
		"nothing known": {[]file.Column{{Name: "mrn", Type: "text"}, {Name: "date", Type: "text"}, {Name: "nr", Type: "integer"}}, true},
		"persons known": {[]file.Column{{Name: "patient", Canonical: "unit_id", Type: "integer"}, {Name: "day", Type: "integer"}}, true},
		"steps known":   {[]file.Column{{Name: "patient", Canonical: "unit_id", Type: "integer"}, {Name: "visit", Canonical: "step", Type: "integer"}}, false},
		"episodes":      {[]file.Column{{Name: "stay", Canonical: "episode_id", Type: "integer"}}, false},
	} {
		text := string(draft.Configuration("a.csv", "", &file.Description{Columns: c.columns}, draft.Answers{}))
		if got := strings.Contains(text, "\n  one_row_episodes: "+yamlfile.Open); got != c.asks {
			t.Errorf("%s: asks %v; want %v\n%s", name, got, c.asks, text)
		}
		if strings.Contains(text, "\n  one_row_episodes: true") {
			t.Errorf("%s: guesses\n%s", name, text)
		}
		if !strings.Contains(text, "\n  end: "+yamlfile.Open) {
			t.Errorf("%s: does not ask how episodes end\n%s", name, text)
		}
	}
}

// Columns that may hold probabilities are named, and none where one is known.
func TestColumnsOfProbabilitiesAreNamed(t *testing.T) {
	columns := []file.Column{
		{Name: "p_arm", Type: "number"}, {Name: "Propensity", Type: "number"}, {Name: "treat_prob", Type: "number"},
		{Name: "prob\n#x", Type: "integer"}, {Name: "prob_word", Type: "text"}, {Name: "platelet", Type: "number"},
	}
	text := string(draft.Configuration("a.csv", "", &file.Description{Columns: columns}, draft.Answers{}))
	for _, want := range []string{"    # name: p_arm ", "    # name: Propensity ", "    # name: treat_prob ", `    # name: "prob\n#x" `, "    # once: true"} {
		if strings.Count(text, "\n"+want) != 1 {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "    # name:"); n != 4 {
		t.Errorf("%d columns are named; want 4", n)
	}
	columns[0].Canonical = "behavior_prob"
	if text := string(draft.Configuration("a.csv", "", &file.Description{Columns: columns}, draft.Answers{})); strings.Contains(text, "# name:") {
		t.Error(text)
	}
}

// Columns of words are offered for data.encode by their names, and words of the action
// where no column is known to be the action; where all are numbers nothing is offered.
func TestColumnsOfWordsAreOffered(t *testing.T) {
	columns := []file.Column{
		{Name: "mrn", Canonical: "unit_id", Type: "text"}, {Name: "sex", Type: "text"}, {Name: "obs_stage", Canonical: "obs_stage", Type: "text"},
		{Name: "a b", Type: "text"}, {Name: "age", Type: "number"},
	}
	text := string(draft.Configuration("a.csv", "", &file.Description{Columns: columns}, draft.Answers{}))
	if !strings.Contains(text, "\n  # outcome: {time: ..., event: ") || !strings.Contains(text, "\n  # outcome: {path: ..., by: unit_id, column: ...} ") || !strings.Contains(text, "kind: estimate, column: ") {
		t.Error("times under censoring, outcomes in another file or unrecorded probabilities are not offered:", text)
	}
	if !strings.Contains(text, "\n  # encode: {sex: [...], obs_stage: [...], \"a b\": [...]} ") || !strings.Contains(text, "\n  # actions: [placebo, drug] ") {
		t.Error(text)
	}
	columns = append(columns, file.Column{Name: "treat", Canonical: "action", Type: "integer"})
	if text := string(draft.Configuration("a.csv", "", &file.Description{Columns: columns}, draft.Answers{})); strings.Contains(text, "# actions: ") || !strings.Contains(text, "# encode: {sex") {
		t.Error(text)
	}
	if text := string(draft.Configuration("a.csv", "", &file.Description{Columns: columns[4:]}, draft.Answers{})); strings.Contains(text, "# encode: ") || strings.Contains(text, "# actions: ") {
		t.Error(text)
	}
}
