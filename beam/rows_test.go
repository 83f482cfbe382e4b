package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/scale"
)

// row is one of a user's type.
type row struct {
	Episode    string  `json:"episode_id"`
	Step       int     `json:"step"`
	Person     string  `json:"unit_id,omitempty"`
	State      float64 `json:"obs_state"`
	Action     int     `json:"action"`
	Behavior   float64 `json:"behavior_prob"`
	Reward     float64 `json:"reward"`
	Terminated bool    `json:"terminated"`
	Truncated  bool    `json:"truncated"`
}

func init() {
	sdk.RegisterType(reflect.TypeFor[row]())
	register.Function1x2(asText)
	register.DoFn2x2[context.Context, row, row, error](&failsOnce{})
}

func asText(r row) ([]byte, error) { return json.MarshalIndent(r, "", " ") }

// failed counts the failures of failsOnce.
var failed atomic.Int32

// failsOnce gives rows on, and fails once after some.
type failsOnce struct{ seen int }

func (f *failsOnce) ProcessElement(_ context.Context, r row) (row, error) {
	if f.seen++; f.seen == 900 && failed.Add(1) == 1 {
		return r, errors.New("a machine broke")
	}
	return r, nil
}

// collection is a stage whose rows are in a collection, and for one process in a file of the lines in their order.
func collection(t testing.TB) (stage, []row) {
	t.Helper()
	s := newStage(t, 120, 2)
	d, _, err := file.Read(t.Context(), s.shards, "parquet", trajectory.Options{Optional: trajectory.AllParts})
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for p := range d.Persons() {
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			from, end := d.EpisodeStart[e], d.EpisodeStart[e+1]
			for i := from; i < end; i++ {
				last := i == end-1
				rows = append(rows, row{fmt.Sprint("e", e), i - from, d.PersonID[p], d.Observation(i)[0], int(d.Action[i]), d.BehaviorProb[i], d.Reward[i], last && d.Terminated[e], last && !d.Terminated[e]})
			}
		}
	}
	s.data, s.partitions, s.shards = []string{"data.path=rows.ndjson", "data.format=ndjson", "data.steps={sort: true}"}, 5, nil
	return s, rows
}

// write has the rows in the file that one process reads.
func (s stage) write(t testing.TB, rows []row) {
	t.Helper()
	var lines []string
	for _, r := range rows {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	slices.Sort(lines)
	if err := os.WriteFile(filepath.Join(s.dir, "rows.ndjson"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// in is a collection of rows, in another order each time, and as text if asked.
func in(rows []row, text bool) func(sdk.Scope) sdk.PCollection {
	return func(s sdk.Scope) sdk.PCollection {
		rows := slices.Clone(rows)
		rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		all := sdk.ParDo(s, &failsOnce{}, sdk.Reshuffle(s, sdk.CreateList(s, rows)))
		if text {
			return sdk.ParDo(s, asText, all)
		}
		return all
	}
}

// TestACollectionReleasesTheBytesOfOneProcess: of structs and of text, in any order, also after a job that failed.
func TestACollectionReleasesTheBytesOfOneProcess(t *testing.T) {
	s, rows := collection(t)
	s.write(t, rows)
	failed.Store(0)
	told := 0
	for _, text := range []bool{false, true} {
		e := onPrism(t, Config{Rows: in(rows, text), Tell: func(string) { told++ }})
		for name, overrides := range map[string][]string{"dp-wis": wis, "dp-refine": refine} {
			s.evaluate(t, fmt.Sprint(name, text), e, overrides...)
		}
	}
	if told != 1 {
		t.Errorf("%d jobs failed; want 1", told)
	}
	if err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "rows.ndjson") || strings.HasSuffix(path, ".parquet") {
			return err
		}
		if all, err := os.ReadFile(path); err != nil || strings.Contains(string(all), "person 1") {
			t.Errorf("%s names persons, %v", path, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestRowsOfACollectionThatAreRefused: in one attempt, with what one process says for the curator alone.
func TestRowsOfACollectionThatAreRefused(t *testing.T) {
	failed.Store(1)
	for name, c := range map[string]struct {
		spoil func(rows []row) []row
		says  string // to the curator, here and in one process
	}{
		"a row twice":       {func(rows []row) []row { return append(rows, rows[17]) }, "repeats the step before"},
		"every row twice":   {func(rows []row) []row { return append(rows, rows...) }, "repeats the step before"},
		"a row of nobody":   {func(rows []row) []row { rows[17].Person = ""; return rows }, "unit_id: is missing"},
		"rows of nobody":    {func([]row) []row { return []row{{Episode: "e"}, {Episode: "f"}} }, "unit_id: the file has no such column"},
		"a step is missing": {func(rows []row) []row { return slices.Delete(rows, 17, 18) }, "is not one more than the step before"},
		"an episode of two": {func(rows []row) []row { rows[17].Person = "person 119"; return rows }, "the episode does not start at step 0"},
	} {
		s, rows := collection(t)
		rows = c.spoil(rows)
		s.write(t, rows)
		e := onPrism(t, Config{Rows: in(rows, false), Tell: func(line string) { t.Errorf("%s: tried again: %s", name, line) }})
		d, err := s.driver("refused", e, "data.on_violation=reject")
		if err != nil {
			t.Fatal(err)
		}
		_, want := discreet.Evaluate(t.Context(), d.Config)
		if want == nil || !strings.Contains(want.Error(), c.says) {
			t.Fatalf("%s: one process says %v", name, want)
		}
		if _, err = d.Evaluate(t.Context()); !errors.Is(err, ErrRefused) || strings.Contains(err.Error(), "person ") {
			t.Errorf("%s: %v", name, err)
		}
		told, err := filepath.Glob(filepath.Join(s.dir, "refused", "*.part.faults.txt"))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, path := range told {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		if !strings.Contains(all.String(), c.says) {
			t.Errorf("%s: the curator is told %q", name, all.String())
		}
	}
}

// TestQuestionsThatNoCollectionAnswers, and rows that are others in a later round.
func TestQuestionsThatNoCollectionAnswers(t *testing.T) {
	failed.Store(1)
	s, rows := collection(t)
	round := 0
	e := onPrism(t, Config{Rows: func(s sdk.Scope) sdk.PCollection {
		if round++; round > 1 {
			rows[17].Reward = 1 - rows[17].Reward
		}
		return in(rows, false)(s)
	}})
	for says, c := range map[string]struct {
		overrides []string
		shards    []string
	}{
		"not those that were checked": {},
		"set it to ndjson":            {overrides: []string{"data.format=csv"}},
		"a collection has no order":   {overrides: []string{"data.steps=null"}},
	} {
		d, err := s.driver(says, e, c.overrides...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %s", err, says)
		}
	}
	if _, err := e.Round(t.Context(), scale.Round{Shards: []string{"s"}, Task: scale.Task{Question: "{}"}}); err == nil {
		t.Error("shards beside rows are answered")
	}
}
