//go:build slow

// Whether a mutant compiles, by the types of its package alone, against the others as they are.

package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// checker checks the types of packages of which some files are replaced.
type checker struct {
	set  *token.FileSet
	at   map[string]*listed // by directory
	from types.Importer
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	CompiledGoFiles         []string
}

func newChecker(t *testing.T, root string, all []mutant) *checker {
	t.Helper()
	args := []string{"list", "-export", "-compiled", "-deps", "-json=ImportPath,Dir,Export,CompiledGoFiles"}
	seen := map[string]bool{}
	for _, m := range all {
		if !seen[m.in] {
			seen[m.in] = true
			args = append(args, "./"+m.in)
		}
	}
	out, err := goTool(root, args...)
	if err != nil {
		t.Fatal(err, out)
	}
	c := &checker{set: token.NewFileSet(), at: map[string]*listed{}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewBufferString(out)); ; {
		p := &listed{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		c.at[p.Dir], exports[p.ImportPath] = p, p.Export
	}
	c.from = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// check checks the package of a directory with an overlay in place.
func (c *checker) check(dir, overlay string) error {
	text, err := os.ReadFile(overlay)
	if err != nil {
		return err
	}
	var put struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &put); err != nil {
		return err
	}
	p := c.at[dir]
	var parsed []*ast.File
	for _, name := range p.CompiledGoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if changed, ok := put.Replace[name]; ok {
			name = changed
		}
		f, err := parser.ParseFile(c.set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, f)
	}
	_, err = (&types.Config{Importer: c.from}).Check(p.ImportPath, c.set, parsed, nil)
	return err
}

func TestWhatDoesNotCompileIsNoMutant(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	m := allMutants()[0]
	c := newChecker(t, root, []mutant{m})
	m.edits = edits{{m.edits[0][0], "undeclared(); " + m.edits[0][0]}} // it parses
	if c.check(filepath.Join(root, m.in), mutate(t, root, m)) == nil {
		t.Error("it is taken for one")
	}
}
