package ndjsonfile

import (
	"context"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/textfile"
)

// Format reads and names NDJSON files.
func Format() table.Format {
	return table.Format{Name: "ndjson", Extensions: []string{".ndjson", ".jsonl", ".ndjson.gz", ".jsonl.gz"}, Open: Open, Nested: OpenNested, Write: Write}
}

// Open opens an NDJSON file and reads its first rows. A file whose name ends in
// .gz is decompressed.
func Open(ctx context.Context, path string) (table.Table, error) {
	return OpenNested(ctx, path, table.Nesting{})
}

// OpenNested opens a file of which lines hold lists of rows, or columns lie in objects.
func OpenNested(ctx context.Context, path string, n table.Nesting) (table.Table, error) {
	in, err := textfile.Open(ctx, path, ".ndjson")
	if err != nil {
		return nil, err
	}
	t, err := newTable(in, path, n)
	if err != nil {
		in.Close()
		return nil, err
	}
	return t, nil
}

// New reads NDJSON from r; name stands for the file in errors. The table does not
// close r.
func New(r io.Reader, name string) (table.Table, error) {
	t, err := newTable(textfile.From(r), name, table.Nesting{})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// The first rows, from which the columns are found: so many, or so many bytes.
const (
	sampleRows  = 1024
	sampleBytes = 8 << 20
)

// reader is an open NDJSON file.
type reader struct {
	name    string
	in      *textfile.Input
	lines   lines
	sampled bool // the columns are found: a key that none of them has is a fault
	fields  []field
	levels  [2]level // of lines, and of the elements of their lists of rows
	row     int      // stamp of the object at hand, for keys that come twice
	keys    []key
	failed  error

	nesting table.Nesting
	listed  []int // fields by the numbers that others know
	path    []byte
	nested  nested
}

// level is the keys of one kind of objects.
type level struct {
	byName map[string]int
	order  []int
	stamp  int // of the object at hand
}

// field is a key of the objects.
type field struct {
	name  string
	list  bool
	typed bool // a value that is not null has been seen
	width int  // of the first list that is not empty
	picks []pick
	seen  int // the last object that had it

	count   int  // of values in the first rows
	objects bool // a value that is not null is an object, or a list of objects

	level int
	inner bool // lies in an object
	above bool // is an object in which others that are wanted lie
	rows  bool // is the list of rows
	both  bool // is a key of a line, and of an element too
	value span // in the line at hand
}

type span struct{ from, to int }

// pick is a wish, and the place of a key among the table's keys.
type pick struct {
	table.Pick
	key int
}

// key is the text of a key of the row at hand.
type key struct {
	block int
	text  []byte
}

func newTable(in *textfile.Input, name string, n table.Nesting) (*reader, error) {
	t := &reader{name: name, in: in, lines: lines{r: in}, nesting: n}
	for i := range t.levels {
		t.levels[i].byName = map[string]int{}
	}
	if err := t.sample(); err != nil {
		return nil, err
	}
	t.sampled = true
	return t, t.list()
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field {
	out := make([]table.Field, len(t.listed))
	for i, at := range t.listed {
		out[i] = table.Field{Name: t.fields[at].name, List: t.fields[at].list, Rows: t.fields[at].list && t.fields[at].objects}
	}
	return out
}

// Width implements [table.Table]: the length of the first list that is not
// empty.
func (t *reader) Width(i int) (int, error) {
	if f := t.fields[t.listed[i]]; f.list {
		return f.width, nil
	}
	return 1, nil
}

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	for _, p := range picks {
		own, f := pick{Pick: p}, &t.fields[t.listed[p.Field]]
		if f.both {
			return t.twice(f.name)
		}
		if p.Kind == table.Key {
			own.key = len(t.keys)
			t.keys = append(t.keys, key{block: p.Block})
		}
		f.picks = append(f.picks, own)
	}
	return nil
}

// Progress implements [table.Table].
func (t *reader) Progress() int64 { return t.in.Consumed() }

// Close implements [table.Table].
func (t *reader) Close() error { return t.in.Close() }

// Read implements [table.Table].
func (t *reader) Read(b *table.Batch) error {
	next := t.next
	if t.nesting.Rows != "" {
		next = t.nextElement
	}
	for t.failed == nil && b.Rows < b.Cap {
		t.failed = next(b)
	}
	if b.Rows > 0 {
		return nil
	}
	return t.failed
}
