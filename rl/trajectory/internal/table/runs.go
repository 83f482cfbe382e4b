package table

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// MaxKey bounds, in bytes, the text of a key. A longer one is a fault of its row, and
// a format delivers no more of it than this.
const MaxKey = 4096

// LongKey is that fault.
func LongKey(file string, row int, column string) *trajectory.InputError {
	return &trajectory.InputError{File: file, Row: row, Column: column, What: "is longer than 4096 bytes", Remedy: "write shorter ids", Kind: trajectory.ErrValue}
}

// Runs holds a column of keys as runs of equal neighbours: the keys of an
// episode repeat from row to row. The runs of n rows are those from 0 on, up to
// the one whose End is n.
type Runs struct {
	// end[i] is one more than the last row of run i; short[i] is its key, but for a text,
	// which is that from off[i] to off[i+1].
	end     []int
	off     []int
	text    []byte
	short   []shortID
	written []byte
}

// shortID is an id without its text.
type shortID struct {
	high, low uint64
	kind      IDKind
}

func (r *Runs) reset() {
	r.end, r.text, r.short, r.written = r.end[:0], r.text[:0], r.short[:0], r.written[:0]
	r.off = append(r.off[:0], 0)
}

// Append adds n rows with one key; an empty key is a missing one.
func (r *Runs) Append(key []byte, n int) {
	last := len(r.end) - 1
	if last >= 0 && r.off[last] < r.off[last+1] && bytes.Equal(r.text[r.off[last]:], key) {
		r.end[last] += n
		return
	}
	id := IDOf(key)
	r.AppendID(&id, n)
}

// AppendNumber adds n rows whose key is a number.
func (r *Runs) AppendNumber(v int64, n int) {
	if v <= -1e18 || v >= 1e18 { // more than mostDigits
		r.Append(strconv.AppendInt(nil, v, 10), n)
		return
	}
	if last := len(r.end) - 1; last >= 0 {
		if s := &r.short[last]; s.kind == NumberID && s.low == uint64(v) {
			r.end[last] += n
			return
		}
		n += r.end[last]
	}
	r.end = append(r.end, n)
	r.off = append(r.off, len(r.text))
	r.short = append(r.short, shortID{low: uint64(v), kind: NumberID})
}

// AppendUUID adds n rows whose key is a UUID.
func (r *Runs) AppendUUID(v [16]byte, n int) {
	id := ID{Kind: UUIDID, High: binary.BigEndian.Uint64(v[:]), Low: binary.BigEndian.Uint64(v[8:])}
	r.AppendID(&id, n)
}

// AppendID adds n rows with one key.
func (r *Runs) AppendID(id *ID, n int) {
	if last := len(r.end) - 1; last >= 0 {
		if before := r.ID(last); id.Equal(&before) {
			r.end[last] += n
			return
		}
		n += r.end[last]
	}
	r.end = append(r.end, n)
	r.text = append(r.text, id.Text...)
	r.off = append(r.off, len(r.text))
	r.short = append(r.short, shortID{id.High, id.Low, id.Kind})
}

// End is one more than the last row of a run.
func (r *Runs) End(run int) int { return r.end[run] }

// Run is the run that holds a row.
func (r *Runs) Run(row int) int { return sort.SearchInts(r.end, row+1) }

// Start is the first row of a run.
func (r *Runs) Start(run int) int {
	if run == 0 {
		return 0
	}
	return r.end[run-1]
}

// ID is the key of a run, missing where it is. It is overwritten by the next batch.
func (r *Runs) ID(run int) ID {
	s := &r.short[run]
	return ID{Kind: s.kind, Text: r.text[r.off[run]:r.off[run+1]], High: s.high, Low: s.low}
}

// Missing tells whether the key of a run is.
func (r *Runs) Missing(run int) bool {
	return r.short[run].kind == TextID && r.off[run] == r.off[run+1]
}

// Same tells whether two runs have the same key.
func (r *Runs) Same(run, other int) bool {
	a, b := &r.short[run], &r.short[other]
	return *a == *b && (a.kind != TextID || bytes.Equal(r.text[r.off[run]:r.off[run+1]], r.text[r.off[other]:r.off[other+1]]))
}

// Key is the text of the key of a run, empty where it is missing. It is overwritten by the
// next batch.
func (r *Runs) Key(run int) []byte {
	id := r.ID(run)
	if len(id.Text) > 0 || id.Kind == TextID {
		return id.Text
	}
	from := len(r.written)
	r.written = id.Append(r.written)
	return r.written[from:]
}

// At is the key of a row, nil when it is missing.
func (r *Runs) At(row int) []byte {
	key := r.Key(r.Run(row))
	if len(key) == 0 {
		return nil
	}
	return key
}
