package parquetfile

import (
	"context"
	"io"
	"os"

	"github.com/discreet-rl/discreet/internal/parquet"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfault"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Format reads and names Parquet files.
func Format() table.Format {
	return table.Format{Name: "parquet", Extensions: []string{".parquet", ".pq"}, Open: Open, Write: Write}
}

// Open opens a Parquet file and reads its footer.
func Open(ctx context.Context, path string) (table.Table, error) {
	f, err := source.Open(ctx, path)
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
		return nil, source.Told(err)
	}
	t.closer = f
	return t, nil
}

// New reads Parquet from the first size bytes of r; name stands for the file in
// errors. The table does not close r.
func New(r io.ReaderAt, size int64, name string) (table.Table, error) {
	return newTable(r, size, name)
}

// Marks returns those of the named texts that are in a file's metadata.
func Marks(ctx context.Context, path string, names ...string) (map[string]string, error) {
	t, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	out := map[string]string{}
	for _, name := range names {
		if text, ok := t.(*reader).file.Lookup(name); ok {
			out[name] = text
		}
	}
	return out, nil
}

// reader is an open Parquet file.
type reader struct {
	name   string
	size   int64
	closer io.Closer
	file   *parquet.File
	rows   int64 // up to which are read; of the file, mostly

	picks   []table.Pick
	columns []*parquet.Column // of picks
	row     int64             // rows read
	keys    keys
	failed  error
}

// keys takes the keys of a field into a batch, of one that is too long its beginning.
type keys struct {
	*table.Runs
	t     *reader
	field int
	batch *table.Batch
	rows  int // of texts
}

// Append implements [parquet.Runs].
func (k *keys) Append(key []byte, n int) {
	if len(key) > table.MaxKey {
		key = key[:table.MaxKey]
		column := k.t.file.Fields()[k.field].Name
		for i := range n {
			k.batch.Rows = k.rows + i
			k.batch.Fail(table.LongKey(k.t.name, int(k.t.row)+k.batch.Rows+1, column))
		}
	}
	k.Runs.Append(key, n)
	k.rows += n
}

func newTable(r io.ReaderAt, size int64, name string) (*reader, error) {
	f, err := parquet.Open(r, size)
	if err != nil {
		return nil, parquetfault.Error(name, err)
	}
	if v, ok := f.Lookup(canon.VersionKey); ok && v != canon.Version {
		return nil, &trajectory.InputError{File: name, What: "the schema version is not known",
			Remedy: "this program reads version " + canon.Version + "; write the file anew, or use a newer program", Kind: trajectory.ErrFormat}
	}
	return &reader{name: name, size: size, file: f, rows: f.Rows()}, nil
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field {
	fields := t.file.Fields()
	out := make([]table.Field, len(fields))
	for i, f := range fields {
		out[i] = table.Field{Name: f.Name, List: f.List, Dated: f.Dated, Zoned: f.Zoned}
	}
	return out
}

// Width implements [table.Table]: the length of the first list that is
// there.
func (t *reader) Width(i int) (int, error) {
	n, err := t.file.ListLength(i)
	return n, parquetfault.Error(t.name, err)
}

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	for _, p := range picks {
		w := parquet.Want{Field: p.Field, Length: p.List, Null: table.Null()}
		switch p.Kind {
		case table.Key:
			w.As = parquet.Keys
		case table.Presence:
			w.As = parquet.Presence
		case table.Time:
			w.As = parquet.Times
		}
		c, err := t.file.Column(w)
		if err != nil {
			return parquetfault.Advised(t.name, p, err)
		}
		t.picks, t.columns = append(t.picks, p), append(t.columns, c)
	}
	return nil
}

// Progress implements [table.Table].
func (t *reader) Progress() int64 {
	if t.rows == 0 {
		return t.size
	}
	return int64(float64(t.size) * min(float64(t.row)/float64(t.rows), 1))
}

// Close implements [table.Table].
func (t *reader) Close() error {
	for _, c := range t.columns {
		c.Close()
	}
	t.file.Close()
	t.columns, t.failed = nil, os.ErrClosed
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

// Read implements [table.Table].
func (t *reader) Read(b *table.Batch) error {
	if t.failed == nil {
		t.failed = t.read(b)
	}
	return t.failed
}

func (t *reader) read(b *table.Batch) error {
	n := int(min(t.rows-t.row, int64(b.Cap)))
	if n == 0 {
		return io.EOF
	}
	for i, p := range t.picks {
		var err error
		if p.Kind == table.Key {
			t.keys = keys{Runs: &b.Keys[p.Block], t: t, field: p.Field, batch: b}
			err = t.columns[i].ReadKeys(&t.keys, n)
		} else {
			block := &b.Blocks[p.Block]
			err = t.columns[i].Read(block.Values[p.Offset:], block.Width, n)
			if of, known := t.columns[i].Bounds(); known {
				block.Known.Add(of.Low, of.High, of.Whole)
			}
		}
		if err != nil {
			return parquetfault.Error(t.name, err)
		}
	}
	b.SortFaults()
	for i := range n {
		b.Row[i] = int(t.row) + i + 1
	}
	b.Rows = n
	t.row += int64(n)
	return nil
}
