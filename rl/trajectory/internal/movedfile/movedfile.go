package movedfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/snappy"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Format reads rows that were taken of [Rows]. No file of a user has it.
func Format() table.Format { return table.Format{Name: "moved rows", Open: open} }

func open(ctx context.Context, path string) (table.Table, error) {
	f, err := source.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	t := &reader{name: path, file: f, in: bufio.NewReader(f)}
	if err := t.next(); err != nil {
		return nil, errors.Join(t.failed(err), f.Close())
	}
	return t, nil
}

// reader is a table of rows that were moved.
type reader struct {
	name   string
	file   source.File
	in     *bufio.Reader
	bytes  int64
	packed bytes.Buffer // the block at hand
	block  []byte       // the same, unpacked
	text   []byte       // of the head
	head   head
	picks  []table.Pick
	from   []int // the column of each
	wanted map[string]bool

	later    int // is added to the numbers of rows
	rows, at int // of the block at hand
	numbers  []byte
	number   int
	step     int // from one of the next rows to another
	steps    int // how many those are
	flaws    []flaw
	columns  []cursor
}

// cursor is where the next value of a column is.
type cursor struct {
	all     []float64 // of the block at hand
	numbers []float64 // those that are left
	runs    []byte
	key     []byte
	run     int
}

var errForm = errors.New("rows are not in the form that they were moved in")

// next goes on to the next block, or returns io.EOF.
func (t *reader) next() error {
	n, err := binary.ReadUvarint(t.in)
	for err == nil && n == 0 {
		later, short := binary.ReadUvarint(t.in)
		if short != nil {
			return errForm
		}
		t.later += int(later)
		n, err = binary.ReadUvarint(t.in)
	}
	if err != nil {
		return err
	}
	t.packed.Reset()
	if got, err := io.CopyN(&t.packed, t.in, int64(n)); err != nil || uint64(got) != n {
		return errForm
	}
	t.bytes += int64(n)
	rest, err := snappy.Decode(t.block[:cap(t.block)], t.packed.Bytes())
	if err != nil {
		return errForm
	}
	t.block = rest
	rows, size := binary.Uvarint(rest)
	if size <= 0 || rows == 0 || rows > mostRows {
		return errForm
	}
	rest = rest[size:]
	var parts [][]byte
	for len(rest) > 0 {
		length, size := binary.Uvarint(rest)
		if size <= 0 || length > uint64(len(rest)-size) {
			return errForm
		}
		parts = append(parts, rest[size:size+int(length)])
		rest = rest[size+int(length):]
	}
	if len(parts) < 3 {
		return errForm
	}
	if t.text == nil {
		t.text = bytes.Clone(parts[0])
		if err := json.Unmarshal(t.text, &t.head); err != nil {
			return errForm
		}
	}
	t.rows, t.at, t.number, t.steps, t.numbers, t.flaws = int(rows), 0, t.later, 0, parts[1], nil
	if !bytes.Equal(t.text, parts[0]) || json.Unmarshal(parts[2], &t.flaws) != nil || len(parts) != 3+len(t.head.Picks) {
		return errForm
	}
	if t.columns == nil {
		t.columns = make([]cursor, len(t.head.Picks))
	}
	for i := range t.columns {
		t.columns[i] = cursor{all: t.columns[i].all[:0], runs: parts[3+i]}
	}
	return nil
}

func (t *reader) failed(err error) error {
	if errors.Is(err, errForm) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &trajectory.InputError{File: t.name, What: errForm.Error(), Remedy: "have one program everywhere", Kind: trajectory.ErrFormat, Cause: err}
	}
	return err
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field {
	var all []table.Field
	for _, f := range t.head.Fields {
		all = append(all, f.Field)
	}
	return all
}

// Width implements [table.Table].
func (t *reader) Width(i int) (int, error) { return max(t.head.Fields[i].Width, 1), nil }

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	for _, p := range picks {
		i := slices.Index(t.head.Picks, pickOf(p))
		if i < 0 {
			return &trajectory.InputError{File: t.name, Column: t.head.Fields[p.Field].Name, What: "was not moved with the rows", Remedy: "evaluate in one process", Kind: trajectory.ErrColumn}
		}
		if t.wanted == nil {
			t.wanted = map[string]bool{}
		}
		t.wanted[t.head.Fields[p.Field].Name] = true
		t.picks, t.from = append(t.picks, p), append(t.from, i)
	}
	return nil
}

