package source_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/source"
)

// written makes empty files below a directory.
func written(t *testing.T, dir string, names ...string) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSpellingsOfADirectory: however a directory is spelt, or linked to, its files are the same, those that
// are hidden are left out, and the history of a table is refused.
func TestSpellingsOfADirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	written(t, "d", "a.csv", "y=1/b.csv", "_old/c.csv", ".x/d.csv", "_SUCCESS")
	if err := os.Symlink("d", "link"); err != nil {
		t.Skip(err)
	}
	all := []string{"d", "d/", "./d", "d/.", "./././././././././d", "d//", "link", "./link/"}
	for _, name := range all {
		root := "d"
		if strings.Contains(name, "link") {
			root = "link"
		}
		found, err := source.Find(t.Context(), name)
		if want := []string{filepath.Join(root, "a.csv"), filepath.Join(root, "y=1", "b.csv")}; err != nil || !slices.Equal(found, want) {
			t.Errorf("%s: %q, %v; want %q", name, found, err, want)
		}
	}
	written(t, "d", "_delta_log/0.json")
	for _, name := range all {
		if _, err := source.Find(t.Context(), name); !errors.Is(err, source.ErrDirectory) {
			t.Errorf("%s: a Delta table: %v", name, err)
		}
	}
}

// TestDirectoryWhereTheProgramRuns: a dot is its name. A partition's key may begin like a hidden name.
func TestDirectoryWhereTheProgramRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	written(t, ".", "_key=1/a.csv", "_old/c.csv", "y=1/b.csv")
	if found, err := source.Find(t.Context(), "."); err != nil || !slices.Equal(found, []string{filepath.Join("_key=1", "a.csv"), filepath.Join("y=1", "b.csv")}) {
		t.Errorf("%q, %v", found, err)
	}
}

// TestGlobsOfDirectories: a directory that a glob matches is left out, or refused, as it is below a
// directory, unless the glob asks for hidden ones.
func TestGlobsOfDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	written(t, "d", "y=1/b.csv", "_old/c.csv", ".x/d.csv")
	for glob, want := range map[string]string{"d/*": "d/y=1/b.csv", "d/_o*": "d/_old/c.csv", "d/.x*": "d/.x/d.csv"} {
		if found, err := source.Find(t.Context(), glob); err != nil || !slices.Equal(found, []string{filepath.FromSlash(want)}) {
			t.Errorf("%s: %q, %v; want %s", glob, found, err, want)
		}
	}
	written(t, "d", "_temporary/0/e.csv")
	if _, err := source.Find(t.Context(), "d/*"); !errors.Is(err, source.ErrDirectory) {
		t.Errorf("a job that did not end: %v", err)
	}
}

// TestLinkToNothing: it is named, and not the directory that it is in.
func TestLinkToNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	written(t, "d", "a.csv")
	if err := os.Symlink("nowhere", filepath.Join("d", "z.csv")); err != nil {
		t.Skip(err)
	}
	if _, err := source.Find(t.Context(), "d"); !errors.Is(err, source.ErrDirectory) || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "z.csv") {
		t.Errorf("%v", err)
	}
}
