package ingest

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// counting is a table of batches of the given sizes, whose rows count up, with a fault
// in every seventh; it ends as it is told, and notes how far it was read and whether it
// is closed once and never read after that.
type counting struct {
	table.Table
	sizes  []int
	end    error
	row    int
	closed int
	late   bool
}

func (c *counting) Read(b *table.Batch) error {
	c.late = c.late || c.closed > 0
	if len(c.sizes) == 0 {
		return c.end
	}
	for range c.sizes[0] {
		b.Blocks[0].Values[b.Rows], b.Row[b.Rows] = float64(c.row), c.row
		if c.row%7 == 0 {
			b.Fail(&trajectory.InputError{Row: c.row})
		}
		b.Keys[0].Append([]byte{byte('a' + c.row%5)}, 1)
		b.Rows++
		c.row++
	}
	c.sizes = c.sizes[1:]
	return nil
}

func (c *counting) Progress() int64 { return int64(c.row) }
func (c *counting) Close() error    { c.closed++; return nil }

// Reading ahead delivers the rows, keys, faults and progress of the table in order, and
// its error after them, once and for all; wherever the caller stops, the table is closed
// once and not read after that.
func TestReadingAheadDeliversTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]error{io.EOF, errors.New("broken")}).Draw(t, "end")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 0, 12).Draw(t, "sizes")
		c := &counting{sizes: sizes, end: end}
		a := readAhead(c, 2, []int{1}, 1)
		b := table.NewBatch([]int{1}, 1)
		row := 0
		for _, n := range sizes[:rapid.IntRange(0, len(sizes)).Draw(t, "read")] {
			b.Reset()
			if err := a.Read(b); err != nil || b.Rows != n {
				t.Fatalf("%d rows, %v; want %d", b.Rows, err, n)
			}
			for i := range n {
				fault := len(b.FaultsOf(i)) > 0
				if b.Blocks[0].Values[i] != float64(row) || b.Row[i] != row || string(b.Keys[0].At(i)) != string(rune('a'+row%5)) || fault != (row%7 == 0) {
					t.Fatalf("row %d differs", row)
				}
				row++
			}
			if a.Progress() != int64(row) {
				t.Fatalf("progress %d after row %d", a.Progress(), row)
			}
		}
		total := 0
		for _, n := range sizes {
			total += n
		}
		if row == total {
			for range 2 {
				b.Reset()
				if err := a.Read(b); err != end || b.Rows != 0 {
					t.Fatalf("%d rows, %v after the last; want %v", b.Rows, err, end)
				}
			}
		}
		if err := a.Close(); err != nil || c.closed != 1 || c.late {
			t.Fatalf("closed %d times, read after that: %v, %v", c.closed, c.late, err)
		}
	})
}
