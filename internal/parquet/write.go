package parquet

import (
	"errors"
	"fmt"
	"io"
)

// Type is that of the values of a column that is written.
type Type uint8

// The types: DOUBLE, INT64, BOOLEAN, and BYTE_ARRAY of UTF-8.
const (
	Double Type = iota
	Integer
	Flag
	Text
)

// Leaf describes a column that is written.
type Leaf struct {
	// Path is the name of the column; of one within a struct, after those of the structs
	// around it. The columns of a struct are neighbours.
	Path []string
	Type Type
	// Optional tells that values may be missing. A List of doubles may be empty, and is
	// never missing.
	Optional, List bool
}

// The bounds on what is held before a row group is written: its rows, its pages (bytes),
// and, over all columns, the values of the pages at hand and of the dictionaries.
const (
	groupRows     = 1 << 19
	groupBytes    = 1 << 25
	pageValues    = 1 << 14
	allPageValues = 1 << 22
	mostNumbers   = 1 << 12
	mostTexts     = 1 << 15
	allEntries    = 1 << 21
	textBytes     = 1 << 20
)

// Writer writes a file, column by column, in memory that is bounded whatever the number
// of rows.
type Writer struct {
	w      io.Writer
	at     int64
	err    error
	root   string
	sinks  []*Sink
	marks  [][2]string
	groups []writtenGroup
	rows   int   // of the group at hand
	all    int64 // of the groups before
	keys   int64 // bytes of the texts of the file as a reader delivers them
}

// writtenGroup is what the footer says of a row group.
type writtenGroup struct {
	rows    int
	columns []writtenChunk
}

type writtenChunk struct {
	at, dictionary, size, raw, values int64
	indexed, plain                    bool // has pages with indices, and with values
}

// NewWriter starts a file of columns; root names the schema. Nothing is buffered beyond
// the row group at hand.
func NewWriter(w io.Writer, root string, leaves []Leaf) *Writer {
	x := &Writer{w: w, root: root}
	n := max(len(leaves), 1)
	for _, leaf := range leaves {
		x.sinks = append(x.sinks, newSink(leaf, n))
	}
	x.write([]byte(magic))
	return x
}

const magic = "PAR1"

// Mark puts a text into the file's own metadata.
func (x *Writer) Mark(key, value string) { x.marks = append(x.marks, [2]string{key, value}) }

// Column takes the values of a column.
func (x *Writer) Column(i int) *Sink { return x.sinks[i] }

var errRagged = errors.New("parquet: a column with more or fewer rows than were said")

// Advance is called after n rows, a few thousand at most, were put into every column.
func (x *Writer) Advance(n int) error {
	x.rows += n
	held, full := 0, x.rows >= groupRows
	for _, s := range x.sinks {
		if s.rows != x.rows {
			return fmt.Errorf("%w: %v", errRagged, s.leaf.Path)
		}
		held += s.held()
		full = full || s.full
	}
	if full || held >= groupBytes {
		x.flush()
	}
	return x.err
}

// flush writes the row group at hand.
func (x *Writer) flush() {
	if x.rows == 0 || x.err != nil {
		return
	}
	g := writtenGroup{rows: x.rows}
	for _, s := range x.sinks {
		s.end()
		c := writtenChunk{at: x.at, dictionary: -1, values: int64(s.values), indexed: s.indices > 0, plain: s.pages > s.indices, raw: s.raw}
		if c.indexed {
			page, raw := s.dictionaryPage()
			c.dictionary = x.at
			x.write(page)
			c.at, c.raw = x.at, c.raw+raw
		}
		x.write(s.done)
		c.size = x.at - c.at
		if c.indexed {
			c.size = x.at - c.dictionary
		}
		s.all += c.values
		x.keys += s.delivered
		g.columns = append(g.columns, c)
		s.reset()
	}
	x.groups = append(x.groups, g)
	x.all += int64(x.rows)
	x.rows = 0
}

func (x *Writer) write(b []byte) {
	if x.err != nil {
		return
	}
	n, err := x.w.Write(b)
	x.at, x.err = x.at+int64(n), err
}

// Close writes what is left and the footer. It does not close what is written to.
func (x *Writer) Close() error {
	x.flush()
	x.pad()
	footer := x.footer()
	x.write(footer)
	x.write(appendUint32(nil, uint32(len(footer))))
	x.write([]byte(magic))
	if x.err == nil && len(footer) > maxFooter {
		return errFooter
	}
	return x.err
}

// pad puts zeros before the footer where the file is so small for what it holds that
// [Open] would take it for a hostile one. Nothing points at them.
func (x *Writer) pad() {
	counts := int64(0)
	for _, s := range x.sinks {
		counts += max(s.all, x.all*int64(s.longest)) // a reader gives every list one length
	}
	need := max((counts-freeValues)/valuesPerByte, (x.keys-freeBytes)/bytesPerByte) + 1
	for zeros := make([]byte, 1<<16); x.at < need && x.err == nil; {
		x.write(zeros[:min(need-x.at, int64(len(zeros)))])
	}
}
