package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// apiFile is the reference of what a program in Go may import.
const apiFile = "docs/reference/go.md"

// mostNames is how many exported top-level names there may be outside internal/. It
// comes down with each one that is taken away, and goes up by a decision: it stands here
// so that the public interface cannot grow unnoticed.
const mostNames = 681

// publicPackage is a package that other modules can import.
type publicPackage struct {
	path string // relative to the root, "." for the root
	doc  *doc.Package
}

// publicPackages reads the packages below root that other modules can import: those
// outside internal/ that are neither a command, nor generated, nor of another module.
func publicPackages(root string) ([]publicPackage, error) {
	var all []publicPackage
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root {
			_, other := os.Stat(filepath.Join(dir, "go.mod"))
			if other == nil || strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"internal", "testdata"}, d.Name()) {
				return filepath.SkipDir
			}
		}
		p, err := publicPackageOf(dir)
		if err != nil || p == nil {
			return err
		}
		rel, err := filepath.Rel(root, dir)
		all = append(all, publicPackage{filepath.ToSlash(rel), p})
		return err
	})
	slices.SortFunc(all, func(a, b publicPackage) int { return strings.Compare(a.path, b.path) })
	return all, err
}

// publicPackageOf reads one directory; nil where it has no package that counts.
func publicPackageOf(dir string) (*doc.Package, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	at := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(at, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if !ast.IsGenerated(f) && f.Name.Name != "main" {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	return doc.NewFromFiles(at, files, dir)
}

// names are the exported top-level names of a package with the first sentence of what is
// said of each: of a group of constants or variables, of the group where one of them has
// no words of its own.
func (p publicPackage) names() map[string]string {
	all := map[string]string{}
	say := func(name, text string) {
		if token.IsExported(name) {
			all[name] = p.doc.Synopsis(text)
		}
	}
	values := func(groups []*doc.Value) {
		for _, g := range groups {
			for _, s := range g.Decl.Specs {
				v := s.(*ast.ValueSpec)
				text := v.Doc.Text()
				if text == "" {
					text = v.Comment.Text()
				}
				if text == "" {
					text = g.Doc
				}
				for _, n := range v.Names {
					say(n.Name, text)
				}
			}
		}
	}
	functions := func(list []*doc.Func) {
		for _, f := range list {
			say(f.Name, f.Doc)
		}
	}
	values(p.doc.Consts)
	values(p.doc.Vars)
	functions(p.doc.Funcs)
	for _, t := range p.doc.Types {
		say(t.Name, t.Doc)
		values(t.Consts)
		values(t.Vars)
		functions(t.Funcs)
	}
	return all
}

// api prints how many exported top-level names each public package has.
func api(root string, out io.Writer) error {
	all, err := publicPackages(root)
	if err != nil {
		return err
	}
	sum := 0
	for _, p := range all {
		names := p.names()
		sum += len(names)
		fmt.Fprintf(out, "%5d  %-24s %s\n", len(names), p.path, strings.Join(slices.Sorted(maps.Keys(names)), " "))
	}
	fmt.Fprintf(out, "%5d  of at most %d\n", sum, mostNames)
	if sum > mostNames {
		return fmt.Errorf("%d exported names outside internal/, at most %d are meant: unexport what no other package needs, or raise mostNames in internal/ci/api.go", sum, mostNames)
	}
	return nil
}

// apiPage is the reference page of the public packages below root.
func apiPage(root string) (string, error) {
	all, err := publicPackages(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("<!-- Made by go run ./internal/ci api -write from the code; a test compares. -->\n\n# Go packages\n\n" +
		"What a program in Go may import, each name with the first sentence of its documentation. `go doc PACKAGE.NAME` prints the rest, with methods, fields and examples. " +
		"Start with [package discreet](#discreet), which is the whole job; the privacy half, `dp/...`, stands by itself. What is below `internal/` is no part of this and changes without notice.\n")
	for _, p := range all {
		title := p.path
		if title == "." {
			title = "discreet"
		}
		fmt.Fprintf(&b, "\n## %s\n\n`%s`: %s\n\n| name | |\n|---|---|\n", title, strings.TrimSuffix("github.com/discreet-rl/discreet/"+p.path, "/."), inText(p.doc.Synopsis(p.doc.Doc)))
		names := p.names()
		for _, n := range slices.Sorted(maps.Keys(names)) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", n, inCell(inText(names[n])))
		}
	}
	return b.String(), nil
}

// inText is a sentence of a comment where Markdown reads it.
func inText(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "[", "", "]", "").Replace(text)
}

func writeAPI() error {
	page, err := apiPage(".")
	if err != nil {
		return err
	}
	return os.WriteFile(apiFile, []byte(page), 0o644)
}
