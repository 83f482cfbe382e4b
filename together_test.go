package discreet_test

import (
	"bytes"
	"context"
	"errors"
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

// Persons who do not stand together are kept in temporary files without names until they
// are, where there are many, and else in memory: the release is that of sorted data, byte for byte, with
// records that are left out, decisions beyond the horizon, one file and several, whatever
// the number of processors, and so is what the curator is told.
func TestReadingFromTemporaryFilesReleasesTheSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const persons = 19_000
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
	for _, method := range []string{"dp-is", "dp-pdis", "dp-wis"} {
		for _, target := range []string{"logged", "uniform"} {
			run := func(dir string, processors int) *discreet.Result {
				t.Helper()
				runtime.GOMAXPROCS(processors)
				c := twiceConfig(dir, method, target, persons)
				c.Data.Path, c.Problem.Horizon = config.Names{"log*.csv"}, 4
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
				where := map[string]string{"uniform": "temporary files without names in " + tmp, "logged": "held in memory"} // a reward a row
				kept := func(notice string) bool {
					return strings.Contains(notice, "do not stand together") && strings.Contains(notice, where[target])
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

// What is wrong with a row after many that were kept on disk is told by its file, row and
// column, and nothing is left on disk; so it is where the caller gives up, as rows are read
// and as they are read again.
func TestNothingIsLeftOfRowsThatWereKept(t *testing.T) {
	const persons = 24_000
	_, check := emptyTemporary(t)
	dir := twice(t, persons, false, func(p, e, step int, _, prob *string) {
		if p == persons-1 && e == 1 && step == 0 {
			*prob = "1.5"
		}
	})
	c := twiceConfig(dir, "dp-wis", "uniform", persons)
	c.Data.OnViolation = "reject"
	_, err := discreet.Evaluate(t.Context(), c)
	var input *trajectory.InputError
	last := rowOf(persons) - 1 - (persons-1+1)%3
	if !errors.As(err, &input) || input.Row != last || input.Column != "behavior_prob" || filepath.Base(input.File) != "log.csv" {
		t.Errorf("%v; want row %d", err, last)
	}
	check()
	c = twiceConfig(twice(t, persons, false, nil), "dp-wis", "uniform", persons)
	for _, at := range []int64{1, int64(rowOf(persons) - 2)} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := discreet.Evaluate(ctx, c, discreet.WithProgress(func(p trajectory.Progress) {
			if p.Rows >= at {
				cancel()
			}
		}))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("given up at row %d: %v", at, err)
		}
		check()
		cancel()
	}
}

// Where nothing can be kept on disk, rows are held in memory, as the curator is told; the
// release is the same.
func TestWithoutRoomOnDiskRowsAreInMemory(t *testing.T) {
	const persons = 24_000
	tmp, check := emptyTemporary(t)
	c := twiceConfig(twice(t, persons, false, nil), "dp-wis", "uniform", persons)
	var all []*discreet.Result
	for _, dir := range []string{tmp, filepath.Join(tmp, "away")} {
		t.Setenv("TMPDIR", dir)
		r, err := discreet.Evaluate(t.Context(), c, discreet.WithSource(noise.NewSeeded(7)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
		check()
	}
	if !bytes.Equal(all[0].JSON, all[1].JSON) {
		t.Errorf("releases differ:\n%s\n%s", all[0].JSON, all[1].JSON)
	}
	if told := strings.Join(all[1].Notices, "\n"); !strings.Contains(told, "all are held in memory") || !strings.Contains(told, "have TMPDIR name another directory") || !strings.Contains(told, "away") {
		t.Errorf("told %q", told)
	}
}
