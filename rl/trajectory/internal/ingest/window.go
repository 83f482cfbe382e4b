package ingest

import (
	"bytes"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// window is what one of several streams reads of a file: the rows of the persons who
// begin in its stretch. A person begins where the id changes. The first run of ids of a
// stretch is taken for the rest of what the stretch before it ends with, and is read with
// that one, whether it is or not; so every row is in one window.
type window struct {
	table.Stretch
	key      int // the ids
	skipping bool
	beyond   bool
	begun    bool   // a row of the stretch was skipped
	tail     bool   // a row beyond the stretch was read
	id       []byte // of the run that is skipped, or of that beyond the stretch
	done     bool
	from     int // rows of the batch that are another window's
}

// Read implements [table.Table]. The first rows of the batch, up to from, are not the
// window's.
func (w *window) Read(b *table.Batch) error {
	for {
		w.from = 0
		b.Reset()
		if w.done {
			return io.EOF
		}
		err := w.Stretch.Read(b)
		if err == io.EOF && !w.beyond {
			w.Beyond()
			w.beyond = true
			continue
		}
		if err != nil {
			return err
		}
		if w.takes(b) {
			return nil
		}
	}
}

// takes tells whether rows of a batch are the window's, and which.
func (w *window) takes(b *table.Batch) bool {
	runs := &b.Keys[w.key]
	id, end := runs.Key(0), runs.End(0)
	switch {
	case w.beyond:
		return w.last(b, id, end)
	case !w.skipping:
		return true
	case w.begun && !bytes.Equal(id, w.id):
		w.skipping = false
		return true
	}
	w.begun, w.id = true, append(w.id[:0], id...)
	if end < b.Rows {
		w.skipping, w.from = false, end
	}
	return !w.skipping
}

// last takes the first run of ids beyond the stretch, unless that is the one which the
// whole stretch consists of.
func (w *window) last(b *table.Batch, id []byte, end int) bool {
	same := bytes.Equal(id, w.id)
	switch {
	case w.tail:
		w.done = !same
	case w.skipping:
		w.done = same || !w.begun
	}
	if w.done {
		return false
	}
	w.skipping, w.tail, w.id = false, true, append(w.id[:0], id...)
	if end < b.Rows {
		b.Rows, w.done = end, true
	}
	return true
}
