package minarifile_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/minarifile"
)

func everything() trajectory.Options {
	return trajectory.Options{Optional: trajectory.AllParts}
}

func read(path string, o trajectory.Options) (*trajectory.Dataset, []string, error) {
	return ingest.Read(context.Background(), minarifile.Format(), []string{path}, o)
}

// The two layouts hold what the CSV of the same program holds.
func TestBothLayoutsMatchTheCanonicalFile(t *testing.T) {
	want, _, err := ingest.Read(context.Background(), csvfile.Format(), []string{"testdata/expected.csv"}, everything())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"testdata/example-parquet-v0", "testdata/example-parquet-v0/data", "testdata/example-parquet-v0/data/metadata.json",
		"testdata/example-arrow-v0", "testdata/example-arrow-v0/data/metadata.json",
	} {
		got, _, err := read(path, everything())
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		// The directories have no names for persons and observations.
		if diff := cmp.Diff([]string{"obs_0", "obs_1", "obs_2", "obs_3"}, got.Columns); diff != "" {
			t.Errorf("%s: columns (-want +got)\n%s", path, diff)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow", "Columns", "PersonID"), cmpopts.EquateApprox(0, 1e-15)); diff != "" {
			t.Errorf("%s: (-csv +minari)\n%.2000s", path, diff)
		}
		if diff := cmp.Diff([]int{1, 202, 243}, got.FirstRow); diff != "" {
			t.Errorf("%s: first rows (-want +got)\n%s", path, diff)
		}
	}
}

func TestInfosCanBeMapped(t *testing.T) {
	o := everything()
	o.Columns = map[string]string{"discount": "behavior_prob"}
	o.Observations = []string{"obs_0", "obs_1", "obs_2", "obs_3"}
	d, _, err := read("testdata/example-arrow-v0", o)
	if err != nil || d.Discount[0] != 0.15 {
		t.Errorf("%v", err)
	}
}

// Data that Minari wrote itself, whose reward is the action as Minari numbers it:
// one less than ours.
func TestDictionariesAndStartsAreRead(t *testing.T) {
	for _, path := range []string{"testdata/dict-parquet-v0", "testdata/dict-arrow-v0"} {
		d, _, err := read(path, everything())
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if diff := cmp.Diff([]string{"obs_n", "obs_pos_0", "obs_pos_1"}, d.Columns); diff != "" || d.Episodes() != 3 || d.Rows() != 12 {
			t.Errorf("%s: %d rows of %v", path, d.Rows(), d.Columns)
		}
		for row := range d.Rows() {
			step := float64(row % 4)
			want := []float64{step, float64(float32(step / 10)), -0.5}
			if diff := cmp.Diff(want, d.Observation(row)); diff != "" || d.Reward[row] != float64(d.Action[row])-1 {
				t.Errorf("%s: row %d: action %d, reward %v, observation (-want +got)\n%s", path, row, d.Action[row], d.Reward[row], diff)
			}
		}
		for e := range d.Episodes() {
			if final := d.FinalObservation(e); !d.Terminated[e] || final[0] != 4 {
				t.Errorf("%s: episode %d ends at %v", path, e, final)
			}
		}
	}
}

