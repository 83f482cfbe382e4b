package scale_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/importing"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/scale"
)

// parts are three files: header and rows of 4 persons with 2 episodes of 3 rows.
type parts [3][]string

const partsHeader = "episode_id,unit_id,step,action,behavior_prob,reward,terminated"

func wholeParts() (f parts) {
	for i := range f {
		f[i] = []string{partsHeader}
		for p := 4 * i; p < 4*i+4; p++ {
			for row := range 6 {
				f[i] = append(f[i], fmt.Sprintf("u%d-%d,u%d,%d,%d,0.5,0.5,%v", p, row/3, p, row%3, row%2, row%3 == 2))
			}
		}
	}
	return f
}

// everyFault spoils files, and says in which line of which file that is told first, and how.
var everyFault = map[string]struct {
	spoil      func(f *parts)
	file, line int
	want       string
}{
	"cut off":               {func(f *parts) { f[2][24] = f[2][24][:9] }, 2, 25, "the row has 2 fields and the header has 7"},
	"left out":              {func(f *parts) { f[1] = slices.Delete(f[1], 5, 6) }, 1, 6, "step: is not one more than the step before"},
	"out of order":          {func(f *parts) { f[0][8], f[0][9] = f[0][9], f[0][8] }, 0, 9, "step: is not one more than the step before"},
	"another's row":         {func(f *parts) { f[1][3] = strings.Replace(f[1][3], "u4,", "u9,", 1) }, 1, 4, "unit_id: changes within an episode"},
	"another's episode":     {func(f *parts) { f[2] = append(f[2], "u4-0,u9,0,1,0.5,0.5,true") }, 2, 26, "episode_id: an earlier episode has this id"},
	"another spelling":      {func(f *parts) { f[2] = append(f[2], "x,07,0,1,0.5,0.5,true", "y,7,0,1,0.5,0.5,true") }, 2, 27, "unit_id: is another spelling of the id in row 26 of"},
	"copied rows":           {func(f *parts) { f[2] = append(f[2], f[2][1:4]...) }, 2, 26, "episode_id: an earlier episode has this id"},
	"a copied file":         {func(f *parts) { f[2] = f[0] }, 2, 2, "episode_id: an earlier episode has this id"},
	"a bad cell":            {func(f *parts) { f[1][6] = "u4-1,u4,2,1,0.5,plenty,true" }, 1, 7, "reward: is not a number"},
	"an empty cell":         {func(f *parts) { f[1][6] = "u4-1,,2,1,0.5,0.5,true" }, 1, 7, "unit_id: is missing"},
	"a probability above 1": {func(f *parts) { f[2][2] = "u8-0,u8,1,1,1.5,0.5,false" }, 2, 3, "behavior_prob: is above 1 and no probability"},
	"no row":                {func(f *parts) { f[0], f[1], f[2] = f[0][:1], f[1][:1], f[2][:1] }, 2, 0, "there is no row of data"},
	"two in two files": {func(f *parts) {
		f[0][20], f[2][3] = strings.Replace(f[0][20], "0.5,0.5", "0.5,?", 1), f[2][3]+",1"
	}, 0, 21, "reward: is not a number"},
}

