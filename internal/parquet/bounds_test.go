package parquet_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// Bounds are known of entries of a dictionary and of flags, and of no rows of which a value is missing or
// stands in a page without a dictionary; of a dictionary with a NaN they say nothing.
func TestBoundsAreOfAllValues(t *testing.T) {
	indices := func(n int32) craftPage {
		return data(n, format.RLEDictionary, []byte{1}, literal(1), []byte{0b110})
	}
	flags := func(up string) []byte {
		w := written{leaves: []parquet.Leaf{{Path: []string{"a"}}, {Path: []string{"b"}}, {Path: []string{"flag"}, Type: parquet.Flag}}, cells: [][][]string{{{"0"}, {"0"}, {"0"}}, {{"0"}, {"0"}, {"0"}}, {{"0"}, {up}, {"0"}}}}
		file, err := w.file(3)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, c := range map[string]struct {
		file  []byte
		want  parquet.Bounds
		known bool
	}{
		"a dictionary":          {craft{rows: 3, pages: []craftPage{dict(2, doubles(1, 2.5)), indices(3)}}.file(), parquet.Bounds{Low: 1, High: 2.5}, true},
		"of whole numbers":      {craft{rows: 3, pages: []craftPage{dict(2, doubles(-3, 2)), indices(3)}}.file(), parquet.Bounds{Low: -3, High: 2, Whole: true}, true},
		"of an infinite number": {craft{rows: 3, pages: []craftPage{dict(2, doubles(1, math.Inf(1))), indices(3)}}.file(), parquet.Bounds{Low: 1, High: math.Inf(1), Whole: true}, true},
		"of no number":          {craft{rows: 3, pages: []craftPage{dict(2, doubles(1, math.NaN())), indices(3)}}.file(), parquet.Bounds{Low: math.NaN(), High: math.NaN()}, true},
		"and other values":      {craft{rows: 3, pages: []craftPage{dict(2, doubles(1, 2)), indices(2), data(1, format.Plain, doubles(7))}}.file(), parquet.Bounds{}, false},
		"a value is missing": {craft{rows: 3, optional: true, pages: []craftPage{dict(2, doubles(1, 2)),
			data(3, format.RLEDictionary, sized(append(append(repeat(2), 1), append(repeat(1), 0)...)...), []byte{1}, literal(1), []byte{0b10})}}.file(), parquet.Bounds{}, false},
		"flags that are down": {flags("0"), parquet.Bounds{Whole: true}, true},
		"flags":               {flags("1"), parquet.Bounds{High: 1, Whole: true}, true},
	} {
		f, err := parquet.Open(bytes.NewReader(c.file), int64(len(c.file)))
		if err != nil {
			t.Fatal(name, err)
		}
		col, err := f.Column(parquet.Want{Field: 2, Null: null})
		if err != nil {
			t.Fatal(name, err)
		}
		values := make([]float64, 3)
		if err := col.Read(values, 1, 3); err != nil {
			t.Fatal(name, err)
		}
		got, known := col.Bounds()
		same := got == c.want || math.IsNaN(got.Low) && math.IsNaN(c.want.Low)
		if known != c.known || known && !same || known && !hold(got, values) {
			t.Errorf("%s: %v, %v of %v; want %v, %v", name, got, known, values, c.want, c.known)
		}
	}
}
