package file

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Column is what a file says of a column before it is read.
type Column struct {
	// Name is its name in the file.
	Name string
	// Canonical is the name in the canonical schema that the reader would take it
	// for without a mapping, "" if none.
	Canonical string
	// Type is integer, number, text, date, list or empty, by the first rows of the file. Of
	// the rows themselves nothing is told.
	Type string
}

// Description is what the first rows of a file say of its form. It holds nothing of
// the data but the names and types of the columns.
type Description struct {
	// Columns are those of the file in its order, 200 at most: those that the schema
	// knows by one name go before others.
	Columns []Column
	// Left is how many more there are.
	Left int
	// Separator stands between the fields of a CSV file; 0 is a comma. It is the one
	// that makes several columns of the header.
	Separator byte
	// Rows is the one list of objects in the lines of NDJSON, whose elements are then the rows; "" if there is none.
	Rows string

	path   string
	format table.Format
}

// mostDescribed bounds the columns that are described.
const mostDescribed = 200

// Describe looks at the first file with rows of those that the patterns name.
func Describe(ctx context.Context, patterns []string, format string) (*Description, error) {
	files, err := expand(ctx, patterns, format)
	if err != nil {
		return nil, err
	}
	f, err := choose(files, format)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		d, rows, err := describe(ctx, f, path)
		if err != nil || rows > 0 {
			return d, err
		}
	}
	return nil, &trajectory.InputError{File: files[len(files)-1], What: "there is no row of data", Remedy: "check that this is the right file", Kind: trajectory.ErrEmpty}
}

// describe looks at one file, and counts the rows that it looked at.
func describe(ctx context.Context, f table.Format, path string) (*Description, int, error) {
	d := &Description{}
	csv := f.Name == csvfile.Format().Name
	if csv { // names and types of columns change nobody's record
		f = csvfile.Dialect{Multiline: true}.Format()
	}
	var fields []table.Field
	var err error
	if f.Nested != nil {
		f, fields, d.Rows, err = unnested(ctx, f, path)
	} else {
		fields, err = header(ctx, f, path)
	}
	if csv && (err != nil || len(fields) < 2) {
		for _, sep := range []byte{';', '\t', '|'} {
			g := csvfile.Dialect{Separator: sep, Multiline: true}.Format()
			if other, e := header(ctx, g, path); e == nil && len(other) > 1 {
				f, fields, d.Separator, err = g, other, sep, nil
				break
			}
		}
	}
	if err == nil {
		err = named(path, fields)
	}
	if err != nil {
		return nil, 0, err
	}
	chosen := described(fields)
	d.Left = len(fields) - len(chosen)
	var rows int
	if d.Columns, rows, err = columns(ctx, f, path, chosen); err != nil {
		return nil, 0, err
	}
	d.path, d.format = path, f
	return d, rows, nil
}

// unnested reads what is not at the top of records: columns in objects, and the rows of a list
// where there is one of objects.
func unnested(ctx context.Context, f table.Format, path string) (read table.Format, fields []table.Field, rows string, err error) {
	n := table.Nesting{All: true}
	read = f
	read.Open = func(ctx context.Context, path string) (table.Table, error) { return f.Nested(ctx, path, n) }
	if fields, err = header(ctx, read, path); err != nil {
		return read, nil, "", err
	}
	for _, x := range fields {
		switch {
		case x.Rows && rows != "":
			return read, fields, "", nil // which of them is not told
		case x.Rows:
			rows = x.Name
		}
	}
	if n.Rows = rows; rows == "" {
		return read, fields, "", nil
	}
	fields, err = header(ctx, read, path)
	return read, fields, rows, err
}

// header lists the columns of a file.
func header(ctx context.Context, f table.Format, path string) ([]table.Field, error) {
	t, err := f.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	fields := t.Fields()
	return fields, t.Close()
}

// named refuses names that no configuration can hold: of two columns, or in another
// encoding. A header whose names are numbers is a row of data, and no value of it may
// be told.
func named(file string, fields []table.Field) error {
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		switch {
		case f.Name == "":
			continue
		case strings.Trim(f.Name, "+-.0123456789eE") == "":
			return &trajectory.InputError{File: file, Row: 1, What: "the header holds a number in place of a name: it may be a row of data",
				Remedy: "write a header row with the names of the columns", Kind: trajectory.ErrColumn}
		case !utf8.ValidString(f.Name):
			return &trajectory.InputError{File: file, Row: 1, What: "the header is not UTF-8; it may be Latin-1", Remedy: "save it anew as UTF-8", Kind: trajectory.ErrFormat}
		case seen[f.Name]:
			return &trajectory.InputError{File: file, Column: f.Name, What: "two columns have this name", Remedy: "rename or remove one", Kind: trajectory.ErrColumn}
		}
		seen[f.Name] = true
	}
	return nil
}

// described chooses the columns to describe, in their order.
func described(fields []table.Field) []int {
	alias := aliases()
	var known, others []int
	for i, f := range fields {
		if alias[f.Name] != "" {
			known = append(known, i)
		} else if len(others) < mostDescribed {
			others = append(others, i)
		}
	}
	known = known[:min(len(known), mostDescribed)]
	chosen := append(known, others[:min(len(others), mostDescribed-len(known))]...)
	slices.Sort(chosen)
	return chosen
}

// aliases maps the names of the schema, and the others for them, to it. The names of
// families are not among them.
func aliases() map[string]string {
	all := map[string]string{}
	for _, name := range canon.Names() {
		if !canon.Has(name) { // it stands for a family
			continue
		}
		all[name] = name
		for _, alias := range canon.Aliases(name) {
			all[alias] = name
		}
	}
	return all
}

// columns reads the first batch of some columns as numbers, and
// counts its rows.
func columns(ctx context.Context, f table.Format, path string, chosen []int) ([]Column, int, error) {
	t, err := f.Open(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	defer t.Close()
	fields, alias := t.Fields(), aliases()
	var out []Column
	numbers := map[int]int{} // the columns that can be read as numbers, and where they are in the batch
	for i, n := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		c := Column{Name: fields[n].Name, Canonical: alias[fields[n].Name], Type: "list"}
		if canon.Has(c.Name) {
			c.Canonical = c.Name
		}
		switch {
		case fields[n].Dated:
			c.Type = "date"
		case !fields[n].List:
			c.Type = "text"
			err := t.Select([]table.Pick{{Field: n, Offset: len(numbers)}})
			if err == nil {
				numbers[i] = len(numbers)
			} else if !errors.Is(err, trajectory.ErrColumn) {
				return nil, 0, err
			}
		}
		out = append(out, c)
	}
	b := table.NewBatch([]int{len(numbers)}, 0)
	b.Reset()
	if err := t.Read(b); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	texts := textColumns(b)
	for i, offset := range numbers {
		if !texts[out[i].Name] {
			out[i].Type = typeOf(b, offset)
		}
	}
	return out, b.Rows, nil
}

// textColumns are the columns of a batch with a value that is no number.
func textColumns(b *table.Batch) map[string]bool {
	texts := map[string]bool{}
	for _, fault := range b.Faults {
		if !strings.Contains(fault.Err.What, "NaN") {
			texts[fault.Err.Column] = true
		}
	}
	return texts
}

// typeOf is the type of a column of numbers.
func typeOf(b *table.Batch, offset int) string {
	kind := "empty"
	for row := range b.Rows {
		switch v := b.Blocks[0].Values[row*b.Blocks[0].Width+offset]; {
		case table.IsNull(v):
		case v != math.Trunc(v):
			return "number"
		default:
			kind = "integer"
		}
	}
	return kind
}