// copyOf copies a dataset, to be spoiled.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func rewrite(t *testing.T, path string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(change(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBadDatasetsAreNamed(t *testing.T) {
	replace := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	for _, c := range []struct {
		name, file string
		change     func(string) string
		want       string
		kind       error
	}{
		{"hdf5", "data/metadata.json", replace(`"parquet"`, `"hdf5"`), "the dataset has the HDF5 layout, which is not read", trajectory.ErrFormat},
		{"layout", "data/metadata.json", replace(`"parquet"`, `"zarr"`), "data_format is neither parquet nor arrow", trajectory.ErrFormat},
		{"an episode lost", "data/metadata.json", replace(`"total_episodes": 3`, `"total_episodes": 4`), "total_episodes is 4 and there are 3 directories", trajectory.ErrFormat},
		{"no JSON", "data/metadata.json", func(s string) string { return s[:50] }, "is not the JSON that Minari writes", trajectory.ErrFormat},
		{"episode's JSON", "data/1/metadata.json", func(string) string { return "[" }, "is not the JSON that Minari writes", trajectory.ErrFormat},
		{"rows lost", "data/2/metadata.json", replace("24", "25"), "its rows are not one more than the total_steps", trajectory.ErrFormat},
		{"version", "data/metadata.json", replace("{", `{"discreet_schema_version": "2", `), "the schema version is not known", trajectory.ErrFormat},
		{"actions", "data/metadata.json", replace(`\"start\": 0`, `\"start\": 1`), "is negative", trajectory.ErrValue},
		{"half a file", "data/1/part-0.parquet", func(s string) string { return s[:len(s)/2] }, "the file is cut short", trajectory.ErrFormat},
		{"an empty file", "data/1/part-0.parquet", func(string) string { return "" }, "the file is empty", trajectory.ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyOf(t, "example-parquet-v0")
			rewrite(t, filepath.Join(dir, c.file), c.change)
			_, _, err := read(dir, everything())
			if !errors.Is(err, trajectory.ErrInput) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q, %v", err, c.want, c.kind)
			}
		})
	}
	if _, _, err := read(t.TempDir(), everything()); !errors.Is(err, trajectory.ErrFormat) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, _, err := read("testdata/none", everything()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	dir := copyOf(t, "example-arrow-v0")
	if err := os.Remove(filepath.Join(dir, "data/1/part-0.arrow")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(dir, everything()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an episode without its file: %v", err)
	}
}

// Actions of a space that starts at -1 are numbered from 0.
func TestActionsAreNumberedFromZero(t *testing.T) {
	dir := copyOf(t, "example-parquet-v0")
	rewrite(t, filepath.Join(dir, "data/metadata.json"), func(s string) string { return strings.Replace(s, `\"start\": 0`, `\"start\": -1`, 1) })
	plain, _, err := read("testdata/example-parquet-v0", everything())
	if err != nil {
		t.Fatal(err)
	}
	moved, _, err := read(dir, everything())
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range plain.Action {
		if moved.Action[i] != a+1 {
			t.Fatalf("row %d: action %d, want %d", i, moved.Action[i], a+1)
		}
	}
}

// A bit turned anywhere in a file gives data of the right shape or an error that
// wraps ErrInput, never a panic.
func TestDamagedFilesAreErrors(t *testing.T) {
	for name, file := range map[string]string{"example-arrow-v0": "data/2/part-0.arrow", "example-parquet-v0": "data/2/part-0.parquet"} {
		dir := copyOf(t, name)
		path := filepath.Join(dir, file)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for at := 0; at < len(good); at += 1 + len(good)/700 {
			bad := append([]byte(nil), good...)
			bad[at] ^= 1 << (at % 8)
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			d, _, err := read(dir, everything())
			if err != nil {
				failed++
				if !errors.Is(err, trajectory.ErrInput) {
					t.Errorf("%s, byte %d: %v does not wrap ErrInput", name, at, err)
				}
			} else if d.Rows() != 264 || math.IsNaN(d.Obs[0]) {
				t.Errorf("%s, byte %d: %d rows", name, at, d.Rows())
			}
		}
		if failed < 50 {
			t.Errorf("%s: only %d damaged files were noticed", name, failed)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"parquet", "arrow"} {
		b.Run(name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				d, _, err := read("testdata/example-"+name+"-v0", everything())
				if err != nil {
					b.Fatal(err)
				}
				rows += d.Rows()
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// encoding/json takes Unit_ID for unit_id and the last of two members: one episode's
// metadata would say whose it is in a way that others do not see.
func TestMembersInOtherLettersOrTwiceAreRefused(t *testing.T) {
	for _, c := range []struct{ file, member, want string }{
		{"data/1/metadata.json", `"Unit_ID": "ann"`, `holds the member "Unit_ID" where unit_id is wanted; write its name in small letters`},
		{"data/1/metadata.json", `"unit_id": "ann", "unit_id": "bob"`, "holds a member twice; write every member once"},
		{"data/1/metadata.json", `"EPISODE_ID": "e"`, `holds the member "EPISODE_ID" where episode_id is wanted; write its name in small letters`},
		{"data/metadata.json", `"Total_Episodes": 3`, `holds the member "Total_Episodes" where total_episodes is wanted; write its name in small letters`},
		{"data/metadata.json", `"other": {"unit_id": 1, "unit_id": 2, "Unit_ID": [{"a": 1}, {"a": 2}]}`, ""},
		{"data/0/metadata.json", `"unit_id": "` + strings.Repeat("x", 4097) + `"`, "unit_id: is longer than 4096 bytes; write shorter ids"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/example-parquet-v0")); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, c.file)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(text), "{", "{"+c.member+", ", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err = file.Read(context.Background(), []string{dir}, "minari", trajectory.Options{Observations: []string{}})
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || err.Error() != name+": "+c.want || !errors.Is(err, trajectory.ErrInput) {
			t.Errorf("%.40s: %v", c.member, err)
		}
	}
}
