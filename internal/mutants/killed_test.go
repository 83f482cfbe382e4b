//go:build slow

package mutants

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	every  = flag.Bool("every", false, "kill every mutant, those too that are recorded as killed")
	record = flag.Bool("record", false, "kill every mutant that is not recorded, and write down which were killed, in "+killedFile)
)

// notKilled counts the mutants whose record is of other sources, and which a run had no time for.
var notKilled int

// TestMain says at the end, where it is seen, what a run left.
func TestMain(m *testing.M) {
	code := m.Run()
	if notKilled > 0 {
		fmt.Printf("%d mutants are recorded as killed with other sources, or not yet, and were not killed here: -record\n", notKilled)
	}
	os.Exit(code)
}

// killedFile holds a line for each mutant that was killed, by name.
const killedFile = "docs/results/runs/killed.ndjson"

// killed are fingerprints of mutants that were killed. A mutant that was, is again, as
// long as its fault, the package that it is in and the tests that kill it are the same:
// only a change between these two could save it, for which there is -every.
type killed struct {
	mu         sync.Mutex
	lines, now map[string]string
}

type killedLine struct {
	Mutant string `json:"mutant"`
	SHA256 string `json:"sha256"`
}

func readKilled(t *testing.T, root string) *killed {
	t.Helper()
	k := &killed{lines: map[string]string{}, now: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(root, killedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var l killedLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: %v", killedFile, err)
		}
		k.lines[l.Mutant] = l.SHA256
	}
	return k
}

// add notes a mutant that was killed, in the file too where that is asked for: a run that
// is cut off keeps what it did.
func (k *killed) add(t *testing.T, root string, m mutant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines[m.name] = k.now[m.name]
	if *record {
		k.write(t, root)
	}
}

// write forgets mutants that are no more.
func (k *killed) write(t *testing.T, root string) {
	names := map[string]bool{}
	for _, m := range allMutants() {
		names[m.name] = true
	}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	for _, name := range slices.Sorted(maps.Keys(k.lines)) {
		if names[name] {
			if err := to.Encode(killedLine{name, k.lines[name]}); err != nil {
				t.Error(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(root, killedFile), text.Bytes(), 0o644); err != nil {
		t.Error(err)
	}
}

// mostUnrecorded is how many mutants without a record a run kills that does not record:
// the check of a clean clone has minutes for them, and all take most of an hour.
const mostUnrecorded = 40

// due are the mutants that a run kills. One that records kills those that are not recorded, so
// that it continues where it was stopped. Another kills the first of them by fingerprint, and
// one in sixteen of those that are recorded, so that the record is tried against the truth.
func (k *killed) due(t *testing.T, root string, all []mutant) []mutant {
	t.Helper()
	var due, unrecorded []mutant
	s := sources{}
	for _, m := range all {
		print := s.fingerprint(t, root, m)
		k.now[m.name] = print
		switch {
		case *every:
			due = append(due, m)
		case k.lines[m.name] != print:
			unrecorded = append(unrecorded, m)
		case print[0] == '0' && !*record:
			due = append(due, m)
		}
	}
	if left := len(unrecorded) - mostUnrecorded; left > 0 && !*record {
		slices.SortFunc(unrecorded, func(a, b mutant) int { return strings.Compare(k.now[a.name], k.now[b.name]) })
		notKilled = left
		unrecorded = unrecorded[:mostUnrecorded]
	}
	return append(due, unrecorded...)
}

// fingerprint is the SHA-256 of a mutant, of the package that it is in, and of the
// package whose tests kill it: of their declarations, in whichever file and order, and of testdata.
func (s sources) fingerprint(t *testing.T, root string, m mutant) string {
	t.Helper()
	of := slices.Concat(s.read(t, root, m.in, false), s.read(t, root, m.tested(), true))
	slices.Sort(of)
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q", m.in, m.edits, m.tested(), m.run, slices.Compact(of))
	return hex.EncodeToString(h.Sum(nil))
}

// sources are the hashes of what directories hold, each read once.
type sources map[string][]string

func (s sources) read(t *testing.T, root, dir string, tests bool) []string {
	t.Helper()
	key := fmt.Sprint(dir, tests)
	if s[key] != nil {
		return s[key]
	}
	var of []string
	for _, path := range files(t, filepath.Join(root, dir), tests) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, ".go") {
			of = append(of, fmt.Sprintf("%s %x", strings.TrimPrefix(path, root), sha256.Sum256(text)))
			continue
		}
		for _, d := range declarations(t, text) {
			of = append(of, fmt.Sprintf("%x", sha256.Sum256(d)))
		}
	}
	s[key] = of
	return of
}

// declarations are those of a file, without comments, each with the file's build constraints.
func declarations(t *testing.T, text []byte) [][]byte {
	t.Helper()
	var tags string
	for line := range bytes.Lines(text) {
		if constraint.IsGoBuild(string(line)) {
			tags += string(line)
		}
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	add := func(n any) {
		out := bytes.NewBufferString(tags)
		if err := format.Node(out, set, n); err != nil {
			t.Fatal(err)
		}
		all = append(all, out.Bytes())
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for _, s := range g.Specs {
				add(s)
			}
			continue
		}
		add(d)
	}
	return all
}

// files are the Go files of a directory, with its tests and what they read where asked.
func files(t *testing.T, dir string, tests bool) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !tests {
		return slices.DeleteFunc(all, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	}
	err = filepath.WalkDir(filepath.Join(dir, "testdata"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "rapid": // failures of this machine
			return fs.SkipDir
		case !d.IsDir():
			all = append(all, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A function that moves to another file leaves records and places as they are.
func TestFingerprintFollowsDeclarations(t *testing.T) {
	of := func(files map[string]string) string {
		root := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m := mutant{in: ".", run: "F", edits: edits{{"return 1", "return 2"}}}
		mutate(t, root, m)
		return sources{}.fingerprint(t, root, m)
	}
	before := of(map[string]string{"a.go": "package a\n\n// F is one.\nfunc F() int { return 1 }\n\nfunc G() int { return 3 }\n"})
	if of(map[string]string{"a.go": "package a\n\nfunc G() int { return 3 }\n", "b.go": "package a\n\n// F is 1.\nfunc F() int { return 1 }\n"}) != before {
		t.Error("a move changes it")
	}
	if of(map[string]string{"a.go": "package a\n\nfunc F() int { return 1 }\n\nfunc G() int { return 4 }\n"}) == before {
		t.Error("a change leaves it as it was")
	}
	if of(map[string]string{"a.go": "package a\n\nfunc F() int { return 1 }\n", "b_test.go": "//go:build slow\n\npackage a\n\nfunc G() int { return 3 }\n"}) ==
		of(map[string]string{"a.go": "package a\n\nfunc F() int { return 1 }\n", "b_test.go": "package a\n\nfunc G() int { return 3 }\n"}) {
		t.Error("a build constraint does not count")
	}
}
