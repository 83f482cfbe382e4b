package spill_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// walk is an episode with every column, and its frame.
func walk() (*spill.Frame, []byte) {
	f := &spill.Frame{}
	e := &trajectory.Episode{File: 1, Row: 7, Columns: []string{"obs_a", "obs_b"}, Actions: 2, Terminated: true,
		Obs: []float64{1, 2, 3, 4}, Action: []int32{0, 1}, Reward: []float64{.5, 1}, BehaviorProb: []float64{.5, .25},
		ActionProbs: []float64{.5, .5, .75, .25}, TargetProb: []float64{1, 0}, Discount: []float64{1, 1}, Final: []float64{5, 6}}
	return f, f.Append(nil, []byte("u7"), []byte("e1"), e)
}

// reads tells how records are read to their end: what is wrong, and the memory that was
// asked for meanwhile.
func reads(f spill.Frame, with func(add func(*spill.Reader) error) error) (allocated uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b := spill.Builder{Frame: f, Files: []string{"a", "b"}}
	err = with(func(r *spill.Reader) error {
		for {
			kind, record, err := r.Next()
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
			case kind == spill.Name:
				_, err = spill.ReadMention(record)
			default:
				err = b.Add(record)
			}
			if err != nil {
				return err
			}
		}
	})
	if err == nil {
		b.Dataset()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// mayAllocate bounds the memory for a number of bytes on disk: buffers, the first pieces
// of columns, and a multiple of the bytes.
func mayAllocate(n int) uint64 { return 8<<20 + 256*uint64(n) }

// packOf is a pack of one part with these bytes, which says how many bytes of facts and
// parts it has.
func packOf(part []byte, facts, parts uint64) []byte {
	b := binary.LittleEndian.AppendUint64(part[:len(part):len(part)], uint64(len(part)))
	b = binary.LittleEndian.AppendUint64(b, facts)
	return append(binary.LittleEndian.AppendUint64(b, parts), "discreet"...)
}

// framed is a record as it lies in a part.
func framed(kind byte, part, n uint64, record []byte) []byte {
	b := binary.AppendUvarint(binary.AppendUvarint([]byte{kind}, part), n)
	return append(b, record...)
}

// Whatever was done to records, reading them ends, with an error or without, and asks for
// no more memory than a file of that length can fill.
func FuzzDamagedRecords(f *testing.F) {
	frame, record := walk()
	f.Add(framed(spill.Episode, 3, uint64(len(record)), record))
	f.Add(framed(spill.Name, 0, 4, []byte{1, 0, 9, 'u'}))
	f.Add(framed(spill.Episode, math.MaxUint64, math.MaxUint64, record))
	f.Add(framed(spill.Episode, 3, 1<<40, record))
	f.Fuzz(func(t *testing.T, data []byte) {
		allocated, _ := reads(*frame, func(add func(*spill.Reader) error) error {
			return add(spill.NewReader(bytes.NewReader(data)))
		})
		if allocated > mayAllocate(len(data)) {
			t.Errorf("%d bytes of memory for %d of records", allocated, len(data))
		}
	})
}

// The same of a file of parts.
func FuzzDamagedPacks(f *testing.F) {
	frame, record := walk()
	whole := framed(spill.Episode, 3, uint64(len(record)), record)
	f.Add(packOf(whole, 0, 1))
	f.Add(packOf(whole, 1<<23, 1))
	f.Add(packOf(whole, math.MaxUint64, math.MaxUint64))
	f.Add(whole)
	f.Add([]byte{})
	name := filepath.Join(f.TempDir(), "pack")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		allocated, _ := reads(*frame, func(add func(*spill.Reader) error) error {
			p, err := spill.OpenPack(name, 1)
			if err != nil {
				return err
			}
			r, err := p.Part(0)
			if err == nil {
				err = add(r)
			}
			return errors.Join(err, p.Close())
		})
		if allocated > mayAllocate(len(data)) {
			t.Errorf("%d bytes of memory for %d of a file", allocated, len(data))
		}
	})
}

// Counts that no file can hold are errors, in every place where one stands.
func TestCountsThatNoFileHoldsAreErrors(t *testing.T) {
	frame, record := walk()
	read := func(f spill.Frame, data []byte) error {
		t.Helper()
		allocated, err := reads(f, func(add func(*spill.Reader) error) error {
			return add(spill.NewReader(bytes.NewReader(data)))
		})
		if allocated > mayAllocate(len(data)) {
			t.Errorf("%d bytes of memory for %d of a file", allocated, len(data))
		}
		return err
	}
	if err := read(*frame, framed(spill.Episode, 0, uint64(len(record)), record)); err != nil {
		t.Fatal(err)
	}
	for _, huge := range []uint64{1 << 20, 1 << 31, 1 << 40, 1 << 60, math.MaxInt64 / 8, math.MaxInt64 - 1, math.MaxInt64, math.MaxUint64} {
		if err := read(*frame, framed(spill.Episode, 0, huge, record)); err == nil {
			t.Errorf("a record of %d bytes: no error", huge)
		}
		for i := range 5 { // file, row, rows, lengths of the names
			counts := []uint64{1, 7, 2, 2, 2}
			counts[i] = huge
			bad := record[:1:1]
			for _, n := range counts {
				bad = binary.AppendUvarint(bad, n)
			}
			bad = append(bad, record[6:]...)
			if err := read(*frame, framed(spill.Episode, 0, uint64(len(bad)), bad)); err == nil && i != 1 {
				t.Errorf("count %d is %d: no error", i, huge)
			}
		}
		if huge > math.MaxInt64 {
			continue
		}
		for _, actions := range []int{int(huge), -int(huge)} {
			wide := *frame
			wide.Actions = actions
			if err := read(wide, framed(spill.Episode, 0, uint64(len(record)), record)); err == nil {
				t.Errorf("%d actions: no error", actions)
			}
		}
		mention := binary.AppendUvarint(binary.AppendUvarint([]byte{1}, huge), 1)
		if err := read(*frame, framed(spill.Name, 0, uint64(len(mention)), mention)); err == nil {
			t.Errorf("a name in file %d: no error", huge)
		}
	}
}

// A part that a file of several parts cannot hold is an error.
func TestARecordOfAnotherFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	w := spill.NewWriter(dir, 1000)
	if err := w.Put(0, spill.Episode, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []uint64{999, 1 << 40, math.MaxUint64} {
		if err := os.WriteFile(filepath.Join(dir, "group-0"), framed(spill.Episode, part, 1, []byte("a")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.Each(t.Context(), 1, func(int, *spill.Reader) error { return nil }); err == nil {
			t.Errorf("part %d in the first file: no error", part)
		}
	}
}
