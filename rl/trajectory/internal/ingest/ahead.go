package ingest

import (
	"sync"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// batchesAhead is how many batches of narrow rows are decoded ahead of the checks. Of
// rows so wide that few fit a batch it is one.
const batchesAhead = 4

// widestDivided is how many numbers a row may have in a table that several processors
// decode: they hold batches that only wait for their turn.
const widestDivided = 1 << 8

// ahead reads a table on a goroutine of its own, so that values are decoded while the
// rows before them are checked. It delivers what the table delivers, in that order.
type ahead struct {
	table.Table
	full     chan filled
	free     chan *table.Batch
	stop     chan struct{}
	reading  sync.WaitGroup
	progress int64
	ended    error // of the last call of Read
}

// filled is what one call of Read gave.
type filled struct {
	batch    *table.Batch
	err      error
	progress int64
}

// readAhead begins to read a table, after the last Select, on up to a number of
// goroutines. Close ends it.
func readAhead(t table.Table, workers int, widths []int, keys int) table.Table {
	width := 0
	for _, w := range widths {
		width += w
	}
	if d, ok := t.(table.Divisible); ok && width <= widestDivided {
		if divided := d.Divide(workers, func() *table.Batch { return table.NewBatch(widths, keys) }); divided != nil {
			return divided
		}
	}
	first := table.NewBatch(widths, keys)
	n := batchesAhead
	if narrow := table.NewBatch(nil, 0).Cap; first.Cap < narrow {
		n = 1
	}
	a := &ahead{Table: t, full: make(chan filled, n), free: make(chan *table.Batch, n), stop: make(chan struct{})}
	a.free <- first
	for range n - 1 {
		a.free <- table.NewBatch(widths, keys)
	}
	a.reading.Go(a.read)
	return a
}

// read fills batches until the table ends or Close is called.
func (a *ahead) read() {
	defer close(a.full)
	for {
		select {
		case <-a.stop:
			return
		case b := <-a.free:
			b.Reset()
			err := a.Table.Read(b)
			a.full <- filled{b, err, a.Table.Progress()} // has room: there are no more batches than that
			if err != nil {
				return
			}
		}
	}
}

// Read implements [table.Table].
func (a *ahead) Read(b *table.Batch) error {
	if a.ended != nil {
		return a.ended
	}
	f := <-a.full
	a.progress, a.ended = f.progress, f.err
	*b, *f.batch = *f.batch, *b
	if f.err == nil {
		a.free <- f.batch
	}
	return f.err
}

// Progress implements [table.Table]: up to the rows that were delivered.
func (a *ahead) Progress() int64 { return a.progress }

// Lines implements [table.Lined], once Read has returned io.EOF; 0 of a table that does
// not count them.
func (a *ahead) Lines() int {
	if l, ok := a.Table.(table.Lined); ok {
		return l.Lines()
	}
	return 0
}

// Close implements [table.Table]. It waits for a call of Read that is under way.
func (a *ahead) Close() error {
	close(a.stop)
	a.reading.Wait()
	return a.Table.Close()
}
