package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// contents is what a file holds: the numbers of a column, or its keys.
type contents struct {
	rows    int
	numbers map[string][]float64 // rows times the length of the lists
	keys    map[string][]string  // "" where one is missing
}

// keys collects.
type keys []string

func (k *keys) Append(key []byte, rows int) {
	for range rows {
		*k = append(*k, string(key))
	}
}

func (k *keys) AppendNumber(key int64, rows int) { k.Append(strconv.AppendInt(nil, key, 10), rows) }

func (k *keys) AppendUUID(b [16]byte, rows int) {
	k.Append(fmt.Appendf(nil, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), rows)
}

// null is the missing number of these tests.
const null = -12345.5

// readAll reads every column that can be read, as numbers and else as keys, in
// parts of some rows.
func readAll(data []byte, part int) (contents, error) {
	c := contents{numbers: map[string][]float64{}, keys: map[string][]string{}}
	f, err := parquet.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return c, err
	}
	defer f.Close()
	c.rows = int(f.Rows())
	for i, field := range f.Fields() {
		if field.Dated {
			if err := timesOf(f, i); err != nil {
				return c, err
			}
		}
		err := c.number(f, i, part)
		if errors.Is(err, parquet.ErrColumn) {
			err = c.key(f, i, part)
		}
		if err != nil && (!errors.Is(err, parquet.ErrColumn) || field.Name == "obs_x") {
			return c, err
		}
	}
	return c, nil
}

// timesOf reads a column as times, of which only damage is told.
func timesOf(f *parquet.File, field int) error {
	col, err := f.Column(parquet.Want{Field: field, As: parquet.Times, Null: null})
	if err != nil {
		return err
	}
	defer col.Close()
	for left := int(f.Rows()); left > 0; left -= 1000 {
		if err := col.Read(make([]float64, 1000), 1, min(left, 1000)); err != nil {
			return err
		}
	}
	return nil
}

func (c *contents) number(f *parquet.File, field, part int) error {
	width, err := f.ListLength(field)
	if err != nil {
		return err
	}
	col, err := f.Column(parquet.Want{Field: field, Length: width, Null: null})
	if err != nil {
		return err
	}
	defer col.Close()
	var all []float64
	for rows := c.rows; rows > 0; rows -= part {
		n := min(rows, part)
		dst := make([]float64, n*width)
		if err := col.Read(dst, width, n); err != nil {
			return err
		}
		if b, known := col.Bounds(); known && !hold(b, dst) {
			panic(fmt.Sprintf("%v do not hold %v", b, dst)) // where no error is looked for either
		}
		all = append(all, dst...)
	}
	c.numbers[f.Fields()[field].Name] = all
	return nil
}

// hold tells that bounds are right. Those with a NaN say nothing.
func hold(b parquet.Bounds, values []float64) bool {
	for _, v := range values {
		if v < b.Low || v > b.High || v != v && b.Low <= b.High || b.Whole && v != math.Trunc(v) {
			return false
		}
	}
	return true
}

func (c *contents) key(f *parquet.File, field, part int) error {
	col, err := f.Column(parquet.Want{Field: field, As: parquet.Keys})
	if err != nil {
		return err
	}
	defer col.Close()
	var all keys
	for rows := c.rows; rows > 0; rows -= part {
		if err := col.ReadKeys(&all, min(rows, part)); err != nil {
			return err
		}
	}
	c.keys[f.Fields()[field].Name] = all
	return nil
}

// cause is the error beneath that of a file.
func cause(err error) error {
	var e *parquet.Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return nil
}

// Every NaN of a file becomes the plain one, so that no file can forge the
// missing number of its reader.
func TestNaNsAreThePlainOne(t *testing.T) {
	forged := math.Float64frombits(0x7ff8_0000_0000_07a2)
	file := craft{rows: 3, pages: []craftPage{data(3, plainEncoding, doubles(1, forged, 2))}}.file()
	c, err := readAll(file, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Float64bits(c.numbers["obs_x"][1]); got != math.Float64bits(math.NaN()) {
		t.Errorf("a NaN came through as %#x", got)
	}
}
