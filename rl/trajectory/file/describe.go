package file

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

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
	// Type is integer, number, text, list or empty, by the first rows of the file. Of
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
}

// mostDescribed bounds the columns that are described.
const mostDescribed = 200

// Describe looks at the first file that the patterns name.
func Describe(ctx context.Context, patterns []string, format string) (*Description, error) {
	files, err := expand(patterns)
	if err != nil {
		return nil, err
	}
	f, err := choose(files, format)
	if err != nil {
		return nil, err
	}
	d := &Description{}
	fields, err := header(f, files[0])
	if f.Name == csvfile.Format().Name && (err != nil || len(fields) < 2) {
		for _, sep := range []byte{';', '\t', '|'} {
			g := csvfile.Dialect{Separator: sep}.Format()
			if other, e := header(g, files[0]); e == nil && len(other) > 1 {
				f, fields, d.Separator, err = g, other, sep, nil
				break
			}
		}
	}
	if err == nil {
		err = named(files[0], fields)
	}
	if err != nil {
		return nil, err
	}
	chosen := described(fields)
	d.Left = len(fields) - len(chosen)
	d.Columns, err = columns(ctx, f, files[0], chosen)
	return d, err
}

// header lists the columns of a file.
func header(f table.Format, path string) ([]table.Field, error) {
	t, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	fields := t.Fields()
	return fields, t.Close()
}

// named refuses a header whose names are numbers: it is a row of data, and no value
// of it may be told.
func named(file string, fields []table.Field) error {
	for _, f := range fields {
		if f.Name != "" && strings.Trim(f.Name, "+-.0123456789eE") == "" {
			return &trajectory.InputError{File: file, Row: 1, What: "the header holds a number in place of a name: it may be a row of data",
				Remedy: "write a header row with the names of the columns", Kind: trajectory.ErrColumn}
		}
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

// columns reads the first batch of some columns as numbers.
func columns(ctx context.Context, f table.Format, path string, chosen []int) ([]Column, error) {
	t, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	fields, alias := t.Fields(), aliases()
	var out []Column
	numbers := map[int]int{} // the columns that can be read as numbers, and where they are in the batch
	for i, n := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := Column{Name: fields[n].Name, Canonical: alias[fields[n].Name], Type: "list"}
		if canon.Has(c.Name) {
			c.Canonical = c.Name
		}
		if !fields[n].List {
			c.Type = "text"
			err := t.Select([]table.Pick{{Field: n, Offset: len(numbers)}})
			if err == nil {
				numbers[i] = len(numbers)
			} else if !errors.Is(err, trajectory.ErrColumn) {
				return nil, err
			}
		}
		out = append(out, c)
	}
	b := table.NewBatch([]int{len(numbers)}, 0)
	b.Reset()
	if err := t.Read(b); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	texts := textColumns(b)
	for i, offset := range numbers {
		if !texts[out[i].Name] {
			out[i].Type = typeOf(b, offset)
		}
	}
	return out, nil
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
