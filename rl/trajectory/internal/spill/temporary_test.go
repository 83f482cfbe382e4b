package spill_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// each gives all records with their numbers, and which of the sets has them.
func each(t *testing.T, w *spill.Temporary, give func(set, number int, record []byte)) (sets int) {
	t.Helper()
	for {
		texts, err := w.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return sets
		}
		if err != nil {
			t.Fatal(err)
		}
		sets++
		for _, rest := range texts {
			for len(rest) > 0 {
				var number int
				var record []byte
				if number, record, rest, err = spill.Cut(rest); err != nil {
					t.Fatal(err)
				}
				give(sets, number, record)
			}
		}
	}
}

// taken reads all records, and tells in how many sets they came.
func taken(t *testing.T, w *spill.Temporary) (of map[string][]string, sets int) {
	t.Helper()
	of = map[string][]string{}
	at := map[string]int{}
	sets = each(t, w, func(set, n int, record []byte) {
		number := fmt.Sprint(n)
		if before, known := at[number]; known && before != set {
			t.Fatalf("records of %s are in sets %d and %d", number, before, set)
		}
		at[number], of[number] = set, append(of[number], string(record))
	})
	return of, sets
}

// Records of one number come together and in order, whether they are few, many, so many
// that parts are divided, or far longer than what is held in memory, and wherever room ends.
func TestTemporaryRecordsComeTogether(t *testing.T) {
	for _, c := range []struct {
		numbers, records, long, room int
		onDisk                       bool
	}{
		{0, 0, 0, 0, false}, {1, 1, 0, 0, false}, {500, 3000, 10, 0, false}, {3, 100, 1 << 10, 0, true}, {2, 80, 1 << 18, 0, true}, {300, 4000, 1 << 10, 0, true}, {7, 30, 1 << 20, 0, true},
		{2, 80, 1 << 18, 1 << 28, false}, {300, 4000, 1 << 10, 1 << 20, true}, {7, 30, 1 << 20, 1 << 22, true},
	} {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		w, want := spill.NewTemporary(c.room), map[string][]string{}
		for i := range c.records {
			number := i * 7919 % c.numbers
			text := fmt.Sprint(i) + strings.Repeat("x", i%2*c.long)
			want[fmt.Sprint(number)] = append(want[fmt.Sprint(number)], text)
			if err := w.Put(number, 'r', []byte(text)); err != nil {
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
	sizes := map[int]int{}
	sets := each(t, w, func(set, _ int, _ []byte) { sizes[set]++ })
	all := 0
	for _, n := range sizes {
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

// Memory is bounded by room, and 8 KB for each of 256 parts, also where records leave nearly half of it unused.
func TestTemporaryRecordsKeepToTheirRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const room = 1 << 24
	record, before := make([]byte, 4200), live()
	w := spill.NewTemporary(room)
	for i := range room / len(record) {
		if err := w.Put(i, 'r', record); err != nil {
			t.Fatal(err)
		}
	}
	if held := live() - before; held > room+256<<13+1<<20 {
		t.Errorf("%d bytes are in memory, of which %d have room", held, room)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// live are the bytes that something refers to.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
