//go:build slow

package discreet_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// manyPersons have more rows than are put together in memory.
const manyPersons = 900_000

func manyConfig(dir string) config.Config {
	c := twiceConfig(dir, "dp-wis", "uniform", manyPersons)
	c.Privacy.Delta = 1e-7
	return c
}

// Where there are many they are kept in temporary files without names.
func TestReadingFromTemporaryFilesReleasesTheSameBytes(t *testing.T) {
	readingApart(t, manyPersons, []string{"dp-wis"}, []string{"uniform"}, func(tmp string) string { return "temporary files without names in " + tmp })
}

// What is wrong with a row after many that were kept on disk is told by its file, row and
// column, and nothing is left on disk; so it is where the caller gives up, as rows are read
// and as they are read again.
func TestNothingIsLeftOfRowsThatWereKept(t *testing.T) {
	const persons = manyPersons
	_, check := emptyTemporary(t)
	dir := twice(t, persons, false, func(p, e, step int, _, prob *string) {
		if p == persons-1 && e == 1 && step == 0 {
			*prob = "1.5"
		}
	})
	c := manyConfig(dir)
	c.Data.OnViolation = "reject"
	_, err := discreet.Evaluate(t.Context(), c)
	var input *trajectory.InputError
	last := rowOf(persons) - 1 - (persons-1+1)%3
	if !errors.As(err, &input) || input.Row != last || input.Column != "behavior_prob" || filepath.Base(input.File) != "log.csv" {
		t.Errorf("%v; want row %d", err, last)
	}
	check()
	c = manyConfig(twice(t, persons, false, nil))
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
	tmp, check := emptyTemporary(t)
	c := manyConfig(twice(t, manyPersons, false, nil))
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
