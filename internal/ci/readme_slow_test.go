//go:build slow

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestREADMEsCommandsRun runs every command of the README, in its order, in a
// directory that holds what its text says is there: the configuration that it
// prints, the example's data, also as a trial of one's own, an event and a release.
func TestREADMEsCommandsRun(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := read(t, filepath.Join(root, "README.md"))
	binary := filepath.Join(dir, "bin", "discreet")
	if out, err := execute(root, "go", "build", "-o", binary, "./cmd/discreet"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	yaml := blocks(text, "yaml")
	if len(yaml) != 1 {
		t.Fatalf("the README holds %d configurations; this test is about one", len(yaml))
	}
	write(t, filepath.Join(dir, "evaluate.yaml"), yaml[0])
	write(t, filepath.Join(dir, "event.json"), `{"kind":"gaussian","noise_multiplier":1.1}`)
	for _, name := range []string{"trajectories.csv", "trial.csv"} {
		write(t, filepath.Join(dir, name), read(t, filepath.Join(root, "examples/pbc/trajectories.csv")))
	}

	n := 0
	for _, block := range blocks(text, "") {
		for line := range strings.Lines(block) {
			command, ok := shell(line)
			if !ok {
				continue
			}
			n++
			out, err := execute(dir, "bash", "-c", strings.NewReplacer("go run ./cmd/discreet", binary).Replace("discreet() { "+binary+" \"$@\"; }; "+command))
			if err != nil {
				t.Errorf("%s\n%v\n%s", command, err, out)
			}
			if release := filepath.Join(dir, "out", "release.json"); strings.HasPrefix(command, "discreet evaluate") {
				write(t, filepath.Join(dir, "release.json"), read(t, release))
			}
		}
	}
	if n < 15 {
		t.Errorf("only %d commands found in the README", n)
	}
}

// shell is the command of a line, if it is one of discreet and written out.
func shell(line string) (string, bool) {
	command, _, _ := strings.Cut(line, " #")
	command = strings.TrimSpace(command)
	ours := strings.HasPrefix(command, "discreet ") || strings.HasPrefix(command, "go run ./cmd/discreet ")
	return command, ours && !strings.HasSuffix(command, "...")
}

// blocks are the fenced blocks of a language.
func blocks(markdown, language string) []string {
	var all []string
	open, ours := false, false
	for line := range strings.Lines(markdown) {
		if info, ok := strings.CutPrefix(line, "```"); ok {
			open = !open
			if ours = open && strings.TrimSpace(info) == language; ours {
				all = append(all, "")
			}
			continue
		}
		if ours {
			all[len(all)-1] += line
		}
	}
	return all
}

func execute(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
