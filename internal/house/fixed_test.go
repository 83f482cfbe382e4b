package house

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixedType is a type whose values do not change after they are made: no other file than
// these writes to a field, or to what a field holds or points to.
type fixedType struct {
	pkg, name string
	files     []string // hold the constructor, and what makes a changed copy
	made      bool     // by a constructor alone: a literal elsewhere is refused too
}

var fixedTypes = []fixedType{
	{pkg: "evaluate", name: "Plan", files: []string{"evaluate/plan.go"}, made: true},
	{pkg: "evaluate", name: "Public", files: []string{"evaluate/public.go", "internal/evaluate/examine/examine.go", "internal/spec/public.go", "internal/spec/spec.go"}},
	{pkg: "internal/spec", name: "Spec", files: []string{"internal/spec/spec.go"}, made: true},
	{pkg: "internal/charging", name: "Account", files: []string{"internal/evaluation/evaluate.go"}},
	{pkg: "internal/charging", name: "Check", files: []string{"internal/charging/check.go"}, made: true},
}

// TestFixedTypesAreWrittenWhereTheyAreMade checks, by types, all packages that see one.
func TestFixedTypesAreWrittenWhereTheyAreMade(t *testing.T) {
	var packages []string
	for _, s := range sources(t) {
		sees := slices.ContainsFunc(fixedTypes, func(f fixedType) bool { return s.pkg == f.pkg || slices.Contains(s.imports, f.pkg) })
		if sees && !s.test && !slices.Contains(packages, s.pkg) {
			packages = append(packages, s.pkg)
		}
	}
	c := newChecker(t, packages)
	own := map[string]bool{}
	for _, pkg := range packages {
		for _, w := range writes(c.check(t, pkg), fixedTypes) {
			if !slices.Contains(w.to.files, w.file) {
				t.Errorf("%s:%d %s, which only %s may", w.file, w.line, w.does, strings.Join(w.to.files, ", "))
			}
			own[w.file+" "+w.to.name] = true
		}
	}
	for _, f := range fixedTypes {
		for _, file := range f.files {
			if !own[file+" "+f.name] {
				t.Errorf("%s writes to no %s: its line in fixedTypes is out of date, or the test sees nothing", file, f.name)
			}
		}
	}
}

// TestAWriteToAFixedTypeIsSeen: in a package that is made for it every line that says so, and
// no other.
func TestAWriteToAFixedTypeIsSeen(t *testing.T) {
	const text = `package planted

import ("maps"; "github.com/discreet-rl/discreet/evaluate")

type around struct{ *evaluate.Plan }

type holder struct{ public evaluate.Public }

func reads(plan *evaluate.Plan, p evaluate.Public) (any, any) {
	notes, own := plan.Notes, map[string]any{}
	notes = append(notes, p.Labels["end"].(string))
	maps.Copy(own, plan.Facts)
	own["x"], plan = p.Persons, nil
	p = evaluate.Public{Persons: 1}
	privacy := *p.Privacy
	privacy.LargeDelta = true
	return notes, privacy
}

func writes(plan *evaluate.Plan, p evaluate.Public, h holder, a around) any {
	plan.Method = "x" // write
	plan.Facts["x"] = 1 // write
	plan.Notes = append(plan.Notes, "x") // write
	plan.Notes[0], p = "x", p // write
	plan.Expected.StdPrivacy *= 2 // write
	a.Method = "x" // write
	a.Plan.Method = "x" // write
	(*plan).Method = "x" // write
	*plan = *a.Plan // write
	delete(plan.Facts, "x") // write
	clear((plan.Facts)) // write
	copy(plan.Notes, []string{}) // write
	maps.Copy(plan.Facts, p.Labels) // write
	p.Persons++ // write
	h.public.Gamma = 1 // write
	p.Privacy.LargeDelta = true // write
	for p.Persons = range 3 { // write
	}
	facts := plan.Facts
	facts["x"] = 1 // write
	privacy := p.Privacy
	privacy.LargeDelta = true // write
	var start = p.Start
	start[0] = 1 // write
	method := &plan.Method // write
	func() { *method, plan.Privacy = "x", nil }() // write
	return evaluate.Plan{} // write
}
`
	c := newChecker(t, []string{"evaluate"})
	f, err := parser.ParseFile(c.files, "planted.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, w := range writes(c.types(t, module+"/planted", []*ast.File{f}), fixedTypes) {
		seen[w.line] = true
	}
	for i, line := range strings.Split(text, "\n") {
		if want := strings.HasSuffix(line, "// write"); seen[i+1] != want {
			t.Errorf("seen %v, want %v: %s", seen[i+1], want, line)
		}
	}
}

// write is one place that writes to a fixed type.
type write struct {
	to   fixedType
	file string
	line int
	does string
}

// checked is a package with its types.
type checked struct {
	path  string
	files *token.FileSet
	asts  []*ast.File
	info  *types.Info
}

