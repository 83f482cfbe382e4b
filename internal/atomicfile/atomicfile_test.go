package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

func TestAFileIsWholeOrAbsent(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "a"), filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := atomicfile.Write(path, 0o644, func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("a failed write gives %v", err)
	}
	if err := atomicfile.Write(path, 0o644, func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "whole", victim: "kept"} {
		got, err := os.ReadFile(name)
		if err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("%d files are left; want 2", len(left))
	}
}
