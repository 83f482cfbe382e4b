package parquet_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// Dates and times are those that pyarrow, pandas, Polars and DuckDB wrote, by the formula of
// testdata/times/make.py, to the microsecond: of all units, with and without a zone, INT96,
// from pages with and without a dictionary.
func TestTimes(t *testing.T) {
	names, err := filepath.Glob("testdata/times/*.parquet")
	if err != nil || len(names) != 8 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.Open(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(name, err)
		}
		for i, field := range f.Fields() {
			if !field.Dated || field.Zoned != strings.HasSuffix(field.Name, "z") {
				t.Errorf("%s: %s: %+v", name, field.Name, field)
			}
			c, err := f.Column(parquet.Want{Field: i, As: parquet.Times, Null: math.Inf(1)})
			if err != nil {
				t.Fatal(name, err)
			}
			got := make([]float64, f.Rows())
			if err := c.Read(got, 1, len(got)); err != nil {
				t.Fatal(name, field.Name, err)
			}
			for r, v := range got {
				if want := timeOf(r, field.Name); v != want {
					t.Fatalf("%s: %s: row %d: %v; want %v", name, field.Name, r, v, want)
				}
			}
			for _, as := range []parquet.As{parquet.Numbers, parquet.Keys} {
				if _, err := f.Column(parquet.Want{Field: i, As: as}); !errors.Is(err, parquet.ErrColumn) {
					t.Errorf("%s: %s as %d: %v", name, field.Name, as, err)
				}
			}
		}
	}
}

// timeOf is row r of make.py.
func timeOf(r int, column string) float64 {
	const day = 86_400_000_000
	v := -40*float64(day) - 123_457 + float64(r)*(2*day+3_600_000_000+1_000_001)
	switch {
	case r%7 == 6:
		return math.Inf(1)
	case column == "day":
		return math.Floor(v/day) * day
	case strings.HasPrefix(column, "ms"):
		return math.Floor(v/1000) * 1000
	}
	return v
}

// What is no date cannot be asked for as one.
func TestNoTimes(t *testing.T) {
	text, err := os.ReadFile("testdata/flat_plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for i, field := range f.Fields() {
		if _, err := f.Column(parquet.Want{Field: i, As: parquet.Times}); (err == nil || field.Dated) && field.Name != "when" {
			t.Errorf("%s: %v", field.Name, err)
		}
	}
}
