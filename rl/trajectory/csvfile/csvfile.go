package csvfile

import (
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/textfile"
)

// Format reads and names CSV files.
func Format() trajectory.Format {
	return trajectory.Format{Name: "csv", Extensions: []string{".csv", ".csv.gz"}, Open: Open}
}

// Open opens a CSV file and reads its header. A file whose name ends in .gz is
// decompressed.
func Open(path string) (trajectory.Table, error) {
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
func New(r io.Reader, name string) (trajectory.Table, error) {
	t, err := newTable(textfile.From(r), name)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// table is an open CSV file.
type table struct {
	name   string
	in     *textfile.Input
	scan   scanner
	fields []trajectory.Field
	picks  []trajectory.Pick
	keys   []key
	failed error
}

func newTable(in *textfile.Input, name string) (*table, error) {
	t := &table{name: name, in: in, scan: scanner{r: in, line: 1}}
	if err := t.header(); err != nil {
		return nil, err
	}
	return t, nil
}

// Fields implements [trajectory.Table].
func (t *table) Fields() []trajectory.Field { return t.fields }

// Width implements [trajectory.Table]; CSV has no lists.
func (t *table) Width(int) (int, error) { return 1, nil }

// Select implements [trajectory.Table].
func (t *table) Select(picks []trajectory.Pick) error {
	t.picks = picks
	for _, p := range picks {
		if p.Kind == trajectory.Key {
			t.keys = append(t.keys, key{block: p.Block})
		}
	}
	return nil
}

// Progress implements [trajectory.Table].
func (t *table) Progress() int64 { return t.in.Consumed() }

// Close implements [trajectory.Table].
func (t *table) Close() error { return t.in.Close() }

// Read implements [trajectory.Table].
func (t *table) Read(b *trajectory.Batch) error {
	for t.failed == nil && b.Rows < b.Cap {
		t.failed = t.record(b)
	}
	if b.Rows > 0 {
		return nil
	}
	return t.failed
}
