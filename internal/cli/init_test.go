package cli_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/draft"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// answers are what may stand in a draft's open places, by what stands before them
// in their line.
func answers(overriding map[string]string) map[string]string {
	all := map[string]string{
		"persons: ": "40", "gamma: ": "1", "min: ": "0", "max: ": "1", "horizon: ": "9", "end: ": "terminated", "unit: ": "episode", "epsilon: ": "1", "delta: ": "1e-3",
		"target: {kind: ": "logged", "method: {name: ": "dp-is", "source: ": "design", "    kind: ": "column", "actions: ": "[a, b]",
		"unit_id: ": "c1", "episode_id: ": "c2", "action: ": "c3", "reward: ": "c4", "step: ": "c5",
		"one_row_episodes: ": "true",
	}
	maps.Copy(all, overriding)
	return all
}

// filled puts an answer into every open place of a draft but the skip-th, and tells
// how many there are.
func filled(t interface{ Fatalf(string, ...any) }, text string, answers map[string]string, skip int) (string, int) {
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		code, comment, _ := strings.Cut(line, "#")
		pieces := strings.Split(code, yamlfile.Open)
		for i, before := range pieces[:len(pieces)-1] {
			value := ""
			for end, answer := range answers {
				if strings.HasSuffix(before, end) && (value == "" || end == before) {
					value = answer
				}
			}
			if value == "" {
				t.Fatalf("nothing is known for %q", line)
			}
			if n == skip {
				value = yamlfile.Open
			}
			n++
			pieces[i] += value
		}
		out.WriteString(strings.Join(pieces, ""))
		if strings.Contains(line, "#") {
			out.WriteString("#" + comment)
		}
	}
	return out.String(), n
}

// A draft is of the strict form once its open places are filled, whatever the
// columns, and refused as long as one of them is open.
func TestADraftIsRefusedUntilItIsFilled(t *testing.T) {
	canonical := slices.DeleteFunc(trajectory.CanonicalNames(), func(s string) bool { return strings.Contains(s, "<") })
	known := map[string]string{"patient_id": "unit_id", "terminal": "terminated", "click": "reward", "obs_age": "obs_age", "obs_\u202e": "obs_\u202e"}
	names := slices.Concat([]string{"x", "y n", "a: b", "#c", "\"", "FILL IN"}, slices.Sorted(maps.Keys(known)), canonical)
	for _, name := range canonical {
		known[name] = name
	}
	rapid.Check(t, func(t *rapid.T) {
		var columns []file.Column
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "columns") {
			columns = append(columns, file.Column{Name: name, Canonical: known[name], Type: rapid.SampledFrom([]string{"integer", "number", "text", "list", "empty"}).Draw(t, "type")})
		}
		text := string(draft.Configuration("log.csv", "", &file.Description{Columns: columns}, draft.Answers{}))
		known := answers(nil)
		if strings.Contains(text, "one_row_episodes: "+yamlfile.Open) {
			known["unit: "] = "row"
		}
		whole, n := filled(t, text, known, -1)
		if err := planned(whole); err != nil {
			t.Fatalf("%v\n%s", err, whole)
		}
		open, _ := filled(t, text, known, rapid.IntRange(0, n-1).Draw(t, "open"))
		if err := planned(open); err == nil || strings.Count(err.Error(), "line ") != 1 {
			t.Fatalf("%v, although a place is open:\n%s", err, open)
		}
		if err := planned(text); err == nil || strings.Count(err.Error(), "line ") != n {
			t.Fatalf("%v; want the %d open places of\n%s", err, n, text)
		}
	})
}

func planned(text string) error {
	c, err := discreet.Parse("draft", []byte(text))
	if err != nil {
		return err
	}
	if c.Data.Missing != "" || c.Data.OnViolation != "" {
		return errors.New("a missing observation makes the run fail, or the draft decides what becomes of it")
	}
	_, err = discreet.Plan(c)
	return err
}

// The draft for a log fits it, in every format, once what is public is filled in.
func TestAFilledDraftReadsItsData(t *testing.T) {
	dir := t.TempDir()
	d, err := chain.Simulate(chain.Options{Episodes: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, format := range map[string]string{"log.csv": "", "log.parquet": "", "log.ndjson": "", "dataset": "minari"} {
		if err := file.Write(filepath.Join(dir, name), format, d); err != nil {
			t.Fatal(err)
		}
		reads(t, filepath.Join(dir, name), format, answers(map[string]string{"horizon: ": "4000"}), 40)
	}
	reads(t, "../../examples/pbc/trajectories.csv", "", answers(map[string]string{"persons: ": "312", "horizon: ": "16"}), 312)
}

func reads(t *testing.T, path, format string, known map[string]string, persons int) {
	t.Helper()
	of, err := file.Describe(context.Background(), []string{path}, format)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := filled(t, string(draft.Configuration(path, format, of, draft.Answers{})), known, -1)
	c, err := discreet.Parse(path, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if v, err := discreet.Validate(context.Background(), c); err != nil || v.Persons != persons {
		t.Errorf("%s: %v\n%s", path, err, text)
	}
}
