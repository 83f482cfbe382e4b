package arrowfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Format reads and names Arrow streams.
func Format() table.Format {
	return table.Format{Name: "arrow", Extensions: []string{".arrow", ".arrows", ".feather"}, Open: Open}
}

// Open opens a file and reads its schema.
func Open(ctx context.Context, path string) (table.Table, error) {
	f, err := source.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := newTable(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer = f
	return t, nil
}

// New reads a stream from r; name stands for the file in errors. The table does not close r.
func New(r io.Reader, name string) (table.Table, error) { return newTable(r, name) }

// reader is an open stream.
type reader struct {
	name    string
	closer  io.Closer
	in      messages
	columns []column
	words   dictionaries

	picks []table.Pick
	rows  batch // at hand
	at    int   // next row of it
	row   int   // rows read
	key   []byte
	ended error
	bare  bool // begins with a schema without a length
}

func newTable(r io.Reader, name string) (t *reader, err error) {
	defer rescue(name, &err)
	t = &reader{name: name, in: messages{r: bufio.NewReaderSize(r, 1<<16)}, words: dictionaries{}}
	if err := t.in.begin(); err != nil {
		return nil, damaged(name, err)
	}
	m, bare, err := t.in.bare()
	if t.bare = bare; !bare {
		m, err = t.in.next()
	}
	switch {
	case errors.Is(err, io.EOF), err == nil && m.kind != messageSchema:
		return nil, damaged(name, errors.New("no schema comes first"))
	case err != nil:
		return nil, damaged(name, err)
	case m.header.Short(0) != 0:
		return nil, damaged(name, errors.New("numbers of the other byte order"))
	}
	left := mostFields
	if t.columns, err = fields(m.header, 1, 0, &left); err != nil {
		return nil, damaged(name, err)
	}
	return t, nil
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field {
	out := make([]table.Field, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		out[i] = table.Field{Name: c.name, Dated: c.dated(), Zoned: c.zoned}
	}
	return out
}

// Width implements [table.Table].
func (t *reader) Width(int) (int, error) { return 1, nil }

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	for _, p := range picks {
		c := &t.columns[p.Field]
		if what, remedy := c.unfit(p.Kind); what != "" {
			return &trajectory.InputError{File: t.name, Column: c.name, What: what, Remedy: p.Advise(remedy), Kind: trajectory.ErrColumn}
		}
		c.picked = true
	}
	t.picks = append(t.picks, picks...)
	return nil
}

// Progress implements [table.Table].
func (t *reader) Progress() int64 { return t.in.read }

// Close implements [table.Table].
func (t *reader) Close() error {
	t.ended = os.ErrClosed
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

// Read implements [table.Table].
func (t *reader) Read(b *table.Batch) error {
	if t.ended == nil {
		t.ended = t.read(b)
	}
	return t.ended
}

func (t *reader) read(b *table.Batch) (err error) {
	defer rescue(t.name, &err)
	for t.at == t.rows.rows {
		m, err := t.in.next()
		switch {
		case errors.Is(err, io.EOF):
			return io.EOF
		case err != nil:
			return damaged(t.name, err)
		}
		switch t.at = 0; m.kind {
		case messageBatch:
			if err = t.spelled(); err == nil {
				err = t.rows.begin(m, t.columns)
			}
		case messageDictionary:
			t.rows.rows = 0
			err = t.words.add(m, t.columns)
		default:
			err = fmt.Errorf("a message of kind %d", m.kind)
		}
		if err != nil {
			return damaged(t.name, err)
		}
	}
	n := min(t.rows.rows-t.at, b.Cap)
	for _, p := range t.picks {
		if p.Kind == table.Key {
			t.keys(b, p, n)
		} else {
			t.numbers(&b.Blocks[p.Block], p, n)
		}
	}
	b.SortFaults()
	for i := range n {
		b.Row[i] = t.row + i + 1
	}
	b.Rows = n
	t.at, t.row = t.at+n, t.row+n
	return nil
}

// spelled refuses a file, as Polars writes it, whose words come after the rows that have them.
func (t *reader) spelled() error {
	for i := range t.columns {
		if c := &t.columns[i]; t.bare && c.encoded && c.picked && t.words[c.dictionary] == nil {
			return &trajectory.InputError{File: t.name, Column: c.name, What: "is a dictionary (Categorical or Enum) whose words come after the rows", Remedy: "write a stream (write_ipc_stream), Parquet, or the column as text", Kind: trajectory.ErrColumn}
		}
	}
	return nil
}

// numbers delivers a column of numbers, or of what stands for one.
func (t *reader) numbers(to *table.Block, p table.Pick, n int) {
	c, cells := &t.columns[p.Field], &t.rows.cells[p.Field]
	value := c.number(cells)
	switch p.Kind {
	case table.Presence:
		value = func(int) float64 { return 1 }
	case table.Time:
		value = c.time(cells)
	}
	for i := range n {
		v := table.Null()
		if !cells.null(t.at + i) {
			if v = value(t.at + i); v != v {
				v = math.NaN() // a file must not be able to forge the missing number
			}
		}
		to.Values[i*to.Width+p.Offset] = v
	}
}

// keys delivers a column of keys.
func (t *reader) keys(b *table.Batch, p table.Pick, n int) {
	c, cells, runs := &t.columns[p.Field], &t.rows.cells[p.Field], &b.Keys[p.Block]
	text := c.text(cells, t.words)
	for i := range n {
		if cells.null(t.at + i) {
			runs.Append(nil, 1)
			continue
		}
		t.key = text(t.key[:0], t.at+i)
		if len(t.key) > table.MaxKey {
			t.key = t.key[:table.MaxKey]
			b.Rows = i
			b.Fail(table.LongKey(t.name, t.row+i+1, c.name))
		}
		runs.Append(t.key, 1)
	}
}

func damaged(file string, cause error) error {
	var input *trajectory.InputError
	if errors.As(cause, &input) {
		return cause
	}
	// A stream ends at io.EOF: what stops short in the middle must not be taken for that.
	if errors.Is(cause, io.EOF) {
		cause = io.ErrUnexpectedEOF
	}
	return &trajectory.InputError{File: file, What: "cannot be read as an Arrow stream: " + cause.Error(), Remedy: "write it anew, without compression, and to its end", Kind: trajectory.ErrFormat, Cause: cause}
}

// rescue makes an error of a panic: slices of a damaged file are out of bounds.
func rescue(file string, err *error) {
	if p := recover(); p != nil {
		*err = damaged(file, errors.New("it is damaged"))
	}
}
