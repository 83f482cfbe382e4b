package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	all, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the walk is broken", len(all))
	}
	return all
}

// readSources reads the sources once: most tests ask for them.
var readSources = sync.OnceValues(func() ([]source, error) {
	const root = "../.."
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() && path != root {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil { // a module of its own
				return filepath.SkipDir
			}
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
	return all, err
})

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

// within is under, for packages too that are kept from other modules: internal/rl/... belongs
// to rl.
func within(pkg, tree string) bool { return under(pkg, tree) || under(pkg, "internal/"+tree) }

// place is the part and layer of a package.
type place struct {
	part  part
	layer int
}

// plan is the parsed table: the place of each package.
type plan struct {
	table []part
	at    map[string]place
}

// read makes a plan of a table and lists what is wrong with the table itself.
func read(table []part) (plan, []string) {
	p := plan{table, map[string]place{}}
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	before := map[string]bool{}
	for _, w := range table {
		for _, below := range w.over {
			if !before[below] {
				bad("part %s stands over %s, which is not before it in the table", w.name, below)
			}
		}
		if before[w.name] {
			bad("two parts are called %s", w.name)
		}
		before[w.name] = true
		for layer, packages := range w.layers {
			for _, pkg := range packages {
				if _, twice := p.at[pkg]; twice {
					bad("%s is listed twice", pkg)
				}
				if p.home(pkg) != w.tree {
					bad("%s is listed in the part %s and not in that of %s", pkg, w.name, p.home(pkg))
				}
				p.at[pkg] = place{w, layer}
			}
		}
	}
	return p, wrong
}

// home is the longest tree of a part that holds the package.
func (p plan) home(pkg string) string {
	tree := ""
	for _, w := range p.table {
		if w.tree != "" && within(pkg, w.tree) && len(w.tree) > len(tree) {
			tree = w.tree
		}
	}
	return tree
}

// violations lists what is wrong with one file's imports. A test may also
// import its own part's upper layers, but no part that its package may not.
func (p plan) violations(s source) []string {
	from, listed := p.at[s.pkg]
	if !listed {
		return []string{s.path + ": the package " + s.pkg + " has no line in internal/house/table_test.go"}
	}
	var out []string
	for _, i := range s.imports {
		to, listed := p.at[i]
		why := ""
		switch {
		case !listed:
			why = "that package has no line in internal/house/table_test.go"
		case from.part.name != to.part.name && !slices.Contains(from.part.over, to.part.name):
			why = fmt.Sprintf("the part %s does not stand over the part %s", from.part.name, to.part.name)
		case from.part.name == to.part.name && to.layer >= from.layer && !s.test:
			why = fmt.Sprintf("imports point down, and in the part %s it is not on a lower layer", to.part.name)
		}
		if why != "" {
			out = append(out, s.path+" imports "+i+": "+why)
		}
	}
	return out
}

func TestImportsFollowTheHouse(t *testing.T) {
	p, wrong := read(table)
	for _, w := range wrong {
		t.Error(w)
	}
	exists := map[string]bool{}
	for _, s := range sources(t) {
		exists[s.pkg] = true
		for _, v := range p.violations(s) {
			t.Error(v)
		}
	}
	for pkg := range p.at {
		if !exists[pkg] {
			t.Errorf("internal/house/table_test.go lists %s, which does not exist", pkg)
		}
	}
}

// TestTheImportRuleCatchesViolations makes sure that the rule can fail.
func TestTheImportRuleCatchesViolations(t *testing.T) {
	p, _ := read(table)
	for _, c := range []struct {
		pkg, imports string
		test         bool
	}{
		{pkg: "dp/account", imports: "rl/trajectory"},
		{pkg: "internal/rl/value", imports: "dp"},
		{pkg: "evaluate", imports: "train"},
		{pkg: "train", imports: "evaluate"},
		{pkg: "evaluate", imports: "."},
		{pkg: "dp", imports: "evaluate"},
		{pkg: "internal/rl/sim/chain", imports: "internal/cli"},
		{pkg: "internal/xmath", imports: "dp"},
		{pkg: "dp/noise", imports: "internal/dp/ledger/chain"},
		{pkg: "dp/noise", imports: "internal/dp/mechanism"},
		{pkg: "internal/dp/mechanism", imports: "dp/local"},
		{pkg: "rl/trajectory", imports: "internal/rl/value"},
		{pkg: "rl/trajectory/internal/parquetfile", imports: "rl/trajectory/file"},
		{pkg: "internal/report", imports: "."},
		{pkg: "internal/cli", imports: "internal/house"},
		{pkg: "dp/account", imports: "rl/trajectory", test: true},
		{pkg: "internal/rl/value", imports: "evaluate", test: true},
		{pkg: "dp/noise", imports: "internal/dp/ledger/chain", test: true},
	} {
		s := source{path: c.pkg + "/x.go", pkg: c.pkg, imports: []string{c.imports}, test: c.test}
		if len(p.violations(s)) != 1 {
			t.Errorf("%s may import %s", c.pkg, c.imports)
		}
	}
	down := source{path: "internal/dp/mechanism/x.go", pkg: "internal/dp/mechanism", imports: []string{"dp", "dp/noise", "internal/xmath"}}
	if v := p.violations(down); len(v) != 0 {
		t.Errorf("imports that point down are refused: %v", v)
	}
}

// TestANewPackageCannotJoinThePillars: where a new package has no line, every
// import of it and from it is an error; where its line is in a pillar or on
// the ground, it cannot import both pillars; and what lives in a pillar's tree
// has no line elsewhere.
func TestANewPackageCannotJoinThePillars(t *testing.T) {
	joins := func(pkg string) source {
		return source{path: pkg + "/new.go", pkg: pkg, imports: []string{"dp", "rl/trajectory"}}
	}
	p, _ := read(table)
	for _, pkg := range []string{"curator", "dp/curator", "rl/curator", "evaluate/curator", "internal/curator"} {
		if len(p.violations(joins(pkg))) == 0 {
			t.Errorf("the unlisted package %s may import both pillars", pkg)
		}
		user := source{path: "evaluate/x.go", pkg: "evaluate", imports: []string{pkg}}
		if len(p.violations(user)) == 0 {
			t.Errorf("the unlisted package %s may be imported", pkg)
		}
	}
	for i, w := range table {
		pkg := "curator"
		if w.tree != "" {
			pkg = w.tree + "/curator"
		}
		var wrong []string
		p, wrong = read(withTop(i, pkg))
		if len(wrong) != 0 {
			t.Errorf("part %s cannot have the new package %s: %v", w.name, pkg, wrong)
		}
		bridges := slices.Contains(w.over, "privacy") && slices.Contains(w.over, "learning")
		if refused := len(p.violations(joins(pkg))) > 0; refused == bridges {
			t.Errorf("a new package of the part %s that imports both pillars: refused %v", w.name, refused)
		}
		for _, tree := range []string{"dp", "rl"} {
			if pkg := tree + "/curator"; w.tree != tree {
				if _, wrong = read(withTop(i, pkg)); len(wrong) == 0 {
					t.Errorf("%s may be listed in the part %s", pkg, w.name)
				}
			}
		}
	}
}

// withTop is the table with a new top layer of one package in part i.
func withTop(i int, pkg string) []part {
	changed := slices.Clone(table)
	changed[i].layers = append(slices.Clone(changed[i].layers), []string{pkg})
	return changed
}

// TestSeededNoiseIsForTests looks for calls of noise.NewSeeded and NewTaped outside
// tests, reproductions, audits and replays, none of which releases anything.
func TestSeededNoiseIsForTests(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || under(s.pkg, "internal/papers") || under(s.pkg, "dp/noise") || slices.Contains([]string{"dp/audit", "internal/evaluate/replay", "internal/evaluate/neighbours", "internal/evaluate/examine", "internal/train/examine"}, s.pkg) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && (sel.Sel.Name == "NewSeeded" || sel.Sel.Name == "NewTaped") {
				t.Errorf("%s makes a seeded noise source outside a test", s.path)
			}
			return true
		})
	}
}

// TestPrivacyUsesNoOrdinaryRandomNumbers looks for math/rand where noise is made.
func TestPrivacyUsesNoOrdinaryRandomNumbers(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !(within(s.pkg, "dp") || within(s.pkg, "evaluate")) {
			continue
		}
		for _, spec := range s.file.Imports {
			if strings.HasPrefix(spec.Path.Value, `"math/rand`) {
				t.Errorf("%s imports %s", s.path, spec.Path.Value)
			}
		}
	}
}
