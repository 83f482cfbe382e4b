//go:build slow

package house

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// toyTree is a copy of the repository in which commands run.
type toyTree struct {
	t    *testing.T
	dir  string
	took time.Duration // of processors
}

// TestAToyOfEachKindFits adds all toys to a copy of the work tree and makes the generated
// files anew. Then the tests of the house, of the schemas and of the references pass, those
// that ask about every thing of a kind, and those that use a toy.
func TestAToyOfEachKindFits(t *testing.T) {
	c, byHand := copyTree(t), withToys(t)
	for path, text := range byHand {
		c.write(path, []byte(text))
	}
	for _, s := range toySteps {
		before := c.texts()
		c.run(strings.Fields(s.command)...)
		changed := 0
		for path, text := range c.texts() {
			if text == before[path] {
				continue
			}
			changed++
			if _, ok := byHand[path]; ok {
				t.Errorf("%s writes to %s, which the table takes for a file that is changed by hand", s.command, path)
			}
		}
		if changed == 0 {
			t.Errorf("%s changes nothing, and a toy is said to call for it", s.command)
		}
	}
	c.run("go", "test", "-vet=off", "-skip", "^TestToys", "./internal/house", "./internal/schema", "./internal/yamlfile", "./internal/protocol")
	// How many names are public is for people to decide, so that is not asked of the toys.
	chosen := map[string][]string{"./internal/ci": {"TestKeysPagesAreCurrent", "TestReferenceOfGo"}, "./internal/cli": {"TestReferencePagesAreCurrent", "TestManualLeavesNothingOut"}}
	for _, y := range toys {
		for pkg, tests := range y.tests {
			chosen[pkg] = append(chosen[pkg], tests...)
		}
	}
	names := slices.Concat(slices.Collect(maps.Values(chosen))...)
	said := c.run(slices.Concat([]string{"go", "test", "-vet=off", "-v", "-run", exactly(names)}, slices.Sorted(maps.Keys(chosen)))...)
	for _, name := range names {
		if !strings.Contains(said, "--- PASS: "+name+" (") {
			t.Errorf("there is no test %s any more", name)
		}
	}
	t.Logf("%.0f processor seconds", c.took.Seconds())
}

// exactly is the pattern for these tests and no others.
func exactly(names []string) string {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	}
	return strings.Join(patterns, "|")
}

// copyTree copies what git tracks, as it is in the work tree, and what is new there.
func copyTree(t *testing.T) *toyTree {
	t.Helper()
	c := &toyTree{t: t, dir: t.TempDir()}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", path))
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c.write(path, text)
	}
	return c
}

func (c *toyTree) write(path string, text []byte) {
	c.t.Helper()
	path = filepath.Join(c.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// texts are the texts of all files of the copy, by path.
func (c *toyTree) texts() map[string]string {
	c.t.Helper()
	texts := map[string]string{}
	err := fs.WalkDir(os.DirFS(c.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(c.dir, path))
		texts[path] = string(text)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return texts
}

// run runs a command in the copy and returns what it printed. With -trimpath packages that the
// toys do not change come from the build cache, since it does not matter where they are.
func (c *toyTree) run(args ...string) string {
	c.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -trimpath", "CI=") // in CI golden files are not regenerated
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s with the toys: %v\n%s", strings.Join(args, " "), err, out)
	}
	c.took += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return string(out)
}
