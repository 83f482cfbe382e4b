//go:build slow

package parquet_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// Pages, dictionaries that fill, and those that are given up.
func TestLongColumnsRoundTrip(t *testing.T) {
	const rows = 40_000
	r := rand.New(rand.NewPCG(7, 1))
	w := written{}
	for i, c := range []struct {
		leaf   parquet.Leaf
		values int
	}{
		{parquet.Leaf{}, 4}, {parquet.Leaf{}, 5000}, {parquet.Leaf{}, 1 << 40}, {parquet.Leaf{Optional: true}, 1 << 40},
		{parquet.Leaf{Type: parquet.Flag}, 2}, {parquet.Leaf{Type: parquet.Integer, Optional: true}, 17}, {parquet.Leaf{List: true}, 9},
	} {
		c.leaf.Path = []string{fmt.Sprint("c", i)}
		w.leaves, w.cells = append(w.leaves, c.leaf), append(w.cells, cells(r, c.leaf, rows, c.values, false))
	}
	once, often := make([][]string, rows), make([][]string, rows)
	for i := range rows {
		once[i], often[i] = []string{fmt.Sprint("person-", i)}, []string{fmt.Sprint("person-", i/4)}
	}
	for _, texts := range [][][]string{once, often} {
		w.leaves = append(w.leaves, parquet.Leaf{Path: []string{fmt.Sprint("t", len(w.leaves))}, Type: parquet.Text})
		w.cells = append(w.cells, texts)
	}
	file, err := w.file(1024)
	if err != nil {
		t.Fatal(err)
	}
	w.check(t, file)
}

// Memory does not grow with the rows, and what is one and the same in all of them takes so
// much room that a reader does not take the file for a hostile one.
func TestWriterIsBounded(t *testing.T) {
	write := func(to interface{ Write([]byte) (int, error) }, rows int) uint64 {
		w := parquet.NewWriter(to, "table", []parquet.Leaf{{Path: []string{"id"}, Type: parquet.Text}, {Path: []string{"x"}}, {Path: []string{"up"}, Type: parquet.Flag}})
		return allocated(func() {
			for range rows / 4096 {
				w.Column(0).Text("the same", 4096)
				for range 4096 {
					w.Column(1).Double(1)
					w.Column(2).Flag(true)
				}
				if err := w.Advance(4096); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := write(new(zeros), 1<<20), write(new(zeros), 1<<22)
	if many > few+1<<18 {
		t.Errorf("asked for %d bytes for 2^20 rows, %d for 2^22", few, many)
	}
	var file bytes.Buffer
	write(&file, 1<<21)
	c, err := readAll(file.Bytes(), 1<<14)
	if err != nil || len(c.keys["id"]) != 1<<21 || c.keys["id"][1<<21-1] != "the same" || c.numbers["up"][77] != 1 {
		t.Errorf("%d bytes: %v (%v)", file.Len(), err, cause(err))
	}
}

// One long list has a reader give every other row its length: there is room for that too.
func TestOneLongListIsRead(t *testing.T) {
	var file bytes.Buffer
	w := parquet.NewWriter(&file, "table", []parquet.Leaf{{Path: []string{"observation"}, List: true}})
	const rows, length = 1 << 13, 1000
	w.Column(0).Doubles(make([]float64, length))
	for range rows - 1 {
		w.Column(0).Doubles(nil)
	}
	if err := w.Advance(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := readAll(file.Bytes(), 64); err != nil || len(c.numbers["observation"]) != rows*length {
		t.Errorf("%d bytes: %v (%v)", file.Len(), err, cause(err))
	}
}
