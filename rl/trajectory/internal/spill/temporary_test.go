package spill_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// taken reads all records, with the number that each text begins with, and tells in how
// many sets they came.
func taken(t *testing.T, w *spill.Temporary) (of map[string][]string, sets int) {
	t.Helper()
	of = map[string][]string{}
	at := map[string]int{}
	for {
		r, err := w.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return of, sets
		}
		if err != nil {
			t.Fatal(err)
		}
		sets++
		for {
			_, record, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			number, text, _ := strings.Cut(string(record), " ")
			if before, known := at[number]; known && before != sets {
				t.Fatalf("records of %s are in sets %d and %d", number, before, sets)
			}
			at[number], of[number] = sets, append(of[number], text)
		}
	}
}

// Records of one number come together and in order, whether they are few, many, so many
// that parts are divided, or far longer than what is held in memory.
func TestTemporaryRecordsComeTogether(t *testing.T) {
	for _, c := range []struct {
		numbers, records, long int
		onDisk                 bool
	}{{0, 0, 0, false}, {1, 1, 0, false}, {500, 3000, 10, false}, {3, 100, 1 << 10, true}, {2, 80, 1 << 18, true}, {300, 4000, 1 << 10, true}, {7, 30, 1 << 20, true}} {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		w, want := spill.NewTemporary(0), map[string][]string{}
		for i := range c.records {
			number := i * 7919 % c.numbers
			text := fmt.Sprint(i) + strings.Repeat("x", i%2*c.long)
			want[fmt.Sprint(number)] = append(want[fmt.Sprint(number)], text)
			if err := w.Put(number, 'r', fmt.Appendf(nil, "%d %s", number, text)); err != nil {
				t.Fatal(err)
			}
		}
		if dir := w.Dir(); dir != map[bool]string{true: tmp}[c.onDisk] {
			t.Errorf("%v: on disk in %q", c, dir)
		}
		got, sets := taken(t, w)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: other records", c)
		}
		if sets > 256 || (c.numbers > 0) != (sets > 0) {
			t.Errorf("%v: %d sets", c, sets)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("%v: left %v, %v", c, left, err)
		}
	}
}

// A part that is large is divided, so that memory follows the person who has most, and
// not the data: of 12,000 numbers some 47, with 120 KB, are in one part of 256, undivided. That
// 26 of them come together again in one of several parts, by hashes with new seeds, has a
// probability below 1e-6.
func TestLargeTemporaryPartsAreDivided(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w := spill.NewTemporary(0)
	record := make([]byte, 1<<9)
	const numbers, times, most = 12_000, 5, 1 << 15
	w.DivideFrom(most)
	for i := range numbers * times {
		if err := w.Put(i%numbers, 'r', record); err != nil {
			t.Fatal(err)
		}
	}
	sets, all := 0, 0
	for {
		r, err := w.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sets++
		n := 0
		for ; ; n++ {
			if _, _, err := r.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		all += n
		if n%times != 0 || n*len(record) > 2*most {
			t.Errorf("a set of %d records of %d bytes", n, len(record))
		}
	}
	if all != numbers*times {
		t.Errorf("%d records in %d sets; want %d", all, sets, numbers*times)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Who gives up is heard, between parts and while one is divided, and nothing is left.
func TestTemporaryRecordsEndWithTheirContext(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	w := spill.NewTemporary(0)
	for i := range 1000 {
		if err := w.Put(i, 'r', make([]byte, 1<<12)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := w.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := w.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
