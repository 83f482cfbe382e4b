package discreet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/google/go-cmp/cmp"
)

// emptyTemporary has the process keep temporary files in a directory, and fails where one
// has a name there.
func emptyTemporary(t *testing.T) (dir string, check func()) {
	dir = t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir, func() {
		t.Helper()
		if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
			t.Errorf("temporary files: %v, %v", found, err)
		}
	}
}

// Rows of persons who do not stand together are held in memory until they are, where they are few.
func TestReadingPersonsApartReleasesTheSameBytes(t *testing.T) {
	readingApart(t, 2000, []string{"dp-is", "dp-pdis", "dp-wis"}, []string{"logged", "uniform"}, func(string) string { return "held in memory" })
}

// readingApart holds the release of persons who do not stand together against that of sorted
// data, byte for byte, with records that are left out, decisions beyond the horizon, one file and
// several, whatever the number of processors, and so what the curator is told.
func readingApart(t *testing.T, persons int, methods, targets []string, where func(tmp string) string) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	spoil := func(p, e, step int, action, prob *string) {
		switch {
		case p%701 == 3 && e == 1:
			*prob = "0"
		case p%997 == 5:
			*action = "2" // unknown to a uniform policy of two
		}
	}
	sorted, apart := twice(t, persons, true, spoil), twice(t, persons, false, spoil)
	text, err := os.ReadFile(filepath.Join(apart, "log.csv"))
	if err != nil {
		t.Fatal(err)
	}
	header, rows, _ := strings.Cut(string(text), "\n")
	half := strings.Index(rows, "\nu7,e7-1,0,") + 1 // the first episodes of some are in one file, their second in the other
	files := t.TempDir()
	for name, part := range map[string]string{"log-1.csv": rows[:half], "log-2.csv": rows[half:]} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(header+"\n"+part), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tmp, check := emptyTemporary(t)
	for _, method := range methods {
		for _, target := range targets {
			run := func(dir string, processors int) *discreet.Result {
				t.Helper()
				runtime.GOMAXPROCS(processors)
				c := twiceConfig(dir, method, target, persons)
				c.Data.Path, c.Problem.Horizon, c.Privacy.Delta = config.Names{"log*.csv"}, 4, 1e-7
				r, err := discreet.Evaluate(t.Context(), c, discreet.WithSource(noise.NewSeeded(7)), discreet.WithProgress(func(trajectory.Progress) { check() }))
				if err != nil {
					t.Fatalf("%s, %s: %v", method, target, err)
				}
				check()
				return r
			}
			want := run(sorted, 1)
			for processors, dir := range map[int]string{1: apart, 3: apart, 2: files} {
				got := run(dir, processors)
				if !bytes.Equal(got.JSON, want.JSON) {
					t.Errorf("%s, %s, %d processors: releases differ:\n%s\n%s", method, target, processors, got.JSON, want.JSON)
				}
				kept := func(notice string) bool {
					return strings.Contains(notice, "do not stand together") && strings.Contains(notice, where(tmp))
				}
				if !slices.ContainsFunc(got.Notices, kept) {
					t.Errorf("%s, %s: no notice of where rows were: %q", method, target, got.Notices)
				}
				places := func(notices []string) (words []string) { // the first row left out is another one
					for _, n := range notices {
						n, _, _ = strings.Cut(n, " (the first:")
						words = append(words, n)
					}
					return words
				}
				if diff := cmp.Diff(places(want.Notices), places(slices.DeleteFunc(got.Notices, kept))); diff != "" {
					t.Errorf("%s, %s: %s", method, target, diff)
				}
			}
		}
	}
}

// Methods that need all rows at once release the same bytes for persons in any order too.
func TestReleasesDoNotDependOnTheOrderOfPersons(t *testing.T) {
	const persons = 600
	sorted, apart := twice(t, persons, true, nil), twice(t, persons, false, nil)
	for _, method := range []string{"dp-refine", "dp-wis", "dp-dr"} {
		run := func(dir string) []byte {
			c := twiceConfig(dir, method, "uniform", persons)
			if method == "dp-refine" {
				c.Method.Params = nil
				c.Features = &feature.Spec{Kind: "tabular", States: 3, Column: "obs_state"}
			}
			r, err := discreet.Evaluate(t.Context(), c, discreet.WithSource(noise.NewSeeded(7)))
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			return r.JSON
		}
		if got, want := run(apart), run(sorted); !bytes.Equal(got, want) {
			t.Errorf("%s: releases differ:\n%s\n%s", method, got, want)
		}
	}
}
