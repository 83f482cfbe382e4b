package golden

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

var regenerate = flag.Bool("regenerate", false, "write what is computed now to testdata, in place of comparing")

// TestReleasesKeepTheirBytes compares the release of every case with its file.
// See the package's documentation for the rule of regeneration.
func TestReleasesKeepTheirBytes(t *testing.T) {
	dir := writeData(t)
	n := open(t, "releases")
	asked := map[string]bool{}
	for _, q := range append(private(), references()...) {
		for _, adjacency := range []string{"replace_one", "add_remove_one"} {
			name := q.name + "." + adjacency
			if q.noPrivacy {
				name = q.name
			}
			if q.only != "" && q.only != adjacency || q.noPrivacy && adjacency != "replace_one" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				c := parse(t, dir, q.config(adjacency))
				asked[c.Method.Name] = true
				n.compare(t, name+".json", evaluated(t, c).JSON)
			})
		}
	}
	for _, m := range evaluate.Methods() {
		if !asked[m.Name] {
			t.Errorf("no case asks for the method %s", m.Name)
		}
	}
	n.close(t)
}

// TestReleasesDoNotDependOnWorkers runs private cases with one processor
// and with several.
func TestReleasesDoNotDependOnWorkers(t *testing.T) {
	dir := writeData(t)
	all := func(procs int) map[string][]byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		out := map[string][]byte{}
		for _, q := range private() {
			if q.name == "gpope-one" || q.name == "gpope-uniform" {
				continue // slow to plan: one person a step has one worker, and gpope covers the other
			}
			out[q.name] = evaluated(t, parse(t, dir, q.config(cmp.Or(q.only, "replace_one")))).JSON
		}
		return out
	}
	one, five := all(1), all(5)
	for name, want := range one {
		if got := five[name]; !bytes.Equal(got, want) {
			t.Errorf("%s: one worker and five release different bytes: %s", name, difference(got, want))
		}
	}
}

func parse(t *testing.T, dir, text string) config.Config {
	t.Helper()
	c, err := discreet.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.Dir = dir
	return c
}

func evaluated(t *testing.T, c config.Config, options ...discreet.Option) *discreet.Result {
	t.Helper()
	r, err := discreet.Evaluate(context.Background(), c, append(options, discreet.WithSource(noise.NewSeeded(1)))...)
	if err != nil {
		t.Fatalf("%v: %v", c.Method, err)
	}
	return r
}

// net is one directory of testdata, and which of its files were asked for.
type net struct {
	dir  string
	seen map[string]bool
}

func open(t *testing.T, name string) *net {
	t.Helper()
	n := &net{filepath.Join("testdata", name), map[string]bool{}}
	if *regenerate {
		if os.Getenv("CI") != "" {
			t.Fatal("the net is not regenerated in CI")
		}
		if err := os.RemoveAll(n.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// compare compares bytes with the file of that name, all but what is masked.
func (n *net) compare(t *testing.T, name string, got []byte) {
	t.Helper()
	n.seen[name] = true
	got = masked(got)
	path := filepath.Join(n.dir, name)
	if *regenerate {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if !bytes.Equal(got, want) && (fused() || !nearly(got, want)) {
		t.Errorf("internal/golden/%s: %s", path, difference(got, want))
	}
}

// close fails for files that no case asks for. It needs every case to have run.
func (n *net) close(t *testing.T) {
	t.Helper()
	if f := flag.Lookup("test.run"); f != nil && strings.Contains(f.Value.String(), "/") {
		return
	}
	files, err := os.ReadDir(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !n.seen[f.Name()] {
			t.Errorf("internal/golden/%s: no case makes this file", filepath.Join(n.dir, f.Name()))
		}
	}
}

// difference tells the first line in which two texts differ, and how many do.
func difference(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	first, differ := "", 0
	for i := range max(len(a), len(b)) {
		line := func(lines []string) string {
			if i < len(lines) {
				return strings.TrimSpace(lines[i])
			}
			return "(end)"
		}
		if line(a) == line(b) && i < len(a) && i < len(b) {
			continue
		}
		if differ++; first == "" {
			first = fmt.Sprintf("line %d\n\tgot  %.300s\n\twant %.300s", i+1, line(a), line(b))
		}
	}
	return fmt.Sprintf("%d of %d lines differ, first %s", differ, len(b), first)
}
