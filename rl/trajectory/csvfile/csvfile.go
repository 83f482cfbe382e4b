package csvfile

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Format reads and names CSV files.
func Format() trajectory.Format {
	return trajectory.Format{Name: "csv", Extensions: []string{".csv", ".csv.gz"}, Open: Open}
}

// Open opens a CSV file and reads its header. A file whose name ends in .gz is
// decompressed.
func Open(path string) (trajectory.Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &trajectory.InputError{File: path, What: "is a directory", Remedy: "name the files in it, such as " + path + "/*.csv",
			Kind: trajectory.ErrFormat}
	}
	counted := &counter{r: f}
	var r io.Reader = counted
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(bufio.NewReaderSize(counted, 1<<16)); err != nil {
			f.Close()
			return nil, &trajectory.InputError{File: path, What: "is not a gzip file", Remedy: "write it anew, or name it .csv",
				Kind: trajectory.ErrFormat, Cause: err}
		}
	}
	t, err := newTable(r, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer, t.counted = f, counted
	return t, nil
}

// New reads CSV from r; name stands for the file in errors. The table does not
// close r.
func New(r io.Reader, name string) (trajectory.Table, error) {
	counted := &counter{r: r}
	t, err := newTable(counted, name)
	if err != nil {
		return nil, err
	}
	t.counted = counted
	return t, nil
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// table is an open CSV file.
type table struct {
	name    string
	closer  io.Closer
	counted *counter
	scan    scanner
	fields  []trajectory.Field
	picks   []trajectory.Pick
	keys    []key
	failed  error
}

func newTable(r io.Reader, name string) (*table, error) {
	t := &table{name: name, scan: scanner{r: r, line: 1}}
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
func (t *table) Progress() int64 { return t.counted.n }

// Close implements [trajectory.Table].
func (t *table) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

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
