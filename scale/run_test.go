package scale

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	d.Engine = broken{do: func(r Round, p []Partial) ([]Partial, error) {
		if r.Task.Round == 2 {
			return nil, errStopped
		}
		return p, nil
	}}
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	d.Engine = Local{}
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
