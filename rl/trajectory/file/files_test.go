// Files as files: several of them, two names of one, one that changes while it is read, and a read that is cancelled.

package file_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Files are read in the order of their names, each once, and a person may have
// episodes in several.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.csv": "episode_id,unit_id,reward\n3,ann,3\n", "a.csv": "episode_id,unit_id,reward\n1,ann,1\n2,bob,2\n", "c.csv": "episode_id,unit_id,reward\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, notices, err := file.Read(context.Background(), []string{dir + "/b.csv", dir + "/*.csv"}, "", everything())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1, 3, 2}, d.Reward); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(d.Origin[1], "b.csv") || d.FirstRow[1] != 2 {
		t.Errorf("the second episode comes from %s:%d", d.Origin[1], d.FirstRow[1])
	}
	if !strings.Contains(strings.Join(notices, "\n"), "c.csv has no rows") {
		t.Errorf("notices %q", notices)
	}
}

func TestReadingIsCancelledAndReported(t *testing.T) {
	var b strings.Builder
	b.WriteString("episode_id,reward\n")
	const rows = 200_000
	for i := range rows {
		b.WriteString("abcdefgh"[i%8 : i%8+1])
		b.WriteString(strings.Repeat("1", i%9+1))
		b.WriteString(",1\n")
	}
	path := put(t, "log.csv", b.String())
	o := trajectory.Options{Columns: map[string]string{"unit_id": "episode_id"}, OneRowEpisodes: true}
	var last trajectory.Progress
	calls := 0
	o.Progress = func(p trajectory.Progress) {
		if p.Rows < last.Rows || p.Bytes < last.Bytes {
			t.Errorf("progress went back from %+v to %+v", last, p)
		}
		last = p
		calls++
	}
	if _, _, err := file.Read(context.Background(), []string{path}, "", o); err != nil {
		t.Fatal(err)
	}
	if want := (trajectory.Progress{File: path, Files: 1, Bytes: int64(b.Len()), Size: int64(b.Len()), Rows: rows}); last != want || calls < 3 {
		t.Errorf("after %d calls the last progress is %+v, want %+v", calls, last, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(trajectory.Progress) { cancel() }
	if _, _, err := file.Read(ctx, []string{path}, "", o); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read gives %v", err)
	}
}

func TestTwoNamesOfOneFileAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log.csv")
	if err := os.WriteFile(path, []byte("reward\n1\n0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	alias := filepath.Join(dir, "alias.csv")
	if err := os.Symlink(path, alias); err != nil {
		t.Fatal(err)
	}
	_, _, err := file.Read(context.Background(), []string{path, alias}, "", trajectory.Options{OneRowEpisodes: true})
	if !errors.Is(err, trajectory.ErrInput) || !strings.Contains(fmt.Sprint(err), "is the same file as") {
		t.Errorf("a file under two names: %v; want it refused, since its persons would count twice", err)
	}
}

// TestAFileThatChangesWhileItIsReadIsRefused: rows of two versions of a file are never
// taken for one, whether it is written again at the same length, made longer, or another
// file is put in its place; a file that is let alone is read, by episodes and by parts.
func TestAFileThatChangesWhileItIsReadIsRefused(t *testing.T) {
	const rows = 70_000 // more than are read between two calls of Progress
	log := func(reward string) string {
		var b strings.Builder
		b.WriteString("unit_id,episode_id,reward\n")
		for i := range rows {
			b.WriteString("u" + strconv.Itoa(i) + ",e," + reward + "\n")
		}
		return b.String()
	}
	zeros, ones := log("0"), log("1")
	for name, change := range map[string]func(path string) error{
		"let alone": nil,
		"written again": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(ones), 0o600), os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
		},
		"longer": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("z,e,1\n")
				err = errors.Join(err, f.Close())
			}
			return err
		},
		"another in its place": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			other := path + ".new"
			return errors.Join(os.WriteFile(other, []byte(zeros), 0o600), os.Chtimes(other, time.Time{}, info.ModTime()), os.Rename(other, path))
		},
		"gone": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			o := trajectory.Options{Unit: trajectory.UnitPerson, OneRowEpisodes: true, Observations: []string{}}
			for _, byParts := range []bool{false, true} {
				path, done := put(t, "log.csv", zeros), false
				o.Progress = func(trajectory.Progress) {
					if change != nil && !done {
						done = true
						if err := change(path); err != nil {
							t.Error(err)
						}
					}
				}
				s, err := file.Open(context.Background(), []string{path}, "", o)
				for d := new(trajectory.Dataset); err == nil; {
					if byParts {
						err = s.Part(d)
					} else {
						_, err = s.Next()
					}
				}
				if change == nil && !errors.Is(err, io.EOF) {
					t.Errorf("by parts %v: %v", byParts, err)
				}
				if change != nil && (!done || !errors.Is(err, trajectory.ErrInput) || !strings.Contains(err.Error(), path+": was changed while it was read")) {
					t.Errorf("by parts %v: changed %v, and the end is %v", byParts, done, err)
				}
			}
		})
	}
}

// TestADirectoryIsItsFiles: of directories of partitions too, whose keys are told and no
// columns, without what begins with _ or a dot. Files that are not all of a table's rows, or
// more, are refused.
func TestADirectoryIsItsFiles(t *testing.T) {
	dir := t.TempDir()
	add := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	const header = "episode_id,unit_id,reward\n"
	add("log/year=2025/site=a/x.csv", header+"e,p,1\n")
	add("log/year=2026/site=b/y.csv", header+"f,q,2\n")
	add("log/year=2026/_SUCCESS", "")
	add("log/year=2026/site=b/.y.csv.crc", "sum")
	add("log/_old/z.csv", header+"g,r,3\n")
	for _, pattern := range []string{"log", "lo*", "log/", "log/year=*"} {
		d, notices, err := file.Read(t.Context(), []string{filepath.Join(dir, pattern)}, "csv", trajectory.Options{})
		if err != nil || !slices.Equal(d.Reward, []float64{1, 2}) || !slices.Equal(d.PersonID, []string{"p", "q"}) {
			t.Fatalf("%s: %v, %v", pattern, d, err)
		}
		if told := strings.Join(notices, "\n"); !strings.Contains(told, "directories are named year=..., site=...") || strings.Contains(told, "2026") {
			t.Errorf("%s: told %q", pattern, told)
		}
	}
	if _, _, err := file.Read(t.Context(), []string{dir + "/log"}, "", trajectory.Options{Columns: map[string]string{"reward": "year"}}); !errors.Is(err, trajectory.ErrColumn) {
		t.Errorf("a key as a column: %v", err)
	}
	for _, mark := range []string{"_delta_log/0.json", ".hoodie/x", "metadata/v1.metadata.json", "_temporary/0/x.csv"} {
		add("log/"+mark, "x")
		if _, err := file.Open(t.Context(), []string{dir + "/log"}, "csv", trajectory.Options{}); !errors.Is(err, source.ErrDirectory) {
			t.Errorf("%s: %v", mark, err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "log", strings.SplitN(mark, "/", 2)[0])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "log", "_old"), filepath.Join(dir, "log", "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Open(t.Context(), []string{dir + "/log"}, "csv", trajectory.Options{}); !errors.Is(err, source.ErrDirectory) {
		t.Errorf("a link to a directory: %v", err)
	}
	if _, err := file.Open(t.Context(), []string{"s3://bucket/log"}, "csv", trajectory.Options{}); !errors.Is(err, source.ErrScheme) || !strings.Contains(err.Error(), "discreet-beam") {
		t.Errorf("a store: %v", err)
	}
}