// Read implements [table.Table].
func (t *reader) Read(b *table.Batch) error {
	if t.at == t.rows {
		if err := t.next(); errors.Is(err, io.EOF) {
			return io.EOF
		} else if err != nil {
			return t.failed(err)
		}
	}
	first, n := t.at, min(b.Cap, t.rows-t.at)
	for b.Rows = 0; b.Rows < n; b.Rows++ {
		if t.steps == 0 {
			r := table.Record{Left: t.numbers}
			if t.step, t.steps = r.Signed(), r.Count(); r.Short || t.steps == 0 {
				return t.failed(errForm)
			}
			t.numbers = r.Left
		}
		t.steps--
		t.number += t.step
		b.Row[b.Rows] = t.number
		if len(t.flaws) > 0 {
			t.flawed(b, first+b.Rows)
		}
	}
	for _, i := range t.from { // a column that is not wanted stays as it is
		if p, c := t.head.Picks[i], &t.columns[i]; p.Kind != table.Key && first == 0 && c.numbers == nil {
			r := table.Record{Left: c.runs}
			if c.all = r.Numbers(c.all, t.rows, p.width()); r.Short || len(r.Left) > 0 {
				return t.failed(errForm)
			}
			c.numbers = c.all
		}
	}
	for k, p := range t.picks {
		c := t.columns[t.from[k]] // which several picks may read
		if p.Kind == table.Key {
			if err := c.deliver(&b.Keys[p.Block], n); err != nil {
				return t.failed(err)
			}
		} else {
			c.copy(&b.Blocks[p.Block], p, n)
		}
	}
	for i, p := range t.head.Picks {
		c := &t.columns[i]
		if !slices.Contains(t.from, i) {
			continue
		}
		if p.Kind != table.Key {
			c.numbers = c.numbers[p.width()*n:]
		} else if err := c.deliver(nil, n); err != nil {
			return t.failed(err)
		}
	}
	t.at += n
	return nil
}

// flawed gives what could not be read of a row in the columns that are wanted.
func (t *reader) flawed(b *table.Batch, row int) {
	for len(t.flaws) > 0 && t.flaws[0].Row == row {
		f := t.flaws[0]
		t.flaws = t.flaws[1:]
		switch err := (&trajectory.InputError{File: f.File, Row: b.Row[b.Rows], Element: f.Element, Column: f.Column, What: f.What, Remedy: f.Remedy, Kind: kinds[f.Kind%len(kinds)]}); {
		case !t.wanted[f.Column]:
		case f.Lack:
			b.Lack(f.Column)
		case f.Form:
			b.FailForm(err)
		default:
			b.Fail(err)
		}
	}
}

// deliver gives n keys; to nobody where runs is nil.
func (c *cursor) deliver(runs *table.Runs, n int) error {
	for n > 0 {
		if c.run == 0 {
			length, size := binary.Uvarint(c.runs)
			if size <= 0 || length > uint64(len(c.runs)-size) {
				return errForm
			}
			c.key, c.runs = c.runs[size:size+int(length)], c.runs[size+int(length):]
			rows, size := binary.Uvarint(c.runs)
			if size <= 0 || rows == 0 || rows > math.MaxInt32 {
				return errForm
			}
			c.run, c.runs = int(rows), c.runs[size:]
		}
		k := min(n, c.run)
		if runs != nil {
			runs.Append(c.key, k)
		}
		c.run -= k
		n -= k
	}
	return nil
}

func (c *cursor) copy(block *table.Block, p table.Pick, n int) {
	width := pickOf(p).width()
	if width == block.Width {
		copy(block.Values, c.numbers[:n*width])
		return
	}
	for row := range n {
		copy(block.Values[row*block.Width+p.Offset:], c.numbers[row*width:(row+1)*width])
	}
}

// Progress implements [table.Table].
func (t *reader) Progress() int64 { return t.bytes }

// Close implements [table.Table].
func (t *reader) Close() error { return t.file.Close() }
