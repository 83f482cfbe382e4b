package importing_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/importing"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	raw := filepath.Join(dir, "raw.csv")
	if err := os.WriteFile(raw, []byte("patient;arm;reward\nbob;drug;1\nann;placebo;0\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	c := config.Config{Privacy: config.Privacy{None: true}, Data: config.Data{Path: config.Names{raw}, Separator: ";", OneRowEpisodes: true,
		Columns: map[string]config.Names{"unit_id": {"patient"}, "action": {"arm"}}, Actions: &config.Vocabulary{Words: []string{"placebo", "drug"}}}}
	m, _, err := importing.Import(context.Background(), importing.Order{Config: c, Table: filepath.Join(dir, "table.parquet"), CSV: filepath.Join(dir, "table.csv")})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := os.ReadFile(filepath.Join(dir, "table.csv"))
	fmt.Printf("%d persons, %d lines\n%s", m.Persons, m.Lines, text)
	// Output:
	// 2 persons, 3 lines
	// episode_id,step,unit_id,action,reward,terminated,truncated
	// 0,0,ann,0,0,true,false
	// 1,0,bob,1,1,true,false
}

// raw writes a log of some persons, whose episodes stand anywhere, in two files of a
// dialect, and gives the configuration that reads it.
func raw(t *testing.T, dir string, r *rand.Rand) config.Config {
	t.Helper()
	var episodes []string
	for e := range 40 {
		var rows strings.Builder
		last := r.IntN(4)
		for s := range last + 1 {
			fmt.Fprintf(&rows, "%s;e%d;%d;%s;%v;%v;%s;%.1f;%v;%t;%t\n", []string{"ann", "bob", `"c;d"`, "p9", "p10", "é"}[e%6], e, s+1, []string{"f", "m", "u"}[r.IntN(3)],
				r.NormFloat64(), r.IntN(9), []string{"placebo", "drug"}[r.IntN(2)], .5, r.NormFloat64(), s == last && e%2 == 0, s == last && e%2 == 1)
		}
		episodes = append(episodes, rows.String())
	}
	r.Shuffle(len(episodes), func(i, j int) { episodes[i], episodes[j] = episodes[j], episodes[i] })
	const header = "patient;episode_id;visit;sex;obs_x;age;arm;pscore;reward;terminated;truncated\n"
	for i, part := range [][]string{episodes[:13], episodes[13:]} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("raw%d.csv", i)), []byte(header+strings.Join(part, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Config{Privacy: config.Privacy{None: true}, Data: config.Data{Path: config.Names{filepath.Join(dir, "raw*.csv")}, Separator: ";",
		Columns: map[string]config.Names{"unit_id": {"patient"}, "action": {"arm"}, "obs_years": {"age"}}, Actions: &config.Vocabulary{Words: []string{"placebo", "drug"}},
		Encode: map[string]config.Vocabulary{"sex": {Words: []string{"f", "m", "u"}, OneHot: true}}, Steps: &config.Steps{From: 1}}}
}

// The table holds what the raw data hold, read by the same options: the same persons, in the
// order of their ids, with their episodes in the same order. So does the CSV file. The
// manifest counts them, and knows the files by their contents.
func TestTheTableHoldsTheData(t *testing.T) {
	for seed := range uint64(4) {
		dir := t.TempDir()
		c := raw(t, dir, rand.New(rand.NewPCG(seed, 1)))
		o := trajectory.Options{Separator: ';', Columns: map[string]string{"unit_id": "patient", "action": "arm", "obs_years": "age"}, Optional: trajectory.AllParts, Steps: trajectory.Steps{From: 1}, Observations: []string{"sex_f", "sex_m", "sex_u", "obs_x", "obs_years"},
			Encode: map[string]trajectory.Vocabulary{"action": trajectory.Vocabulary(*c.Data.Actions), "sex": trajectory.Vocabulary(c.Data.Encode["sex"])}}
		want, _, err := file.Read(t.Context(), c.Data.Path, "", o)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]int, want.Persons())
		for i := range all {
			all[i] = i
		}
		slices.SortFunc(all, func(a, b int) int { return strings.Compare(want.PersonID[a], want.PersonID[b]) })
		want = want.Take(all)
		order := importing.Order{Config: c, Table: filepath.Join(dir, "table.parquet"), CSV: filepath.Join(dir, "table.csv")}
		m, _, err := importing.Import(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{order.Table, order.CSV} {
			got, _, err := file.Read(t.Context(), []string{path}, "", trajectory.Options{Optional: trajectory.AllParts, Observations: []string{"sex_f", "sex_m", "sex_u", "obs_x", "obs_years"}})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := fmt.Sprint(contents(got)), fmt.Sprint(contents(want)); a != b {
				t.Fatalf("seed %d: %s: got\n%.600s\nwant\n%.600s", seed, filepath.Base(path), a, b)
			}
		}
		var stored importing.Manifest
		text, err := os.ReadFile(order.Table + ".json")
		if err == nil {
			err = json.Unmarshal(text, &stored)
		}
		if err != nil || !reflect.DeepEqual(&stored, m) {
			t.Errorf("the manifest is %s (%v), returned %+v", text, err, m)
		}
		table, err := os.ReadFile(order.Table)
		sum := sha256.Sum256(table)
		if err != nil || m.Table.SHA256 != hex.EncodeToString(sum[:]) || m.Table.Bytes != int64(len(table)) {
			t.Errorf("the manifest says %+v of a table of %d bytes and hash %x", m.Table, len(table), sum)
		}
		marks, err := file.Marks(t.Context(), order.Table, "discreet_manifest")
		within := importing.Manifest{Table: m.Table, CSV: m.CSV}
		if err == nil {
			err = json.Unmarshal([]byte(marks["discreet_manifest"]), &within)
		}
		if err != nil || !reflect.DeepEqual(&within, m) {
			t.Errorf("the table has the manifest %+v (%v), the file beside it %+v", within, err, m)
		}
		if m.Persons != want.Persons() || m.Episodes != 40 || m.Rows != want.Rows() || m.Records != want.Rows() || m.Lines != want.Rows()+2 || len(m.Inputs) != 2 {
			t.Errorf("%+v of %d rows", m, want.Rows())
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 5 {
			t.Errorf("%d files in the directory (%v), want 2 raw ones and 3 that were made", len(left), err)
		}
		for _, path := range []string{order.Table, order.CSV, order.Table + ".json"} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v; want mode 0600", path, info.Mode(), err)
			}
		}
	}
}

