package scale

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// put writes a file, with the directories to it.
func put(t testing.TB, text string, at ...string) string {
	t.Helper()
	path := filepath.Join(at...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// listing is all that is under a directory, with what files hold.
func listing(t testing.TB, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all = append(all, path)
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, path+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestADirectoryThatIsNoRunIsLeftAsItIs, whatever the names in it: it is refused by the
// driver and by who wants its key.
func TestADirectoryThatIsNoRunIsLeftAsItIs(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	d.Dir = filepath.Join(s.dir, "user")
	put(t, "kept", d.Dir, "parts-2024", "a.csv")
	put(t, "kept", d.Dir, "parts-0001-123", "b.csv")
	put(t, "kept", d.Dir, ".writing-1")
	before := listing(t, d.Dir)
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrRun) {
		t.Errorf("a run in a directory of something else: %v", err)
	}
	if _, err := KeyOfRun(d.Dir); !errors.Is(err, ErrRun) {
		t.Errorf("a key in a directory of something else: %v", err)
	}
	if after := listing(t, d.Dir); !slices.Equal(before, after) {
		t.Errorf("it held %v and holds %v", before, after)
	}
}

// TestADirectoryIsNoPattern: a run in a directory with brackets in its name ends, goes
// on, and touches no directory that the name would match as a pattern.
func TestADirectoryIsNoPattern(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	d.Dir = filepath.Join(s.dir, "run[1]")
	kept := put(t, "kept", s.dir, "run1", "parts-0001-123", "a.csv")
	put(t, "kept", s.dir, "run1", marker)
	stop(t, d, 2)
	if _, err := d.Evaluate(context.Background()); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("another directory was tidied: %v", err)
	}
	round := Round{Dir: filepath.Join(s.dir, "out[1]"), Path: filepath.Join(s.dir, "task"), Shards: s.shards}
	text, err := answered(t, d.taskOfCheck(t), s.shards[0], d.Key).Encode()
	if err != nil {
		t.Fatal(err)
	}
	made := put(t, string(text), s.dir, "made.part")
	if err := os.Mkdir(round.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	parts, err := Command{Shell: `cp "` + made + `" "$OUT/a.part"`}.Round(context.Background(), round)
	if err != nil || len(parts) != 1 {
		t.Errorf("of a command that left one partial %d are found: %v", len(parts), err)
	}
}

// taskOfCheck is the task of round 0 of a driver.
func (d Driver) taskOfCheck(t testing.TB) Task {
	t.Helper()
	task, _, err := ReadTask(store{dir: d.Dir}.taskOf(0))
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// TestWhatAKilledDriverLeftIsRemoved from a run, and what has other names is not.
func TestWhatAKilledDriverLeftIsRemoved(t *testing.T) {
	s := newStage(t)
	d := s.driver(t)
	if err := claim(d.Dir); err != nil {
		t.Fatal(err)
	}
	gone := []string{filepath.Dir(put(t, "x", d.Dir, "parts-0000-77", "a.part")), put(t, "x", d.Dir, ".writing-88")}
	stay := []string{put(t, "x", d.Dir, "parts-2024", "a"), put(t, "x", d.Dir, "parts-0001-notes", "a"), put(t, "x", d.Dir, ".writing-notes"), put(t, "x", d.Dir, "parts-0001-1")}
	if _, err := d.Evaluate(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, path := range gone {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s stays: %v", path, err)
		}
	}
	for _, path := range stay {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is removed: %v", path, err)
		}
	}
}

// stoppedIn is a driver whose run was stopped before the k-th sum.
func stoppedIn(t testing.TB, s stage, k int) Driver {
	t.Helper()
	d := s.driver(t)
	d.Dir = filepath.Join(t.TempDir(), "run")
	stop(t, d, k)
	return d
}

// TestASumThatIsGoneIsNotDrawnAgain: whichever files of a run are lost, as by a restore of
// a part of it, nothing is drawn in the place of a sum that was kept, as long as anything
// that knows of it is left.
func TestASumThatIsGoneIsNotDrawnAgain(t *testing.T) {
	s := newStage(t, "method={name: dp-refine}", "target={kind: logged}", "data.behavior=null")
	for name, lost := range map[string][]string{
		"a sum, where a task and the count know it":  {"sum-0002.json"},
		"a sum that the count alone knows":           {"sum-0002.json", "task-0003.json"},
		"a sum that a task alone knows":              {"sum-0002.json", "rounds.json"},
		"a sum before another":                       {"sum-0001.json", "task-0002.json", "task-0003.json", "rounds.json"},
		"all sums":                                   {"sum-0001.json", "sum-0002.json"},
		"all sums, where the last task alone knows":  {"sum-0001.json", "sum-0002.json", "task-0002.json", "rounds.json"},
		"the run, where the count alone knows of it": {"run.json", "sum-0001.json", "sum-0002.json", "task-0002.json", "task-0003.json"},
		"the run, where a task alone knows of it":    {"run.json", "sum-0001.json", "sum-0002.json", "task-0003.json", "rounds.json"},
		"the count of two sums":                      {"rounds.json", "task-0002.json", "task-0003.json"},
	} {
		d := stoppedIn(t, s, 3)
		for _, file := range lost {
			if err := os.Remove(filepath.Join(d.Dir, file)); err != nil {
				t.Fatal(err)
			}
		}
		asked := false
		d.Progress = func(int) { asked = true }
		if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrRun) || asked {
			t.Errorf("%s: %v, workers asked: %v", name, err, asked)
		}
	}
	d := stoppedIn(t, s, 1)
	put(t, "x", d.Dir, "parts-0003-1", "a.part")
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrRun) {
		t.Errorf("partials of a round whose sums are gone: %v", err)
	}
	d = stoppedIn(t, s, 3) // killed between the second sum and its counting
	if err := (store{dir: d.Dir, key: d.Key}).replace(filepath.Join(d.Dir, "rounds.json"), count{d.runOf(t), 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Evaluate(context.Background()); err != nil {
		t.Errorf("a run whose last sum was not counted yet: %v", err)
	}
}

// runOf is the run that a driver is at.
func (d Driver) runOf(t testing.TB) Hash {
	t.Helper()
	var b begun
	if found, err := (store{dir: d.Dir, key: d.Key}).read(filepath.Join(d.Dir, "run.json"), &b); err != nil || !found {
		t.Fatal(found, err)
	}
	return b.Run
}

// TestAChangedFileOfARunIsRefused by its name: whoever has no run key changes, renames or
// brings none from another run.
func TestAChangedFileOfARunIsRefused(t *testing.T) {
	s := newStage(t, "method={name: dp-refine}", "target={kind: logged}", "data.behavior=null")
	other := stoppedIn(t, s, 3)
	for name, c := range map[string]struct {
		do   func(d Driver) error
		want string
	}{
		"a sum": {func(d Driver) error {
			return edit(d, "sum-0002.json", func(b []byte) []byte { return regexp.MustCompile(`"sum":\[`).ReplaceAll(b, []byte(`"sum":[1,`)) })
		}, "sum-0002.json: its MAC is wrong"},
		"the persons": {func(d Driver) error {
			return edit(d, "run.json", func(b []byte) []byte { return bytes.Replace(b, []byte(`"persons":120`), []byte(`"persons":121`), 1) })
		}, "run.json: its MAC is wrong"},
		"the count": {func(d Driver) error {
			return edit(d, "rounds.json", func(b []byte) []byte { return bytes.Replace(b, []byte(`"sums":2`), []byte(`"sums":3`), 1) })
		}, "rounds.json: its MAC is wrong"},
		"the sum of another round": {func(d Driver) error {
			return os.Rename(filepath.Join(d.Dir, "sum-0001.json"), filepath.Join(d.Dir, "sum-0002.json"))
		}, "knows of noisy sums"},
		"the sum of another round, doubled": {func(d Driver) error {
			text, err := os.ReadFile(filepath.Join(d.Dir, "sum-0001.json"))
			return errors.Join(err, os.WriteFile(filepath.Join(d.Dir, "sum-0002.json"), text, 0o600))
		}, "sum-0002.json: its MAC is wrong"},
		"the sum of another run": {func(d Driver) error {
			return os.Rename(filepath.Join(other.Dir, "sum-0002.json"), filepath.Join(d.Dir, "sum-0002.json"))
		}, "sum-0002.json is of another run"},
		"a task": {func(d Driver) error {
			return edit(d, "task-0003.json", func(b []byte) []byte { return regexp.MustCompile(`"sum":\[`).ReplaceAll(b, []byte(`"sum":[1,`)) })
		}, "task-0003.json knows of noisy sums"},
	} {
		d := stoppedIn(t, s, 3)
		if err := c.do(d); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Evaluate(context.Background()); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// edit changes a file of a run, which must change it.
func edit(d Driver, name string, change func([]byte) []byte) error {
	path := filepath.Join(d.Dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := change(text)
	if bytes.Equal(changed, text) {
		return errors.New(name + " has nothing to change")
	}
	return os.WriteFile(path, changed, 0o600)
}

// TestNoKeyIsDrawnForARunThatHasOne elsewhere.
func TestNoKeyIsDrawnForARunThatHasOne(t *testing.T) {
	d := stoppedIn(t, newStage(t), 2)
	if _, err := KeyOfRun(d.Dir); !errors.Is(err, ErrKey) {
		t.Errorf("a key for a run of another: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(d.Dir, "key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is written: %v", err)
	}
}