// TestEveryFaultIsToldAlike: in one file and in several, by one processor and by three, validate, evaluate, shard,
// import and the worker of a partition tell the same faults, with their places.
func TestEveryFaultIsToldAlike(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, fault := range everyFault {
		for _, processors := range []int{1, 3} {
			runtime.GOMAXPROCS(processors)
			f, dir := wholeParts(), t.TempDir()
			fault.spoil(&f)
			for i, lines := range f {
				putLines(t, dir, fmt.Sprintf("%d.csv", i), lines)
			}
			want := fmt.Sprintf("%d.csv:%d: %s", fault.file, fault.line, fault.want)
			if fault.line == 0 {
				want = fmt.Sprintf("%d.csv: %s", fault.file, fault.want)
			}
			alike(t, name, dir, want, false)
			one, line := []string{partsHeader}, fault.line
			for i, lines := range f {
				if i < fault.file && line > 0 {
					line += len(lines) - 1
				}
				one = append(one, lines[1:]...)
			}
			dir = t.TempDir()
			putLines(t, dir, "0.csv", one)
			want = fmt.Sprintf("0.csv:%d: %s", line, strings.Replace(fault.want, "row 26", "row 74", 1))
			if line == 0 {
				want = "0.csv: " + fault.want
			}
			alike(t, name+" in one file", dir, want, true)
		}
	}
	for name, c := range map[string]struct {
		spoil func(path string) error
		want  string
	}{
		"a file with other columns": {func(path string) error {
			return os.WriteFile(path, []byte("episode_id,unit_id,action,behavior_prob\nx,x,1,0.5\n"), 0o600)
		}, " reward: the file has no such column"},
		"a file that is lost":  {func(path string) error { return errors.Join(os.Remove(path), os.Symlink("gone", path)) }, " no such file"},
		"a file that is empty": {func(path string) error { return os.Truncate(path, 0) }, "1: the file is empty"},
		"two names of a file":  {func(path string) error { return errors.Join(os.Remove(path), os.Symlink("0.csv", path)) }, " is the same file as"},
	} {
		dir := t.TempDir()
		for i, lines := range wholeParts() {
			putLines(t, dir, fmt.Sprintf("%d.csv", i), lines)
		}
		if err := c.spoil(filepath.Join(dir, "1.csv")); err != nil {
			t.Fatal(err)
		}
		alike(t, name, dir, "1.csv:"+c.want, false)
	}
}

func putLines(t *testing.T, dir, name string, lines []string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// alike holds what is told of the data in a directory by whoever reads them against each other.
func alike(t *testing.T, name, dir, want string, partition bool) {
	t.Helper()
	putLines(t, dir, "q.yaml", []string{`data: {path: "*.csv", format: csv, on_violation: reject, behavior: {source: logged}}`,
		"problem: {persons: 12, gamma: 0.9, reward: {min: 0, max: 1}, horizon: 5}", "target: {kind: uniform, actions: 2}", "method: {name: dp-wis}",
		"privacy: {adjacency: replace_one, epsilon: 2, delta: 1.0e-5}"})
	c, err := discreet.Load(filepath.Join(dir, "q.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string][]string{}
	add := func(by string, err error) { told[toldOf(err)] = append(told[toldOf(err)], by) }
	_, err = discreet.Validate(t.Context(), c)
	add("validate", err)
	_, err = discreet.Evaluate(t.Context(), c)
	add("evaluate", err)
	made := t.TempDir()
	_, _, err = importing.Import(t.Context(), importing.Order{Config: c, Table: filepath.Join(made, "table.parquet")})
	add("import", err)
	o := trajectory.Options{Need: trajectory.Action | trajectory.BehaviorProb, Optional: trajectory.AllParts, Unit: trajectory.UnitPerson, Reward: &trajectory.Range{Max: 1}, Faults: 20}
	_, err = scale.Sharding{Data: []string{filepath.Join(dir, "*.csv")}, Options: o, Dir: filepath.Join(made, "shards"), Shards: 3}.Write(t.Context())
	add("shard", err)
	if partition {
		question, err := discreet.Question(filepath.Join(dir, "q.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		d := scale.Driver{Config: c, Question: question, Partitions: 1, Dir: filepath.Join(made, "run"), Key: scale.RunKey{1}, Engine: onePartition(filepath.Join(dir, "0.csv"))}
		if _, err := d.Evaluate(t.Context()); !errors.Is(err, scale.ErrShard) {
			t.Errorf("%s: a partition: %v", name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "0.csv.faults.txt"))
		if err != nil {
			t.Error(err)
		}
		add("partition", errors.New(strings.TrimSpace(string(text))))
	}
	for text := range told {
		if len(told) > 1 || !strings.Contains(text, want) {
			t.Errorf("%s: want %s, got\n%q", name, want, told)
			break
		}
	}
	if left, err := os.ReadDir(made); err != nil || len(left) > 1 {
		t.Errorf("%s: left %v, %v", name, left, err)
	}
}

// onePartition has a worker answer for all rows of a file.
type onePartition string

func (p onePartition) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	_, err := new(scale.Worker).Partition(ctx, r.Task, r.Hash, 0, string(p), string(p), r.Key)
	return nil, err
}

// toldOf is what is told of data, and not of a configuration that they do not fit.
func toldOf(err error) string {
	if several, ok := errors.AsType[*trajectory.FaultsError](err); ok {
		return several.Error()
	}
	if one, ok := errors.AsType[*trajectory.InputError](err); ok {
		return one.Error()
	}
	return fmt.Sprint(err)
}