func contents(d *trajectory.Dataset) []any {
	var obs [][]float64
	for i := range d.Rows() {
		obs = append(obs, d.Observation(i))
	}
	return []any{obs, d.Action, d.BehaviorProb, d.Reward, d.Terminated, d.EpisodeStart, d.EpisodeID, d.PersonStart, d.PersonID}
}

// A fault of the data is told with its place, and nothing is written: not even of those who
// come before it. Nothing is written over, and raw data that change meanwhile are refused.
func TestNothingIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		old, new, want string
	}{
		"a word outside the vocabulary": {"drug", "surgery", "arm"},
		"a missing observation":         {";f;", ";;", "sex"},
		"no step":                       {"e7;1;", "e7;;", "visit"},
		"two spellings of an id":        {"", "", "unit_id"},
		"no person":                     {"ann;", ";", "unit_id: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := raw(t, dir, rand.New(rand.NewPCG(1, 1)))
			path := filepath.Join(dir, "raw1.csv")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if c.old == "" {
				text = append(text, "\" ann\";e99;1;f;0;1;drug;0.5;0;true;false\n"...)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err = importing.Import(t.Context(), importing.Order{Config: r, Table: filepath.Join(dir, "table.parquet")})
			if !errors.Is(err, trajectory.ErrInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one of the data about %q", err, c.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
				t.Errorf("%v (%v); want the raw files alone", left, err)
			}
		})
	}
}

func TestNothingIsWrittenOver(t *testing.T) {
	for _, taken := range []string{"table.parquet", "table.parquet.json", "table.csv"} {
		dir := t.TempDir()
		c := raw(t, dir, rand.New(rand.NewPCG(1, 1)))
		if err := os.WriteFile(filepath.Join(dir, taken), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := importing.Import(t.Context(), importing.Order{Config: c, Table: filepath.Join(dir, "table.parquet"), CSV: filepath.Join(dir, "table.csv")})
		if text, _ := os.ReadFile(filepath.Join(dir, taken)); !errors.Is(err, fs.ErrExist) || string(text) != "mine" {
			t.Errorf("%s: %v; it holds %q", taken, err, text)
		}
	}
}

// Keys that map columns are refused of a table, before it is read; where each names itself
// they are not.
func TestATableIsReadAsItIs(t *testing.T) {
	dir := t.TempDir()
	c := raw(t, dir, rand.New(rand.NewPCG(1, 1)))
	table := filepath.Join(dir, "table.parquet")
	if _, _, err := importing.Import(t.Context(), importing.Order{Config: c, Table: table}); err != nil {
		t.Fatal(err)
	}
	c.Data.Path, c.Data.Separator = config.Names{table}, ""
	_, err := scan.Validate(t.Context(), c, nil)
	const want = "was made by discreet import and is read as it is; leave data.actions, data.columns.action, data.columns.obs_years, data.columns.unit_id, data.encode, data.steps out"
	if !errors.Is(err, config.ErrConfig) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want ... %s", err, want)
	}
	c.Data = config.Data{Path: config.Names{table}, Columns: map[string]config.Names{"unit_id": {"unit_id"}}}
	c.Problem.Gamma = 1
	if v, err := scan.Validate(t.Context(), c, nil); err != nil || v.Episodes != 40 {
		t.Errorf("%v, %v", v, err)
	}
}

// A file that changes after its rows were read, while those of another are: no table takes its name.
func TestInputsThatChangeMakeNoTable(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "raw0.csv")
	var rows strings.Builder
	for i := range 66_000 { // more than are read between two calls of Progress
		fmt.Fprintf(&rows, "%d;drug;1\n", i)
	}
	const header = "patient;arm;reward\n"
	if err := errors.Join(os.WriteFile(first, []byte(header+"ann;drug;1\n"), 0o600), os.WriteFile(filepath.Join(dir, "raw1.csv"), []byte(header+rows.String()), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := config.Config{Privacy: config.Privacy{None: true}, Data: config.Data{Path: config.Names{filepath.Join(dir, "raw*.csv")}, Separator: ";", OneRowEpisodes: true,
		Columns: map[string]config.Names{"unit_id": {"patient"}, "action": {"arm"}}, Actions: &config.Vocabulary{Words: []string{"placebo", "drug"}}}}
	order := importing.Order{Config: c, Table: filepath.Join(dir, "table.parquet"), CSV: filepath.Join(dir, "table.csv"), Progress: func(p trajectory.Progress) {
		if filepath.Base(p.File) == "raw1.csv" {
			if err := os.WriteFile(first, []byte(header+"bob;drug;1\n"), 0o600); err != nil {
				t.Error(err)
			}
		}
	}}
	if _, _, err := importing.Import(t.Context(), order); !errors.Is(err, trajectory.ErrFormat) || !strings.Contains(err.Error(), "raw0.csv") {
		t.Errorf("%v; want ErrFormat that names raw0.csv", err)
	}
	for _, path := range []string{order.Table, order.CSV, order.Table + ".json"} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v; want no such file", path, err)
		}
	}
}
