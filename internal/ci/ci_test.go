package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// what go test -json prints of a package with a test that passes, one that fails
// and one that is skipped.
const stream = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:3: no server\n"}
{"Action":"skip","Package":"p","Test":"TestB","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:4: 1; want 2\n"}
FAILC
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"skip","Package":"empty","Elapsed":0}
`

func TestSkippedTestsAreFound(t *testing.T) {
	for last, fails := range map[string]bool{"": false, `{"Action":"fail","Package":"p","Test":"TestC","Elapsed":0}`: true} {
		var out bytes.Buffer
		skipped, failed, err := follow(strings.NewReader(strings.Replace(stream, "FAILC\n", last+"\n", 1)), &out)
		if err != nil {
			t.Fatal(err)
		}
		if failed != fails {
			t.Errorf("failed: %v; want %v", failed, fails)
		}
		if len(skipped) != 1 || !strings.Contains(skipped[0], "no server") {
			t.Errorf("skipped: %q; want TestB and its reason alone", skipped)
		}
		if got := out.String(); strings.Contains(got, "want 2") != fails || !strings.Contains(got, "ok  \tp\t0.1s") || strings.Contains(got, "RUN") {
			t.Errorf("printed %q", got)
		}
	}
}

// TestWhatCameToNoEndIsPrinted: where the time is up, go says it as the output of a test
// that never ends.
func TestWhatCameToNoEndIsPrinted(t *testing.T) {
	var out bytes.Buffer
	_, failed, err := follow(strings.NewReader(`{"Action":"output","Package":"q","Test":"TestB","Output":"of another package\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out after 10m0s\n"}
{"Action":"fail","Package":"p","Elapsed":600}
`), &out)
	if err != nil || !failed || out.String() != "panic: test timed out after 10m0s\n" {
		t.Errorf("failed: %v, %v; printed %q", failed, err, out.String())
	}
}

func TestRecordsAreJudged(t *testing.T) {
	dir := t.TempDir()
	now := map[string]string{"a": "1", "b": "2"}
	if _, err := judge(dir, "fuzz", now); err == nil || !strings.Contains(err.Error(), ".ci/long fuzz") {
		t.Errorf("a run that was never made: %v", err)
	}
	for _, c := range []struct {
		verdict  string
		packages map[string]string
		want     string
	}{
		{pass, map[string]string{"a": "1", "b": "2"}, "current: fuzz"},
		{pass, map[string]string{"a": "1", "b": "3"}, "stale: fuzz, of commit c0ffee; since then changed b"},
		{pass, map[string]string{"a": "1"}, "changed b"},
		{pass, map[string]string{"a": "1", "b": "2", "gone": "3"}, "changed gone"},
		{"a crash", map[string]string{"a": "1", "b": "2"}, "failed at commit c0ffee: a crash"},
	} {
		if err := (record{Name: "fuzz", Commit: "c0ffee", Packages: c.packages, Verdict: c.verdict}).write(dir); err != nil {
			t.Fatal(err)
		}
		got, err := judge(dir, "fuzz", now)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (err != nil) != (c.verdict != pass) {
			t.Errorf("%+v: %q, %v; want %q", c, got, err, c.want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "fuzz.json"), []byte(`{"name":"kills","verdict":"pass"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := judge(dir, "fuzz", now); err == nil {
		t.Error("the record of another run is taken")
	}
}

// A run that fails writes no record, what it printed is in a log outside the repository, and the runs after it are made.
func TestRunsThatFailLeaveNoRecord(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	made := filepath.Join(dir, "made")
	of := func(name, command string) run {
		return run{name: name, size: 3, command: command, covers: []string{"."}}
	}
	all := []run{of("bad", "cat no-such-file-SIZE"), of("good", "touch "+made)}
	if err := records(t.Context(), all, dir, io.Discard); err == nil || strings.Count(err.Error(), "never made") != 2 {
		t.Errorf("without records: %v", err)
	}
	var out bytes.Buffer
	err := longAll(t.Context(), all, dir, &out)
	if err == nil || strings.Contains(err.Error(), "good") {
		t.Fatalf("a run that fails: %v", err)
	}
	_, log, _ := strings.Cut(err.Error(), "its output is in ")
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "no-such-file-3") {
		t.Errorf("the log %s: %s, %v", log, text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bad.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that failed has a record: %v", err)
	}
	if err := os.Remove(made); err != nil {
		t.Fatal(err)
	}
	if err := longAll(t.Context(), all[1:], dir, &out); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that is current was made again: %v", err)
	}
	if err := records(t.Context(), all[1:], dir, io.Discard); err != nil {
		t.Error(err)
	}
	if err := (record{Name: "old", Verdict: pass}).write(dir); err != nil {
		t.Fatal(err)
	}
	if err := records(t.Context(), all[1:], dir, io.Discard); err == nil || !strings.Contains(err.Error(), "old.json is the record of no long run") {
		t.Errorf("a record without a run: %v", err)
	}
}

// A run that can be resumed needs no record while it is on its way, and one that has not
// begun does.
func TestARunOnItsWayNeedsNoRecord(t *testing.T) {
	dir := t.TempDir()
	r := []run{{name: "fuzz", covers: []string{"../xmath"}, progress: "fuzz.ndjson"}}
	if err := records(t.Context(), r, dir, io.Discard); err == nil {
		t.Error("a run that has not begun passes without a record")
	}
	if err := os.WriteFile(filepath.Join(dir, "fuzz.ndjson"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := records(t.Context(), r, dir, &out); err != nil || !strings.HasPrefix(out.String(), "unfinished: fuzz") {
		t.Errorf("%q, %v; want that it is unfinished", out.String(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fuzz.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := records(t.Context(), r, dir, io.Discard); err == nil {
		t.Error("a record that cannot be read passes")
	}
}

func TestRunsCoverWhatThereIs(t *testing.T) {
	for _, r := range runs() {
		for _, p := range r.covers {
			if _, err := os.Stat(filepath.Join("../..", strings.TrimSuffix(p, "/..."))); err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
		}
	}
}

// The hash of a package follows its files and testdata, and not packages below.
func TestHashFollowsThePackage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash := func() string {
		h, err := hashOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	write("a.go", "package a")
	before := hash()
	write("below/b.go", "package b")
	if hash() != before {
		t.Error("a package below changes it")
	}
	write("testdata/sub/x.csv", "1")
	with := hash()
	write("a.go", "package b")
	if with == before || hash() == with || hash() == before {
		t.Error("a change goes unnoticed")
	}
}
