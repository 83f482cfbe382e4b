package house

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// strays lists the files that do not belong into the root: neither Go, nor a page,
// nor the module's own, nor ignored by git.
func strays(names []string, ignore string) []string {
	var out []string
	for _, name := range names {
		known := strings.HasPrefix(name, ".") || slices.Contains([]string{".go", ".md"}, path.Ext(name)) || slices.Contains([]string{"LICENSE", "go.mod", "go.sum"}, name)
		for pattern := range strings.Lines(ignore) {
			match, err := path.Match(strings.TrimPrefix(strings.TrimSpace(pattern), "/"), name)
			known = known || err == nil && match
		}
		if !known {
			out = append(out, name)
		}
	}
	return out
}

// The output of a command that somebody ran here is not landed with a change.
func TestTheRootHoldsNothingElse(t *testing.T) {
	if got := strays([]string{"a.go", "README.md", ".gitignore", "LICENSE", "go.mod", "discreet", "x.prof", "ex.time", "LICENSE2"}, "/discreet\n*.prof\n"); !slices.Equal(got, []string{"ex.time", "LICENSE2"}) {
		t.Errorf("strays are %q", got)
	}
	ignore, err := os.ReadFile("../../.gitignore")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	for _, name := range strays(names, string(ignore)) {
		t.Errorf("%s does not belong into the root of the repository", name)
	}
}

// mostRootFiles bounds the Go files of the root, tests aside: it holds functions to start
// with and what they return.
const mostRootFiles = 12

func TestTheRootIsADoor(t *testing.T) {
	files := map[string]bool{}
	for _, s := range sources(t) {
		if s.pkg == "." && !s.test {
			files[s.path] = true
		}
	}
	if len(files) == 0 || len(files) > mostRootFiles {
		t.Errorf("the root has %d Go files besides tests; want 1 to %d", len(files), mostRootFiles)
	}
}
