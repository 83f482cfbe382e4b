package sorter

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is in memory and however many runs are merged, records come in the order of
// their keys; no file is left.
func TestSorterAgainstSort(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfN(rapid.ByteRange(0, 3), 0, 4)
		text := rapid.OneOf(few, rapid.Map(few, func(b []byte) []byte { return append([]byte("together"), b...) }))
		s := New()
		s.dir, s.most, s.fan = dir, rapid.IntRange(1, 60).Draw(t, "most"), rapid.IntRange(2, 4).Draw(t, "fan")
		var want [][2][]byte
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			r := [2][]byte{text.Draw(t, "key"), text.Draw(t, "record")}
			want = append(want, r)
			s.Put(r[0], r[1])
		}
		if s.NoRoom() != nil {
			t.Fatal(s.NoRoom())
		}
		same(t, s, want)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

type failer interface {
	Fatal(...any)
	Helper()
}

func same(t failer, s *Sorter, want [][2][]byte) {
	t.Helper()
	sorted, err := s.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	var got [][2][]byte
	for range want {
		key, record, err := sorted.Next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, [2][]byte{slices.Clone(key), slices.Clone(record)})
	}
	if !slices.IsSortedFunc(got, func(a, b [2][]byte) int { return bytes.Compare(a[0], b[0]) }) {
		t.Fatal(got, "are in another order")
	}
	for _, all := range [][][2][]byte{got, want} {
		slices.SortFunc(all, func(a, b [2][]byte) int { return cmp.Or(bytes.Compare(a[0], b[0]), bytes.Compare(a[1], b[1])) })
	}
	if !slices.EqualFunc(got, want, func(a, b [2][]byte) bool { return bytes.Equal(a[0], b[0]) && bytes.Equal(a[1], b[1]) }) {
		t.Fatal(got, "want", want)
	}
	if _, _, err := sorted.Next(); !errors.Is(err, io.EOF) {
		t.Fatal("after the last record:", err)
	}
}

// Without room on disk all stay in memory, and that is told.
func TestSorterWithoutRoom(t *testing.T) {
	s := New()
	s.dir, s.most = filepath.Join(t.TempDir(), "none"), 4
	var want [][2][]byte
	for i := range byte(20) {
		s.Put([]byte{20 - i}, []byte{i, i})
		want = append([][2][]byte{{{20 - i}, {i, i}}}, want...)
	}
	if s.NoRoom() == nil {
		t.Error("nothing is told of a directory that is not there")
	}
	same(t, s, want)
}

// A run that was cut short behind the back of its reader is an error, not fewer rows.
func TestSorterOfACutFile(t *testing.T) {
	s := New()
	s.dir, s.most = t.TempDir(), 4
	for i := range byte(20) {
		s.Put([]byte{i}, []byte{i, i})
	}
	defer s.Close()
	if err := s.levels[0][0].file.Truncate(3); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sorted(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that was cut: %v", err)
	}
}
