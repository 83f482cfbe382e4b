package parquetfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/parquet-go/parquet-go"
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
	closer io.Closer
	file   *parquet.File
	fields []field
	groups []parquet.RowGroup

	columns []*column
	group   int   // next row group
	left    int64 // rows of the row group at hand
	row     int   // rows read
	failed  error
}

func newTable(r io.ReaderAt, size int64, name string) (t *table, err error) {
	t = &table{name: name, size: size}
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
	t.groups = t.file.RowGroups()
	for _, c := range t.file.Root().Columns() {
		t.fields = append(t.fields, newField(c))
	}
	return t, nil
}

// checkFooter looks at the magic numbers and the length of the footer before
// anything is allocated by it.
func (t *table) checkFooter(r io.ReaderAt) error {
	if t.size == 0 {
		return t.fault("", "the file is empty", "write it anew", trajectory.ErrEmpty)
	}
	var head, tail [8]byte
	if t.size >= 12 {
		if _, err := r.ReadAt(head[:4], 0); err != nil {
			return t.damaged(err)
		}
		if _, err := r.ReadAt(tail[:], t.size-8); err != nil {
			return t.damaged(err)
		}
	}
	switch {
	case string(head[:4]) == "PARE" || string(tail[4:]) == "PARE":
		return t.fault("", "the file is encrypted", "decrypt it first", trajectory.ErrFormat)
	case string(head[:4]) != "PAR1":
		return t.fault("", "is not a Parquet file", "name the format, or check that this is the right file", trajectory.ErrFormat)
	case string(tail[4:]) != "PAR1" || int64(binary.LittleEndian.Uint32(tail[:4])) > t.size-12:
		return t.fault("", "the footer is missing", "the file is cut short; write or copy it anew", trajectory.ErrFormat)
	}
	return nil
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
	for _, g := range t.groups {
		c := newColumn(t, f, trajectory.Pick{})
		c.open(g)
		n, err := c.firstLength()
		c.close()
		if err != nil || n > 0 {
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
		t.columns = append(t.columns, newColumn(t, f, p))
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
		g := t.groups[t.group]
		t.group++
		t.left = g.NumRows()
		if t.left < 0 {
			return t.damaged(fmt.Errorf("a row group of %d rows", t.left))
		}
		for _, c := range t.columns {
			c.open(g)
		}
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

func (t *table) damaged(cause error) error {
	return &trajectory.InputError{File: t.name, What: "cannot be read as Parquet", Remedy: "the file may be damaged, or use an encoding that is not supported; write it anew",
		Kind: trajectory.ErrFormat, Cause: cause}
}

// rescue makes an error of a panic: the decoder panics on some damaged files.
func (t *table) rescue(err *error) {
	if p := recover(); p != nil {
		*err = t.damaged(fmt.Errorf("decoder: %v", p))
	}
}
