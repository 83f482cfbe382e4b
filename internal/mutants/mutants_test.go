//go:build slow

// Every seeded fault has its place in the sources, and a test that fails with it. The faults are in the files beside this one.

package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is one fault: in file, every old becomes its new. The tests of
// packages matching run must fail with it.
type mutant struct {
	name  string
	file  string
	edits [][2]string
	pkg   string
	run   string
}

func allMutants() []mutant {
	return slices.Concat(mechanismMutants(), accountMutants(), localMutants(), evaluateMutants(), ledgerMutants(), replayMutants(), storeMutants(), contractMutants(), auditMutants(), wordsMutants(), scaleMutants(), fleetMutants(), aggregatorMutants())
}

// Whoever moves or rewrites a line that a mutant changes learns so in seconds.
func TestEveryMutantHasItsPlace(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range allMutants() {
		t.Run(m.name, func(t *testing.T) { mutate(t, root, m) })
	}
}

// A fast suite has passed before: here a mutant's tests run until the first fails, and
// without vet and debugging information, which a fault does not need. What is recorded as
// killed is not killed again, but for a share that changes with the sources; of what is not
// recorded, or changed since, a run kills no more than it has time for, and says what it left.
func TestEveryMutantIsKilled(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	killed := readKilled(t, root)
	for _, m := range killed.due(t, root, allMutants()) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			kill(t, root, m)
			if !t.Failed() {
				killed.add(t, root, m, fingerprint(t, root, m))
			}
		})
	}
}

func kill(t *testing.T, root string, m mutant) {
	tags := ""
	if strings.HasPrefix(m.run, plansStand) {
		tags = "slow"
	}
	out, err := goTool(root, "test", "-tags", tags, "-count=1", "-timeout=2m", "-failfast", "-vet=off", "-ldflags=-s -w", "-overlay", mutate(t, root, m), "-run", m.run, m.pkg)
	switch {
	case err == nil:
		t.Errorf("the tests of %s (-run %s) pass with this fault:\n%s", m.pkg, m.run, out)
	case strings.Contains(out, "[build failed]"):
		t.Errorf("the mutant does not compile, so it proves nothing:\n%s", out)
	case strings.Contains(out, "panic: test timed out"):
		t.Errorf("the tests of %s (-run %s) were too slow to tell:\n%s", m.pkg, m.run, out)
	case !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic:"):
		t.Errorf("the tests of %s did not run:\n%s", m.pkg, out)
	}
}

// mutate writes the changed file and an overlay that puts it in place.
func mutate(t *testing.T, root string, m mutant) string {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for _, e := range m.edits {
		if strings.Count(changed, e[0]) != 1 {
			t.Fatalf("%s holds %q %d times; want once", m.file, e[0], strings.Count(changed, e[0]))
		}
		changed = strings.Replace(changed, e[0], e[1], 1)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: file}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func goTool(root string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
