package csvfile

import (
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/textfile"
	"github.com/discreet-rl/discreet/rl/trajectory/table"
)

// Format reads and names CSV files.
func Format() table.Format {
	return table.Format{Name: "csv", Extensions: []string{".csv", ".csv.gz"}, Open: Open}
}

// Open opens a CSV file and reads its header. A file whose name ends in .gz is
// decompressed.
func Open(path string) (table.Table, error) {
	in, err := textfile.Open(path, ".csv")
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

// New reads CSV from r; name stands for the file in errors. The table does not
// close r.
func New(r io.Reader, name string) (table.Table, error) {
	t, err := newTable(textfile.From(r), name)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// reader is an open CSV file.
type reader struct {
	name   string
	in     *textfile.Input
	scan   scanner
	fields []table.Field
	picks  []table.Pick
	keys   []key
	failed error
}

func newTable(in *textfile.Input, name string) (*reader, error) {
	t := &reader{name: name, in: in, scan: scanner{r: in, line: 1}}
	if err := t.header(); err != nil {
		return nil, err
	}
	return t, nil
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field { return t.fields }

// Width implements [table.Table]; CSV has no lists.
func (t *reader) Width(int) (int, error) { return 1, nil }

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	t.picks = picks
	for _, p := range picks {
		if p.Kind == table.Key {
			t.keys = append(t.keys, key{block: p.Block})
		}
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
		t.failed = t.record(b)
	}
	if b.Rows > 0 {
		return nil
	}
	return t.failed
}
