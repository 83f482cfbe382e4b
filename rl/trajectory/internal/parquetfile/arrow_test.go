package parquetfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
)

// shared holds files of other writers.
const shared = "../../../../internal/parquet/testdata"

func read(path string, o trajectory.Options) (*trajectory.Dataset, []string, error) {
	return ingest.Read(context.Background(), parquetfile.Format(), []string{path}, o)
}

// order gives the row of testdata/make.py for each row of a dataset whose
// episodes of three rows have been grouped by person.
func order(units int) []int {
	var rows []int
	for u := range units {
		for e := u; e < 40; e += units {
			rows = append(rows, 3*e, 3*e+1, 3*e+2)
		}
	}
	return rows
}

// Arrow's lists, dictionaries, small pages, row groups and codecs, against the
// formulas in testdata/make.py.
func TestListsOfArrow(t *testing.T) {
	for _, name := range []string{"lists_v1", "lists_v2"} {
		d, _, err := read(shared+"/"+name+".parquet", trajectory.Options{Need: trajectory.Action | trajectory.ActionProbs | trajectory.Final})
		if err != nil {
			t.Fatal(err)
		}
		if d.Persons() != 7 || d.Episodes() != 40 || d.Rows() != 120 || strings.Join(d.Columns, " ") != "obs_0 obs_1 obs_2" || d.Actions != 2 {
			t.Fatalf("%s: %d persons, %d episodes, %d rows, columns %v", name, d.Persons(), d.Episodes(), d.Rows(), d.Columns)
		}
		for i, r := range order(7) {
			f := float64(r)
			got := fmt.Sprint(d.Observation(i), d.Action[i], d.Reward[i], d.ActionProbs[2*i:2*i+2])
			if want := fmt.Sprint([]float64{f, f / 4, -f}, r%2, f/8, []float64{.25, .75}); got != want {
				t.Fatalf("%s row %d: got %s, want %s", name, r, got, want)
			}
		}
		for e := range d.Episodes() {
			r := d.EpisodeStart[e]
			first := int(d.Obs[3*r])
			if d.Terminated[e] != ((first+2)%2 == 0) || fmt.Sprint(d.FinalObservation(e)) != "[-1 -2 -3]" {
				t.Fatalf("%s episode %d: terminated %v, final %v", name, e, d.Terminated[e], d.FinalObservation(e))
			}
			if d.EpisodeID[e] != fmt.Sprintf("e%d", first/3) || d.FirstRow[e] != first+1 {
				t.Fatalf("%s episode %d is %s from row %d", name, e, d.EpisodeID[e], d.FirstRow[e])
			}
		}
	}
}

func TestFlatColumnsOfArrow(t *testing.T) {
	for _, name := range []string{"flat_plain", "flat_dict", "flat_split"} {
		d, notices, err := read(shared+"/"+name+".parquet", trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Unit: trajectory.UnitEpisode})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Join(d.Columns, " ") != "obs_zeta obs_alpha obs_mid" || d.Rows() != 120 {
			t.Fatalf("%s: columns %v, %d rows", name, d.Columns, d.Rows())
		}
		if d.Persons() != 40 {
			t.Errorf("%s: %d persons; want each episode to be one", name, d.Persons())
		}
		for e := range d.Episodes() {
			for i := d.EpisodeStart[e]; i < d.EpisodeStart[e+1]; i++ {
				r := int(-d.Reward[i])
				zeta := float64(r) / 2
				if r%4 == 0 {
					zeta = 0
				}
				want := fmt.Sprint([]float64{zeta, float64(1 - r%2), float64(1<<31 + r)}, r%3)
				if got := fmt.Sprint(d.Observation(i), d.Action[i]); got != want || d.EpisodeID[e] != fmt.Sprint(r/3) {
					t.Fatalf("%s row %d of episode %s: got %s, want %s", name, r, d.EpisodeID[e], got, want)
				}
			}
		}
		if !strings.Contains(strings.Join(notices, "\n"), "columns not used: unit_id, when, price, half, nested.a, nested.b") {
			t.Errorf("%s: notices %q", name, notices)
		}
	}
}

func TestStructsAreColumnsByTheirPath(t *testing.T) {
	for _, name := range []string{"flat_plain", "flat_dict", "flat_split"} {
		d, _, err := read(shared+"/"+name+".parquet", trajectory.Options{Observations: []string{"nested.a", "nested.b"}, Unit: trajectory.UnitEpisode})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range d.Rows() {
			if got := d.Observation(i); got[0] != 1 || got[1] != 2 {
				t.Fatalf("%s row %d: %v; want 1 and 2", name, i, got)
			}
		}
	}
}

