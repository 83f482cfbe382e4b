package main

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// last is the package whose tests run go commands of their own, several at once: at the
// end they keep every core busy while the other packages have none to share.
const last = "internal/mutants"

// slow runs what the tag slow adds to the tests of packages. A package of which no test
// file depends on the tag is as it was without, and so is a test that reaches nothing of
// the files that the tag adds or takes away.
func slow(ctx context.Context, args []string, out io.Writer) error {
	at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, ".") })
	if at < 0 {
		return errors.New("usage: ci slow [FLAGS] PACKAGES, each from ./ on")
	}
	fast, err := testFiles(ctx, "", args[at:])
	if err != nil {
		return err
	}
	tagged, err := testFiles(ctx, "slow", args[at:])
	if err != nil {
		return err
	}
	packages, tests, err := added(fast, tagged)
	if err != nil {
		return err
	}
	goTest := append([]string{"-tags", "slow", "-run", "^(" + strings.Join(tests, "|") + ")$"}, args[:at]...)
	return test(ctx, append(goTest, packages...), out)
}

// testFiles lists the test files of packages by the packages' directories.
func testFiles(ctx context.Context, tag string, patterns []string) (map[string][]string, error) {
	list, err := output(ctx, "go", append([]string{"list", "-tags", tag, "-f",
		"{{.Dir}}{{range .TestGoFiles}}\t{{.}}{{end}}{{range .XTestGoFiles}}\t{{.}}{{end}}"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	files := map[string][]string{}
	for line := range strings.Lines(list) {
		names := strings.Split(strings.TrimSpace(line), "\t")
		files[names[0]] = names[1:]
	}
	return files, nil
}

// added are the packages in which the tag changes test files, and the tests to run in
// them, both without repetition.
func added(fast, tagged map[string][]string) (packages, tests []string, err error) {
	for dir, files := range tagged {
		more := without(files, fast[dir])
		gone := without(fast[dir], files)
		if len(more)+len(gone) == 0 {
			continue
		}
		packages = append(packages, dir)
		of, err := changed(dir, files, append(more, gone...), more)
		if err != nil {
			return nil, nil, err
		}
		tests = append(tests, of...)
	}
	slices.SortFunc(packages, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	slices.Sort(tests)
	return packages, slices.Compact(tests), nil
}

func rank(dir string) int {
	if strings.HasSuffix(filepath.ToSlash(dir), "/"+last) {
		return 1
	}
	return 0
}

func without(all, left []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(left, s) })
}

// changed are the tests, fuzz targets and examples of files that are among more, or
// reach a name that one of the differing files declares: a constant of another size, a
// helper that uses it, and so on. Names are taken for the same wherever they are written
// alike, so it may be too many tests and is never too few. What runs before all tests
// reaches them all.
func changed(dir string, files, differing, more []string) ([]string, error) {
	var added, kept, gone []declared
	for _, name := range append(slices.Clone(files), without(differing, files)...) {
		of, err := declarations(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		switch {
		case slices.Contains(more, name):
			added = append(added, of...)
		case slices.Contains(files, name):
			kept = append(kept, of...)
		default:
			gone = append(gone, of...)
		}
	}
	reached, own := map[string]bool{}, map[string]bool{}
	for _, d := range gone {
		addReached(reached, d)
	}
	for _, d := range added {
		if !d.method {
			addReached(own, d)
		}
	}
	for _, d := range added {
		// The kept tests compile without it: they can come to what hides a name of the
		// language, to methods of a type of theirs, and to what runs by itself.
		if d.method && !own[d.names[len(d.names)-1]] || !d.method && d.unattributed() {
			addReached(reached, d)
		}
	}
	for grown := true; grown; {
		grown = false
		for _, d := range kept {
			if slices.ContainsFunc(d.uses, func(name string) bool { return reached[name] }) {
				grown = addReached(reached, d) || grown
			}
		}
	}
	everything := reached["init"] || reached["TestMain"] || reached["_"]
	var tests []string
	for _, d := range added {
		if d.test {
			tests = append(tests, d.names[0])
		}
	}
	for _, d := range kept {
		if d.test && (everything || reached[d.names[0]]) {
			tests = append(tests, d.names[0])
		}
	}
	return tests, nil
}

// addReached marks the names of a declaration, and says whether one was not marked.
func addReached(reached map[string]bool, d declared) (grown bool) {
	for _, name := range d.names {
		grown = grown || !reached[name]
		reached[name] = true
	}
	return grown
}

// declared is a declaration of a file: the names that it gives, of a method also its
// type's, those that stand in it, and whether go test runs it.
type declared struct {
	names, uses  []string
	method, test bool
}

// unattributed says whether what was written without a function, a type or a value of the
// package may yet come to it.
func (d declared) unattributed() bool {
	return slices.ContainsFunc(d.names, func(name string) bool {
		return name == "init" || name == "TestMain" || name == "_" || types.Universe.Lookup(name) != nil
	})
}

func declarations(path string) ([]declared, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []declared
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f := declared{names: []string{d.Name.Name}, uses: identifiers(d), test: d.Recv == nil && isTest(d.Name.Name)}
			if f.method = d.Recv != nil; f.method {
				f.names = append(f.names, identifiers(d.Recv.List[0].Type)...)
			}
			all = append(all, f)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			// A block is one: in a block of constants a line may repeat the one above.
			block := declared{uses: identifiers(d)}
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					block.names = append(block.names, s.Name.Name)
				case *ast.ValueSpec:
					block.names = append(block.names, identifiersOf(s.Names)...)
				}
			}
			all = append(all, block)
		}
	}
	return all, nil
}

func identifiers(n ast.Node) []string {
	var names []string
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
		return true
	})
	return names
}

func identifiersOf(list []*ast.Ident) []string {
	var names []string
	for _, id := range list {
		names = append(names, id.Name)
	}
	return names
}

// isTest tells a test by its name, as go test does.
func isTest(name string) bool {
	for _, kind := range []string{"Test", "Fuzz", "Example"} {
		if rest, ok := strings.CutPrefix(name, kind); ok && name != "TestMain" {
			first, _ := utf8.DecodeRuneInString(rest)
			return !unicode.IsLower(first)
		}
	}
	return false
}
