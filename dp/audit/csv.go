package audit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// worldColumn is the column of a file of samples that says which dataset a row is of.
const worldColumn = "world"

// ReadSamples reads samples from CSV with a header: a column world, 0 or 1, and one
// column or more of numbers, of which each row is the outcome of one run. Words are
// to be coded as numbers beforehand. Errors name row and column.
func ReadSamples(r io.Reader) (Samples, error) {
	var s Samples
	c := csv.NewReader(r)
	c.ReuseRecord = true
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return s, fmt.Errorf("%w: the file is empty; want a header and rows", ErrSamples)
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrSamples, err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	world := slices.Index(header, worldColumn)
	if world < 0 {
		return s, fmt.Errorf("%w: row 1: no column %q; it says which dataset a row is of, 0 or 1", ErrSamples, worldColumn)
	}
	s.Columns = slices.Delete(slices.Clone(header), world, world+1)
	if n := len(s.Columns); n < 1 || n > mostColumns {
		return s, fmt.Errorf("%w: row 1: %d columns beside %q; want 1 to %d", ErrSamples, n, worldColumn, mostColumns)
	}
	if name := repeated(header); name != "" {
		return s, fmt.Errorf("%w: row 1: two columns are named %q; give each a name of its own", ErrSamples, name)
	}
	for row := 2; ; row++ {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			return s, s.validate()
		}
		if err != nil {
			return s, fmt.Errorf("%w: %w", ErrSamples, err)
		}
		w := slices.Index([]string{"0", "1"}, fields[world])
		if w < 0 {
			return s, fmt.Errorf("%w: row %d: %s: %q; want 0 or 1", ErrSamples, row, worldColumn, fields[world])
		}
		x, err := values(fields, header, world, row)
		if err != nil {
			return s, err
		}
		s.Worlds[w] = append(s.Worlds[w], x)
		if row > most {
			return s, fmt.Errorf("%w: more than %d rows", ErrSamples, most)
		}
	}
}

// repeated is the first name that a column before it has, "" where there is none. One of
// two columns of that name would be read as an outcome, though it may tell the world.
func repeated(header []string) string {
	for i, name := range header {
		if slices.Contains(header[:i], name) {
			return name
		}
	}
	return ""
}

// values are the numbers of a row.
func values(fields, header []string, world, row int) ([]float64, error) {
	x := make([]float64, 0, len(fields)-1)
	for i, field := range fields {
		if i == world {
			continue
		}
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || v-v != 0 {
			return nil, fmt.Errorf("%w: row %d: %q: %q; want a finite number: code words and missing values as numbers", ErrSamples, row, header[i], field)
		}
		x = append(x, v)
	}
	return x, nil
}
