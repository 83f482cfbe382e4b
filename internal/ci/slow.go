package main

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
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
// file depends on the tag is as it was without, and so is a test beside files that the
// tag only adds. Where the tag takes files away, such as one of smaller sizes, all tests
// of the package run.
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
		gone := len(without(fast[dir], files)) > 0
		if len(more) == 0 && !gone {
			continue
		}
		packages = append(packages, dir)
		of, err := testsIn(dir, more)
		if err == nil && (gone || len(of) == 0) {
			of, err = testsIn(dir, files)
		}
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

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// testsIn are the names of the tests, fuzz targets and examples that files declare.
func testsIn(dir string, files []string) ([]string, error) {
	var names []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f.Name.Name) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
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
