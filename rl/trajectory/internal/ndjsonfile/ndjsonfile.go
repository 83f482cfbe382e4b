package ndjsonfile

import (
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/textfile"
)

// Format reads and names NDJSON files.
func Format() table.Format {
	return table.Format{Name: "ndjson", Extensions: []string{".ndjson", ".jsonl", ".ndjson.gz", ".jsonl.gz"}, Open: Open, Write: Write}
}

// Open opens an NDJSON file and reads its first rows. A file whose name ends in
// .gz is decompressed.
func Open(path string) (table.Table, error) {
	in, err := textfile.Open(path, ".ndjson")
	if err != nil {
		return nil, err
	}
	t, err := newTable(in, path)
	if err != nil {
		in.Close()
		return nil, err
	}
	return t, nil
}

// New reads NDJSON from r; name stands for the file in errors. The table does not
// close r.
func New(r io.Reader, name string) (table.Table, error) {
	t, err := newTable(textfile.From(r), name)
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
	byName  map[string]int
	row     int // stamp of the row at hand, for keys that come twice
	order   []int
	keys    []key
	failed  error
}

// field is a key of the objects.
type field struct {
	name  string
	list  bool
	typed bool // a value that is not null has been seen
	width int  // of the first list that is not empty
	picks []pick
	seen  int // the last row that had it
}

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

func newTable(in *textfile.Input, name string) (*reader, error) {
	t := &reader{name: name, in: in, lines: lines{r: in}, byName: map[string]int{}}
	if err := t.sample(); err != nil {
		return nil, err
	}
	t.sampled = true
	return t, nil
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field {
	out := make([]table.Field, len(t.fields))
	for i, f := range t.fields {
		out[i] = table.Field{Name: f.name, List: f.list}
	}
	return out
}

// Width implements [table.Table]: the length of the first list that is not
// empty.
func (t *reader) Width(i int) (int, error) {
	if !t.fields[i].list {
		return 1, nil
	}
	return t.fields[i].width, nil
}

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	for _, p := range picks {
		own := pick{Pick: p}
		if p.Kind == table.Key {
			own.key = len(t.keys)
			t.keys = append(t.keys, key{block: p.Block})
		}
		t.fields[p.Field].picks = append(t.fields[p.Field].picks, own)
	}
	return nil
}

// Progress implements [table.Table].
func (t *reader) Progress() int64 { return t.in.Consumed() }

// Close implements [table.Table].
func (t *reader) Close() error { return t.in.Close() }

// Read implements [table.Table].
func (t *reader) Read(b *table.Batch) error {
	for t.failed == nil && b.Rows < b.Cap {
		t.failed = t.next(b)
	}
	if b.Rows > 0 {
		return nil
	}
	return t.failed
}
