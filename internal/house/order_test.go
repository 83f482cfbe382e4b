package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"testing"
)

// TestCasesOfAMapShareNoSource: a map has another order in each run, so that cases that draw from one
// seeded source see other numbers, and a test fails by chance.
func TestCasesOfAMapShareNoSource(t *testing.T) {
	known := map[string]map[string]bool{} // maps at the top of a package's tests
	for _, s := range sources(t) {
		if known[s.pkg] == nil {
			known[s.pkg] = map[string]bool{}
		}
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && s.test {
				for _, spec := range g.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == 1 && isMap(v.Values[0]) {
						known[s.pkg][v.Names[0].Name] = true
					}
				}
			}
		}
	}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test {
				for _, name := range shared(f, maps.Clone(known[s.pkg])) {
					t.Errorf("%s: %s: cases of a map draw from %s; list them in order, or make it for each", s.path, f.Name.Name, name)
				}
			}
		}
	}
}

func TestASourceThatCasesShareIsSeen(t *testing.T) {
	for text, want := range map[string]int{
		"src := noise.NewSeeded(1); for range map[string]int{} { use(src) }":                          1,
		"a, b := 1, rand.New(x); cases := map[string]int{}; for k := range cases { use(k, b) }":       1,
		"src := NewSeeded(1); for k := range all { use(src, k) }":                                     1,
		"src := NewSeeded(1); for k := range some { use(src, k) }":                                    0,
		"src := NewSeeded(1); for range map[string]int{} { src := NewSeeded(2); use(src) }; use(src)": 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() {"+text+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := shared(f.Decls[0], map[string]bool{"all": true}); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func isMap(e ast.Expr) bool {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return false
	}
	_, ok = lit.Type.(*ast.MapType)
	return ok
}

func isSource(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "NewSeeded"
	case *ast.SelectorExpr:
		from, ok := f.X.(*ast.Ident)
		return f.Sel.Name == "NewSeeded" || ok && from.Name == "rand" && f.Sel.Name == "New"
	}
	return false
}

// made gives the names that n assigns a value to that is one of those.
func made(n ast.Node, is func(ast.Expr) bool) map[string]bool {
	names := map[string]bool{}
	if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
		for i, e := range a.Rhs {
			if id, ok := a.Lhs[i].(*ast.Ident); ok && is(e) {
				names[id.Name] = true
			}
		}
	}
	return names
}

// shared are the sources, made before a loop over a map, that its body uses.
func shared(n ast.Node, all map[string]bool) []string {
	sources, found := map[string]bool{}, map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		maps.Copy(sources, made(n, isSource))
		maps.Copy(all, made(n, isMap))
		loop, ok := n.(*ast.RangeStmt)
		if !ok {
			return true
		}
		if id, named := loop.X.(*ast.Ident); !isMap(loop.X) && !(named && all[id.Name]) {
			return true
		}
		own := map[string]bool{}
		ast.Inspect(loop.Body, func(n ast.Node) bool {
			maps.Copy(own, made(n, isSource))
			if id, ok := n.(*ast.Ident); ok && sources[id.Name] && !own[id.Name] {
				found[id.Name] = true
			}
			return true
		})
		return true
	})
	return slices.Sorted(maps.Keys(found))
}
