//go:build slow

// Every seeded fault has its place in the sources, and a test that fails with it. The faults are in the files beside this one.

package mutants

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// edits are pairs of an old text and a new one.
type edits [][2]string

// mutant is one fault: in the package of the directory in, each old text becomes its new one.
// Each stands once in the package, in whichever file. The tests of the package by that match run
// must fail with it; without by they are tests of the same package.
type mutant struct {
	name, in, by, run string
	slow              bool // those tests are of the slow suite, as those of plansStand are
	edits             edits
}

func (m mutant) tested() string { return cmp.Or(m.by, m.in) }

func allMutants() []mutant {
	return slices.Concat(mechanismMutants(), accountMutants(), localMutants(), evaluateMutants(), ledgerMutants(), replayMutants(), storeMutants(), contractMutants(), auditMutants(), wordsMutants(), scaleMutants(), fleetMutants(), aggregatorMutants(), serveMutants(), workerMutants())
}

// Whoever moves or rewrites a line that a mutant changes, or what it uses, learns so in
// seconds, and not on the day that the mutant is due: one that does not compile kills nothing.
func TestEveryMutantHasItsPlace(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all := allMutants()
	c := newChecker(t, root, all)
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			if err := c.check(filepath.Join(root, m.in), mutate(t, root, m)); err != nil {
				t.Error("the mutant does not compile:", err)
			}
		})
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
				killed.add(t, root, m)
			}
		})
	}
}

func kill(t *testing.T, root string, m mutant) {
	tags := ""
	if m.slow || strings.HasPrefix(m.run, plansStand) {
		tags = "slow"
	}
	out, err := goTool(root, "test", "-tags", tags, "-count=1", "-timeout=5m", "-failfast", "-vet=off", "-ldflags=-s -w", "-overlay", mutate(t, root, m), "-run", m.run, "./"+m.tested())
	switch {
	case err == nil:
		t.Errorf("the tests of %s (-run %s) pass with this fault:\n%s", m.tested(), m.run, out)
	case strings.Contains(out, "[build failed]"):
		t.Errorf("the mutant does not compile, so it proves nothing:\n%s", out)
	case strings.Contains(out, "panic: test timed out"):
		t.Errorf("the tests of %s (-run %s) were too slow to tell:\n%s", m.tested(), m.run, out)
	case !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic:"):
		t.Errorf("the tests of %s did not run:\n%s", m.tested(), out)
	}
}

// mutate writes the changed files and an overlay that puts them in place.
func mutate(t *testing.T, root string, m mutant) string {
	t.Helper()
	texts := map[string]string{}
	for _, path := range files(t, filepath.Join(root, m.in), false) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !generated.Match(text) {
			texts[path] = string(text)
		}
	}
	dir, replace := t.TempDir(), map[string]string{}
	for _, e := range m.edits {
		times, in := 0, ""
		for path, text := range texts {
			if n := strings.Count(text, e[0]); n > 0 {
				times, in = times+n, path
			}
		}
		if times != 1 {
			t.Fatalf("package %s has %q %d times; want once", m.in, e[0], times)
		}
		texts[in] = strings.Replace(texts[in], e[0], e[1], 1)
		replace[in] = filepath.Join(dir, filepath.Base(in))
	}
	for path, changed := range replace {
		if err := os.WriteFile(changed, []byte(texts[path]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// generated is the line that marks a generated file.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func goTool(root string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
