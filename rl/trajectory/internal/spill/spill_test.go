package spill_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// Example puts records into parts and takes them out.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w := spill.NewWriter(dir, 3)
	for i, word := range []string{"a", "b", "c", "d"} {
		if err := w.Put(i%2, 'w', []byte(word)); err != nil {
			fmt.Println(err)
		}
	}
	err = w.Each(context.Background(), 1, func(part int, records *spill.Reader) error {
		for {
			_, record, err := records.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			fmt.Println(part, string(record))
		}
	})
	fmt.Println(err)
	// Output:
	// 0 a
	// 0 c
	// 1 b
	// 1 d
	// <nil>
}

// TestEveryRecordComesBackInOrder, of one level and of two, to one worker and to several, and no more files are open
// than there may be.
func TestEveryRecordComesBackInOrder(t *testing.T) {
	for i, parts := range []int{1, 255, 256, 257, 1000, spill.MostParts, 256, 1000} {
		workers := 1 + i/6*2
		dir := t.TempDir()
		w := spill.NewWriter(dir, parts)
		want := map[int][]string{}
		for i := range 1500 {
			part := i * 7919 % parts
			text := strings.Repeat(fmt.Sprint(i, " "), i%50)
			want[part] = append(want[part], text)
			if err := w.Put(part, byte(i), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		next, mutex := 0, sync.Mutex{}
		err := w.Each(t.Context(), workers, func(part int, r *spill.Reader) error {
			mutex.Lock()
			if part != next && workers == 1 {
				t.Errorf("part %d after %d", part, next-1)
			}
			next++
			mutex.Unlock()
			for _, text := range want[part] {
				if _, record, err := r.Next(); err != nil || string(record) != text {
					return fmt.Errorf("part %d: %q, %w; want %q", part, record, err, text)
				}
			}
			_, _, err := r.Next()
			if !errors.Is(err, io.EOF) {
				return fmt.Errorf("part %d has more: %w", part, err)
			}
			return nil
		})
		if err != nil || next != parts {
			t.Errorf("%d of %d parts: %v", next, parts, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// A file that something removes, as what cleans temporary directories does, is no part
// without rows.
func TestAFileThatIsGoneIsAnError(t *testing.T) {
	for _, parts := range []int{2, 1000} { // one level of files, and two
		dir := t.TempDir()
		w := spill.NewWriter(dir, parts)
		if err := w.Put(0, spill.Episode, []byte("a")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "group-0")); err != nil {
			t.Fatal(err)
		}
		err := w.Each(t.Context(), 1, func(int, *spill.Reader) error { return nil })
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%d parts: %v; want an error with the directory", parts, err)
		}
	}
}
