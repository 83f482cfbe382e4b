package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/discreet-rl/discreet"

// source is one parsed file of the module.
type source struct {
	path    string // relative to the root, with slashes
	pkg     string // directory of path, "." for the root
	test    bool
	file    *ast.File
	imports []string // packages of this module, relative to the root
}

func sources(t *testing.T) []source {
	t.Helper()
	const root = "../.."
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s, err := parse(path, filepath.ToSlash(rel))
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the walk is broken", len(all))
	}
	return all
}

func parse(path, rel string) (source, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return source{}, err
	}
	s := source{path: rel, pkg: filepath.ToSlash(filepath.Dir(rel)), test: strings.HasSuffix(rel, "_test.go"), file: f}
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return s, err
		}
		if name == module {
			s.imports = append(s.imports, ".")
		} else if below, ok := strings.CutPrefix(name, module+"/"); ok {
			s.imports = append(s.imports, below)
		}
	}
	return s, nil
}

func under(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }

// layer is the height of a package in the house: imports point down.
func layer(pkg string) int {
	switch {
	case under(pkg, "internal/xmath"), under(pkg, "internal/atomicfile"), under(pkg, "internal/oracle"), under(pkg, "internal/jcs"), under(pkg, "internal/signature"), under(pkg, "docs/schema"):
		return 0
	case under(pkg, "dp"), under(pkg, "rl"):
		return 1
	case under(pkg, "evaluate"), under(pkg, "train"):
		return 2
	case pkg == ".", under(pkg, "report"), under(pkg, "papers"):
		return 3
	case under(pkg, "internal/config"):
		return 4
	case under(pkg, "internal/cli"), under(pkg, "internal/server"):
		return 5
	case under(pkg, "cmd"):
		return 6
	}
	return 7 // internal/house, internal/mutants: tests of the whole
}

// violations lists what is wrong with one file's imports.
func violations(s source) []string {
	var out []string
	bad := func(imported, why string) { out = append(out, s.path+" imports "+imported+": "+why) }
	for _, i := range s.imports {
		switch {
		case under(s.pkg, "dp") && under(i, "rl"):
			bad(i, "privacy does not know of reinforcement learning")
		case under(s.pkg, "rl") && under(i, "dp"):
			bad(i, "reinforcement learning does not know of privacy")
		case under(s.pkg, "evaluate") && under(i, "train"), under(s.pkg, "train") && under(i, "evaluate"):
			bad(i, "the two bridges do not meet")
		case layer(i) > layer(s.pkg) && !s.test: // a test may look down on its package from above
			bad(i, "imports point down")
		}
	}
	return out
}

func TestImportsFollowTheHouse(t *testing.T) {
	for _, s := range sources(t) {
		for _, v := range violations(s) {
			t.Error(v)
		}
	}
}

// TestTheImportRuleCatchesViolations makes sure that the rule can fail.
func TestTheImportRuleCatchesViolations(t *testing.T) {
	for _, c := range []struct{ pkg, imports string }{
		{"dp/account", "rl/trajectory"}, {"rl/value", "dp"}, {"evaluate", "train"}, {"train", "evaluate"},
		{"evaluate", "."}, {"dp", "evaluate"}, {"rl/sim/chain", "internal/cli"}, {"internal/xmath", "dp"},
	} {
		s := source{path: c.pkg + "/x.go", pkg: c.pkg, imports: []string{c.imports}}
		if len(violations(s)) == 0 {
			t.Errorf("%s may import %s", c.pkg, c.imports)
		}
	}
}

// TestSeededNoiseIsForTests looks for calls of noise.NewSeeded outside tests and
// reproductions.
func TestSeededNoiseIsForTests(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || under(s.pkg, "papers") || under(s.pkg, "dp/noise") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "NewSeeded" {
				t.Errorf("%s makes a seeded noise source outside a test", s.path)
			}
			return true
		})
	}
}

// TestPrivacyUsesNoOrdinaryRandomNumbers looks for math/rand where noise is made.
func TestPrivacyUsesNoOrdinaryRandomNumbers(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !(under(s.pkg, "dp") || under(s.pkg, "evaluate")) {
			continue
		}
		for _, spec := range s.file.Imports {
			if strings.HasPrefix(spec.Path.Value, `"math/rand`) {
				t.Errorf("%s imports %s", s.path, spec.Path.Value)
			}
		}
	}
}
