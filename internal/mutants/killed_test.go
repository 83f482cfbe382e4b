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
	record = flag.Bool("record", false, "write down which mutants were killed, in "+killedFile)
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
	mu    sync.Mutex
	lines map[string]string
}

type killedLine struct {
	Mutant string `json:"mutant"`
	SHA256 string `json:"sha256"`
}

func readKilled(t *testing.T, root string) *killed {
	t.Helper()
	k := &killed{lines: map[string]string{}}
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

func (k *killed) holds(m mutant, print string) bool { return k.lines[m.name] == print }

// add notes a mutant that was killed, in the file too where that is asked for: a run that
// is cut off keeps what it did.
func (k *killed) add(t *testing.T, root string, m mutant, print string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines[m.name] = print
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

// due are the mutants that a run kills: one in sixteen of those that are recorded, by
// fingerprint, so that the record is tried against the truth each time; of the others all
// where they are written down, else the first by fingerprint.
func (k *killed) due(t *testing.T, root string, all []mutant) []mutant {
	t.Helper()
	if *every {
		return all
	}
	var due, unrecorded []mutant
	prints := map[string]string{}
	for _, m := range all {
		prints[m.name] = fingerprint(t, root, m)
		switch {
		case !k.holds(m, prints[m.name]):
			unrecorded = append(unrecorded, m)
		case prints[m.name][0] == '0':
			due = append(due, m)
		}
	}
	if left := len(unrecorded) - mostUnrecorded; left > 0 && !*record {
		slices.SortFunc(unrecorded, func(a, b mutant) int { return strings.Compare(prints[a.name], prints[b.name]) })
		notKilled = left
		unrecorded = unrecorded[:mostUnrecorded]
	}
	return append(due, unrecorded...)
}

// fingerprint is the SHA-256 of a mutant, of the package that its file is in, and of the
// package whose tests kill it.
func fingerprint(t *testing.T, root string, m mutant) string {
	t.Helper()
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q\n", m.file, m.edits, m.pkg, m.run)
	in := filepath.Dir(filepath.Join(root, filepath.FromSlash(m.file)))
	by := filepath.Join(root, filepath.FromSlash(m.pkg))
	for _, dir := range []string{in, by} {
		for _, path := range sources(t, dir, dir == by) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(h, "%s %x\n", strings.TrimPrefix(path, root), sha256.Sum256(text))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sources are the Go files of a directory, with its tests and what they read where asked.
func sources(t *testing.T, dir string, tests bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !tests {
		return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
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
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