// writes lists the places of a package that write to a fixed type: to a field, to what it
// holds, by its address, or through a local name of a map, slice or pointer that it holds.
func writes(c checked, fixed []fixedType) []write {
	var out []write
	find := func(t types.Type) *fixedType {
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		n, ok := types.Unalias(t).(*types.Named)
		if !ok || n.Obj().Pkg() == nil {
			return nil
		}
		i := slices.IndexFunc(fixed, func(f fixedType) bool {
			return n.Obj().Name() == f.name && n.Obj().Pkg().Path() == path.Join(module, f.pkg)
		})
		if i < 0 {
			return nil
		}
		return &fixed[i]
	}
	aliases := map[types.Object]*fixedType{}
	// through is the fixed type that a place is a part of: the place itself says nothing.
	var through func(e ast.Expr, inside bool) *fixedType
	through = func(e ast.Expr, inside bool) *fixedType {
		switch e := e.(type) {
		case *ast.ParenExpr:
			return through(e.X, inside)
		case *ast.IndexExpr:
			return through(e.X, true)
		case *ast.SliceExpr:
			return through(e.X, true)
		case *ast.StarExpr:
			if f := find(c.info.TypeOf(e.X)); f != nil && !inside {
				return f
			}
			return through(e.X, true)
		case *ast.SelectorExpr:
			if s := c.info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
				if f := promoted(s, find); f != nil {
					return f
				}
				return through(e.X, true)
			}
		case *ast.Ident:
			if inside {
				return aliases[c.info.ObjectOf(e)]
			}
		}
		return nil
	}
	note := func(f *fixedType, n ast.Node, does string) {
		if f != nil {
			at := c.files.Position(n.Pos())
			out = append(out, write{*f, path.Join(strings.TrimPrefix(strings.TrimPrefix(c.path, module), "/"), filepath.Base(at.Filename)), at.Line, does + " " + f.pkg + "." + f.name})
		}
	}
	define := func(name *ast.Ident, value ast.Expr) {
		t := c.info.TypeOf(value)
		if t == nil { // of a type switch
			return
		}
		switch t.Underlying().(type) {
		case *types.Map, *types.Slice, *types.Pointer:
			if f := through(value, false); f != nil && c.info.ObjectOf(name) != nil {
				aliases[c.info.ObjectOf(name)] = f
			}
		}
	}
	for _, file := range c.asts {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, e := range n.Lhs {
					note(through(e, false), e, "writes to")
					if name, ok := e.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
						define(name, n.Rhs[i])
					}
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if len(n.Names) == len(n.Values) {
						define(name, n.Values[i])
					}
				}
			case *ast.IncDecStmt:
				note(through(n.X, false), n, "writes to")
			case *ast.RangeStmt:
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if e != nil && n.Tok == token.ASSIGN {
						note(through(e, false), e, "writes to")
					}
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					note(through(n.X, false), n, "takes the address of a part of")
				}
			case *ast.CallExpr:
				switch name := types.ExprString(n.Fun); name {
				case "delete", "clear", "copy", "maps.Copy", "maps.DeleteFunc", "slices.Sort", "slices.Reverse":
					note(through(n.Args[0], true), n, "changes, by "+name+", a part of")
				}
			case *ast.CompositeLit:
				if f := find(c.info.TypeOf(n)); f != nil && f.made {
					note(f, n, "makes")
				}
			}
			return true
		})
	}
	return out
}

// promoted is the fixed type among those whose field is selected: of the value itself, or of
// what is embedded in it.
func promoted(s *types.Selection, find func(types.Type) *fixedType) *fixedType {
	t := s.Recv()
	for _, i := range s.Index() {
		if f := find(t); f != nil {
			return f
		}
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		t = t.Underlying().(*types.Struct).Field(i).Type()
	}
	return nil
}

// checker checks the types of packages, with what they import as it was compiled.
type checker struct {
	files   *token.FileSet
	listed  map[string]listed
	imports types.Importer
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Export, Dir string
	GoFiles                 []string
}

func newChecker(t *testing.T, packages []string) checker {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "maps"}
	for _, pkg := range packages {
		args = append(args, "./"+pkg)
	}
	list := exec.Command("go", args...)
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	c := checker{files: token.NewFileSet(), listed: map[string]listed{}}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		c.listed[l.ImportPath] = l
	}
	c.imports = importer.ForCompiler(c.files, "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(c.listed[name].Export)
	})
	return c
}

func (c checker) check(t *testing.T, pkg string) checked {
	t.Helper()
	l := c.listed[path.Join(module, pkg)]
	var asts []*ast.File
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(l.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		asts = append(asts, f)
	}
	return c.types(t, l.ImportPath, asts)
}

func (c checker) types(t *testing.T, importPath string, asts []*ast.File) checked {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: c.imports}).Check(importPath, c.files, asts, info); err != nil {
		t.Fatal(err)
	}
	return checked{importPath, c.files, asts, info}
}
