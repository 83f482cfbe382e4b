package discreet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/google/go-cmp/cmp"
)

// asParquet writes the log of a directory as one Parquet file beside it.
func asParquet(t *testing.T, dir string) {
	t.Helper()
	d, _, err := file.Read(context.Background(), []string{filepath.Join(dir, "log.csv")}, "", trajectory.Options{Optional: trajectory.AllParts})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Write(filepath.Join(dir, "log.parquet"), "", d); err != nil {
		t.Fatal(err)
	}
}

// Files that are long enough to be read by stretches, with actions that the target does
// not know, give the bytes and the notices of one reader, whatever the number of
// processors.
func TestReadingByStretchesReleasesTheSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const persons = 36_000 // 4.7 MB of text
	dir := twice(t, persons, true, func(p, _, _ int, action, _ *string) {
		if p%9973 == 5 {
			*action = "2"
		}
	})
	asParquet(t, dir)
	for _, name := range []string{"log.csv", "log.parquet"} {
		var want *discreet.Result
		for _, processors := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(processors)
			c := twiceConfig(dir, "dp-wis", "uniform", persons)
			c.Data.Path = config.Names{name}
			progress := []trajectory.Progress{}
			r, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(noise.NewSeeded(7)),
				discreet.WithProgress(func(p trajectory.Progress) { progress = append(progress, p) }))
			if err != nil {
				t.Fatalf("%s, %d processors: %v", name, processors, err)
			}
			if want == nil {
				want = r
			}
			if !bytes.Equal(r.JSON, want.JSON) {
				t.Errorf("%s, %d processors: %s\nwant %s", name, processors, r.JSON, want.JSON)
			}
			if diff := cmp.Diff(want.Notices, r.Notices); diff != "" {
				t.Errorf("%s, %d processors: notices (-one +several)\n%s", name, processors, diff)
			}
			for i, p := range progress {
				if i > 0 && (p.Rows < progress[i-1].Rows || p.Bytes < progress[i-1].Bytes) || p.Bytes > p.Size {
					t.Errorf("%s, %d processors: progress %v after %v", name, processors, p, progress[:i])
				}
			}
			if n := len(progress); n == 0 || progress[n-1].Rows != int64(rowOf(persons)-2) {
				t.Errorf("%s, %d processors: progress %v; want %d rows at last", name, processors, progress, rowOf(persons)-2)
			}
		}
	}
}

// What is wrong far into such a file is told as one reader tells it: its first row, or
// that a person comes again after others.
func TestReadingByStretchesTellsTheSameFaults(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const persons = 36_000
	dir := twice(t, persons, true, func(p, e, step int, _, prob *string) {
		if p >= 34_000 && p%500 == 0 && e == 1 && step == 0 {
			*prob = "1.5"
		}
	})
	clean := twice(t, persons, true, nil)
	text, err := os.ReadFile(filepath.Join(clean, "log.csv"))
	if err != nil {
		t.Fatal(err)
	}
	again := append(text, "u3,e-again,0,0,0,0.5,0,true\n"...)
	if err := os.WriteFile(filepath.Join(clean, "log.csv"), again, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		c := twiceConfig(dir, "dp-wis", "uniform", persons)
		c.Data.OnViolation = "reject"
		_, err := discreet.Evaluate(context.Background(), c)
		var input *trajectory.InputError
		if !errors.As(err, &input) || input.Row != rowOf(34_000)+1+34_000%3 || input.Column != "behavior_prob" {
			t.Errorf("%d processors: %v; want row %d", processors, err, rowOf(34_000)+1+34_000%3)
		}
		if processors == 1 {
			continue
		}
		r, err := discreet.Evaluate(context.Background(), twiceConfig(clean, "dp-wis", "uniform", persons), discreet.WithSource(noise.NewSeeded(7)))
		if err != nil || !strings.Contains(fmt.Sprint(r.Notices), "do not stand together") {
			t.Errorf("%d processors: %v; want a notice that a person's episodes stand apart", processors, err)
		}
	}
}
