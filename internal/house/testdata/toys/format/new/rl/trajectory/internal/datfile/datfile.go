// Package datfile reads trajectories from text whose fields are separated by spaces: a line
// with the names of the columns, then one line a decision, as R's read.table has it. NA
// stands for a missing value. Start with [Format], which package file lists.
package datfile

import (
	"bufio"
	"context"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/textfile"
)

// Format reads and names files of fields separated by spaces.
func Format() table.Format {
	return table.Format{Name: "dat", Extensions: []string{".dat"}, Open: Open}
}

// longestLine bounds one line, in bytes.
const longestLine = 1 << 20

// reader is an open file.
type reader struct {
	name   string
	in     *textfile.Input
	lines  *bufio.Scanner
	line   int // number of the line read last, from 1
	fields []table.Field
	picks  []table.Pick
}

// Open opens a file and reads the names of its columns.
func Open(ctx context.Context, path string) (table.Table, error) {
	in, err := textfile.Open(ctx, path, ".dat")
	if err != nil {
		return nil, err
	}
	t := &reader{name: path, in: in, lines: bufio.NewScanner(in)}
	t.lines.Buffer(nil, longestLine)
	names, err := t.next()
	if err == io.EOF {
		err = &trajectory.InputError{File: path, What: "the file is empty", Remedy: "write the names of the columns and one line a decision", Kind: trajectory.ErrEmpty}
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	for _, name := range names {
		t.fields = append(t.fields, table.Field{Name: name})
	}
	return t, nil
}

// next gives the fields of the next line that is not blank, or io.EOF.
func (t *reader) next() ([]string, error) {
	for t.lines.Scan() {
		t.line++
		if fields := strings.Fields(t.lines.Text()); len(fields) > 0 {
			return fields, nil
		}
	}
	if err := t.lines.Err(); err != nil {
		return nil, &trajectory.InputError{File: t.name, Row: t.line + 1, What: "cannot be read", Remedy: "write lines of less than a megabyte", Kind: trajectory.ErrFormat, Cause: err}
	}
	return nil, io.EOF
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field { return t.fields }

// Width implements [table.Table]: no field is a list.
func (t *reader) Width(int) (int, error) { return 1, nil }

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	t.picks = append(t.picks, picks...)
	return nil
}

// Progress implements [table.Table].
func (t *reader) Progress() int64 { return t.in.Consumed() }

// Close implements [table.Table].
func (t *reader) Close() error { return t.in.Close() }

// Read implements [table.Table].
func (t *reader) Read(b *table.Batch) error {
	for b.Rows < b.Cap {
		fields, err := t.next()
		if err == io.EOF && b.Rows > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if len(fields) != len(t.fields) {
			return &trajectory.InputError{File: t.name, Row: t.line, What: "the line has another number of fields than the first", Remedy: "write NA for a missing value", Kind: trajectory.ErrFormat}
		}
		t.row(b, fields)
	}
	return nil
}

// row adds a row to the batch.
func (t *reader) row(b *table.Batch, fields []string) {
	b.Row[b.Rows] = t.line
	for _, p := range t.picks {
		text := fields[p.Field]
		if text == "NA" {
			text = ""
		}
		if p.Kind == table.Key {
			b.Keys[p.Block].Append([]byte(text[:min(len(text), table.MaxKey)]), 1)
			continue
		}
		b.Blocks[p.Block].Values[b.Rows*b.Blocks[p.Block].Width+p.Offset] = t.number(b, p, text)
	}
	b.Rows++
}

// number reads a field as a pick wants it.
func (t *reader) number(b *table.Batch, p table.Pick, text string) float64 {
	switch {
	case text == "":
		return table.Null()
	case p.Kind == table.Presence:
		return 1
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		b.Fail(&trajectory.InputError{File: t.name, Row: t.line, Column: t.fields[p.Field].Name, What: "is not a finite number", Remedy: p.Advise("write a decimal number, or NA"), Kind: trajectory.ErrValue})
		return table.Null()
	}
	return v
}
