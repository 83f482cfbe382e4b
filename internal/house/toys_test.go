package house

import (
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// toysDir has a directory for each toy. In it edits.txtar lists the texts that change and what
// they become, and the files below new/ are added as they stand.
const toysDir = "testdata/toys"

// toyPage has the table of what each toy takes.
const toyPage = "docs/architecture.md"

// toy is a small addition of one kind: an example for whoever adds a real one, and the measure
// of how many places know of a kind.
type toy struct {
	name, title string
	// regenerate names the steps that it calls for.
	regenerate []string
	// tests by package must pass with it: those that ask about every thing of its kind, and
	// those that use the toy.
	tests map[string][]string
}

var toys = []toy{
	{"estimator", "an estimator", []string{"manual", "api", "golden"}, map[string][]string{
		"./evaluate":     {"TestEveryMethodRunsAndSpendsItsBudget", "TestReleasesStateTheirUnit", "TestEndsAndDiscountsAreNotGuessed", "TestListedDefaultsAreTheDefaults"},
		"./internal/cli": {"TestScripts/dpfirst"},
	}},
	{"quantity", "a quantity", []string{"keys", "api", "golden"}, map[string][]string{"./internal/cli": {"TestScripts/mixture"}, "./evaluate": {"TestCapsOfContrasts", "TestQuestionsAboutSeveralPolicies"}}},
	{"randomiser", "a randomiser", []string{"keys", "api"}, map[string][]string{
		"./dp/local":     {"TestOneCoordinateIsPrivateAndUnbiased"},
		"./internal/cli": {"TestScripts/onecoordinate"},
	}},
	{"format", "a format", []string{"manual", "keys"}, map[string][]string{"./internal/cli": {"TestScripts/dat"}}},
	{"environment", "an environment", []string{"manual", "keys"}, map[string][]string{"./internal/cli": {"TestScripts/thermostat"}}},
	{"key", "a key of the configuration", []string{"keys"}, map[string][]string{"./internal/cli": {"TestScripts/rewardunit"}}},
	{"call", "a call of the service", []string{"protocol"}, map[string][]string{"./serve": {"TestWhoMayDoWhat", "TestTheMethodsOfADatasetAreListed"}}},
}

// toySteps make generated files anew, in this order.
var toySteps = []struct{ name, command string }{
	{"protocol", "go test -tags slow ./internal/protocol -regenerate"},
	{"manual", "go generate ./internal/cli"},
	{"keys", "go run ./internal/ci keys -write"},
	{"api", "go run ./internal/ci api -write"},
	{"golden", "go test ./internal/golden -run ReleasesKeep -regenerate"},
}

// toyEdit is a text that stands once in a file, and what it becomes.
type toyEdit struct{ path, old, new string }

func (y toy) edits(t *testing.T) []toyEdit {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join(toysDir, y.name, "edits.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	text := func(f txtar.File) string { return strings.TrimSuffix(string(f.Data), "\n") }
	var all []toyEdit
	for pair := range slices.Chunk(a.Files, 2) {
		path, ok := strings.CutPrefix(pair[0].Name, "change ")
		if !ok || len(pair) != 2 || pair[1].Name != "to" {
			t.Fatalf("toy %s: edits.txtar: %q is not followed by what the text becomes", y.name, pair[0].Name)
		}
		all = append(all, toyEdit{path, text(pair[0]), text(pair[1])})
	}
	return all
}

// changed lists the files that the toy edits, in order.
func (y toy) changed(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, e := range y.edits(t) {
		paths = append(paths, e.path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// added are the texts of the files that the toy brings, by path.
func (y toy) added(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	files := os.DirFS(filepath.Join(toysDir, y.name, "new"))
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// withToys are the texts of all files that differ once every toy is there, by path.
func withToys(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, y := range toys {
		for _, e := range y.edits(t) {
			if _, read := texts[e.path]; !read {
				text, err := os.ReadFile(filepath.Join("../..", e.path))
				if err != nil {
					t.Fatalf("toy %s: %v", y.name, err)
				}
				texts[e.path] = string(text)
			}
			if n := strings.Count(texts[e.path], e.old); n != 1 {
				t.Fatalf("toy %s: %s has %q %d times; want once: mend internal/house/%s/%[1]s/edits.txtar", y.name, e.path, e.old, n, toysDir)
			}
			texts[e.path] = strings.Replace(texts[e.path], e.old, e.new, 1)
		}
		for path, text := range y.added(t) {
			if _, err := os.Stat(filepath.Join("../..", path)); err == nil || texts[path] != "" {
				t.Fatalf("toy %s adds %s, which is there", y.name, path)
			}
			texts[path] = text
		}
	}
	return texts
}

// Whoever moves or rewrites a line that a toy changes learns so in seconds.
func TestToysHaveTheirPlaces(t *testing.T) {
	for path, text := range withToys(t) {
		if filepath.Ext(path) != ".go" {
			continue
		}
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("%s with the toys is not as gofmt writes it (%v)", path, err)
		}
	}
}

// row is what the page says of the toy: how many files change and are added, which, and what
// is regenerated.
func (y toy) row(t *testing.T) string {
	t.Helper()
	list := func(paths []string) string { return fmt.Sprintf("%d: `%s`", len(paths), strings.Join(paths, "`, `")) }
	return fmt.Sprintf("| [%s](../internal/house/%s/%s) | %s | %s | %s |\n", y.title, toysDir, y.name,
		list(y.changed(t)), list(slices.Sorted(maps.Keys(y.added(t)))), strings.Join(y.regenerate, ", "))
}

// The table is exact, so that it comes down with the number of places that know of a kind, and
// goes up only where somebody sees it.
func TestToysTakeWhatThePageSays(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("../..", toyPage))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, y := range toys {
		if row := y.row(t); !strings.Contains(page, row) {
			t.Errorf("%s lacks this row, which is what the toy takes:\n%s", toyPage, row)
		}
	}
	if n := strings.Count(page, "/"+toysDir+"/"); n != len(toys) {
		t.Errorf("%s has %d links to toys, and there are %d", toyPage, n, len(toys))
	}
	for _, s := range toySteps {
		if !strings.Contains(page, "*"+s.name+"* (`"+s.command+"`)") {
			t.Errorf("%s does not say that *%s* is (`%s`)", toyPage, s.name, s.command)
		}
	}
	dirs, err := os.ReadDir(toysDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !slices.ContainsFunc(toys, func(y toy) bool { return y.name == d.Name() }) {
			t.Errorf("%s/%s is not in the list of toys", toysDir, d.Name())
		}
	}
}