func TestBadParquetIsNamed(t *testing.T) {
	whole, err := os.ReadFile(shared + "/flat_plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	holed := append([]byte(nil), whole...)
	for i := 100; i < 1000; i++ {
		holed[i] = 0xff
	}
	observe := func(name string) trajectory.Options { return trajectory.Options{Observations: []string{name}} }
	for _, c := range []struct {
		name, path string
		o          trajectory.Options
		want       string
		kind       error
	}{
		{"empty", put("empty", nil), trajectory.Options{}, ": the file is empty; write it anew", trajectory.ErrEmpty},
		{"tiny", put("tiny", []byte("PAR1PAR1")), trajectory.Options{}, ": is not a Parquet file; name the format, or check that this is the right file", trajectory.ErrFormat},
		{"text", put("text", []byte("episode_id,reward\n1,2\n3,4\n")), trajectory.Options{}, ": is not a Parquet file; name the format, or check that this is the right file", trajectory.ErrFormat},
		{"cut", put("cut", whole[:len(whole)-5]), trajectory.Options{}, ": the footer is missing; the file is cut short; write or copy it anew", trajectory.ErrFormat},
		{"half", put("half", whole[:len(whole)/2]), trajectory.Options{}, ": the footer is missing; the file is cut short; write or copy it anew", trajectory.ErrFormat},
		{"encrypted", put("encrypted", append([]byte("PARE"), whole[4:]...)), trajectory.Options{}, ": the file is encrypted; decrypt it first", trajectory.ErrFormat},
		{"overwritten", put("overwritten", holed), trajectory.Options{}, "", trajectory.ErrFormat},
		{"missing person", shared + "/flat_plain.parquet", trajectory.Options{Observations: []string{}}, ":1: unit_id: is missing; give every row the id of its person", trajectory.ErrValue},
		{"missing value", shared + "/flat_plain.parquet", trajectory.Options{Unit: trajectory.UnitEpisode}, ":1: obs_zeta: is missing; fill it in, leave the column out, or say in data.missing what it becomes", trajectory.ErrValue},
		{"reward bounds", shared + "/flat_dict.parquet", trajectory.Options{Observations: []string{}, Unit: trajectory.UnitEpisode, Reward: &trajectory.Range{Min: -70, Max: 0}},
			":72: reward: is outside the declared bounds [-70, 0]; widen the bounds by public knowledge, or clip rewards (outside: clip)", trajectory.ErrValue},
		{"timestamp", shared + "/flat_plain.parquet", observe("when"), ": when: has a type of dates, which are no numbers; write it as an integer, a float or a boolean", trajectory.ErrColumn},
		{"half", shared + "/flat_plain.parquet", observe("half"), ": half: has a type that is not a number; list its public values in data.encode, or write it as an integer, a float or a boolean", trajectory.ErrColumn},
		{"text as number", shared + "/flat_plain.parquet", observe("unit_id"), ": unit_id: has a type that is not a number; list its public values in data.encode, or write it as an integer, a float or a boolean", trajectory.ErrColumn},
		{"struct", shared + "/flat_plain.parquet", observe("nested"), ": nested: the file has no such observation column; correct the name, or map it to a column of the file (most like it: nested.a, nested.b)", trajectory.ErrColumn},
		{"float as id", shared + "/flat_plain.parquet", trajectory.Options{Columns: map[string]string{"episode_id": "obs_zeta"}, Observations: []string{}},
			": obs_zeta: has a floating point type, which above 2^53 (FLOAT: 2^24) takes several ids for one, and an id is wanted; write ids as text or as an integer, such as BIGINT in place of DOUBLE", trajectory.ErrColumn},
		{"list as action", shared + "/lists_v1.parquet", trajectory.Options{Need: trajectory.Action, Columns: map[string]string{"action": "action_probs"}},
			": action_probs: holds lists, where one number a row is wanted; split it into columns", trajectory.ErrColumn},
		{"list as id", shared + "/lists_v1.parquet", trajectory.Options{Columns: map[string]string{"unit_id": "action_probs"}},
			": action_probs: holds lists, and an id is wanted; write a string or an integer a row", trajectory.ErrColumn},
		{"ragged", shared + "/ragged.parquet", trajectory.Options{}, ":3: observation: the list is not as long as the first one; give every row a list of the same length", trajectory.ErrValue},
		{"version", shared + "/version2.parquet", trajectory.Options{}, ": the schema version is not known; this program reads version 1; write the file anew, or use a newer program", trajectory.ErrFormat},
		{"no rows", shared + "/norows.parquet", trajectory.Options{}, ": there is no row of data; check that this is the right file", trajectory.ErrEmpty},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(c.path, c.o)
			if err == nil || c.want != "" && err.Error() != c.path+c.want || !errors.Is(err, trajectory.ErrInput) || !errors.Is(err, c.kind) {
				t.Errorf("\n got %v\nwant %s%s (%v)", err, c.path, c.want, c.kind)
			}
		})
	}
}
