package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Format reads and names Parquet files.
func Format() trajectory.Format {
	return trajectory.Format{Name: "parquet", Extensions: []string{".parquet", ".pq"}, Open: Open}
}

// Open opens a Parquet file and reads its footer.
func Open(path string) (trajectory.Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.IsDir() {
		f.Close()
		return nil, &trajectory.InputError{File: path, What: "is a directory", Remedy: "name the files in it, such as " + path + "/*.parquet",
			Kind: trajectory.ErrFormat}
	}
	t, err := newTable(f, info.Size(), path)
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer = f
	return t, nil
}

// New reads Parquet from the first size bytes of r; name stands for the file in
// errors. The table does not close r.
func New(r io.ReaderAt, size int64, name string) (trajectory.Table, error) {
	return newTable(r, size, name)
}

// table is an open Parquet file.
type table struct {
	name   string
	size   int64
	r      io.ReaderAt
	closer io.Closer
	file   *parquet.File
	groups []format.RowGroup
	fields []field

	columns []*column
	group   int   // next row group
	left    int64 // rows of the row group at hand
	row     int   // rows read
	failed  error

	held   int64 // bytes of pages in memory
	text   int64 // bytes of keys delivered
	values int64 // values of the columns that are read
	codec  codec
	// What columns use in turn.
	index  [some]uint32
	levels [some]uint8
	dense  [2 * some]float64 // one more than some, rounded up
}

// some is the number of values that are decoded in one go.
const some = 1 << 10

func newTable(r io.ReaderAt, size int64, name string) (t *table, err error) {
	t = &table{name: name, size: size, r: r}
	defer t.rescue(&err)
	if err := t.checkFooter(r); err != nil {
		return nil, err
	}
	t.file, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<16))
	if err != nil {
		return nil, t.damaged(err)
	}
	if v, ok := t.file.Lookup(trajectory.SchemaVersionKey); ok && v != trajectory.SchemaVersion {
		return nil, t.fault("", "the schema version is not known", "this program reads version "+trajectory.SchemaVersion+"; write the file anew, or use a newer program", trajectory.ErrFormat)
	}
	t.groups = t.file.Metadata().RowGroups
	for _, c := range t.file.Root().Columns() {
		t.fields = fieldsOf(t.fields, c, c.Name(), 0)
	}
	return t, nil
}

// Fields implements [trajectory.Table].
func (t *table) Fields() []trajectory.Field {
	out := make([]trajectory.Field, len(t.fields))
	for i, f := range t.fields {
		out[i] = trajectory.Field{Name: f.name, List: f.list}
	}
	return out
}

// Width implements [trajectory.Table]: the length of the first list that is
// there.
func (t *table) Width(i int) (n int, err error) {
	defer t.rescue(&err)
	f := &t.fields[i]
	if !f.list {
		return 1, nil
	}
	if err := t.usable(f, trajectory.Number); err != nil {
		return 0, err
	}
	c := newColumn(t, f, trajectory.Pick{Kind: trajectory.Presence})
	defer c.close()
	for g := range t.groups {
		if err := c.open(g); err != nil {
			return 0, err
		}
		if n, err := c.firstLength(); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// Select implements [trajectory.Table].
func (t *table) Select(picks []trajectory.Pick) (err error) {
	defer t.rescue(&err)
	for _, p := range picks {
		f := &t.fields[p.Field]
		if err := t.usable(f, p.Kind); err != nil {
			return err
		}
		c := newColumn(t, f, p)
		if err := c.count(); err != nil {
			return err
		}
		t.columns = append(t.columns, c)
	}
	return nil
}

// Progress implements [trajectory.Table].
func (t *table) Progress() int64 {
	n := t.file.NumRows()
	if n <= 0 {
		return t.size
	}
	return int64(float64(t.size) * min(float64(t.row)/float64(n), 1))
}

// Close implements [trajectory.Table].
func (t *table) Close() error {
	for _, c := range t.columns {
		c.close()
	}
	t.codec.close()
	t.columns, t.failed = nil, os.ErrClosed
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

// Read implements [trajectory.Table].
func (t *table) Read(b *trajectory.Batch) error {
	if t.failed == nil {
		t.failed = t.read(b)
	}
	return t.failed
}

func (t *table) read(b *trajectory.Batch) (err error) {
	defer t.rescue(&err)
	for t.left == 0 {
		if t.group == len(t.groups) {
			return io.EOF
		}
		for _, c := range t.columns {
			if err := c.open(t.group); err != nil {
				return err
			}
		}
		t.left = t.groups[t.group].NumRows
		t.group++
	}
	n := int(min(t.left, int64(b.Cap)))
	for _, c := range t.columns {
		if err := c.read(b, n); err != nil {
			return err
		}
	}
	for i := range n {
		b.Row[i] = t.row + i + 1
	}
	b.Rows = n
	t.row += n
	t.left -= int64(n)
	return nil
}

func (t *table) fault(column, what, remedy string, kind error) error {
	return &trajectory.InputError{File: t.name, Column: column, What: what, Remedy: remedy, Kind: kind}
}

// errEncoding marks what this package does not decode.
var errEncoding = errors.New("unknown encoding")

func (t *table) damaged(cause error) error {
	e := &trajectory.InputError{File: t.name, What: "cannot be read as Parquet", Remedy: "the file may be damaged, or use an encoding that is not supported; write it anew",
		Kind: trajectory.ErrFormat, Cause: cause}
	switch {
	case errors.Is(cause, errTooMany):
		e.What, e.Remedy = "asks for more memory than a file of its size should", "the file may be damaged; or write it anew without compression and dictionaries"
	case errors.Is(cause, errEncoding):
		e.What, e.Remedy = "uses an encoding that is not supported", "write it anew with plain or dictionary encoding"
	}
	return e
}

// rescue makes an error of a panic: the parquet module panics on some damaged
// footers.
func (t *table) rescue(err *error) {
	if p := recover(); p != nil {
		*err = t.damaged(fmt.Errorf("decoder: %v", p))
	}
}
