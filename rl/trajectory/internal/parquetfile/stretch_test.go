package parquetfile_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// rest reads a key and two numbers of a table until it ends.
func rest(in table.Table) (rows []string, err error) {
	b := table.NewBatch([]int{2}, 1)
	for {
		b.Reset()
		if err := in.Read(b); err != nil {
			return rows, err
		}
		for r := range b.Rows {
			rows = append(rows, fmt.Sprintf("row %d: %x %q", b.Row[r], b.Blocks[0].Values[2*r:2*r+2], b.Keys[0].At(r)))
		}
	}
}

// The stretches of a file deliver its rows, each its own and, beyond its end, all
// others, read at one time: row groups and pages of any length, dictionaries and plain
// pages of both versions, missing values, and pieces that end within pages. So do its parts.
func TestStretchesDeliverTheFile(t *testing.T) {
	double := parquet.Leaf(parquet.DoubleType)
	rapid.Check(t, func(t *rapid.T) {
		key, number := parquet.String(), parquet.Optional(double)
		if rapid.Bool().Draw(t, "dictionaries") {
			key, number = parquet.Encoded(key, &parquet.RLEDictionary), parquet.Encoded(number, &parquet.RLEDictionary)
		}
		var file bytes.Buffer
		w := parquet.NewGenericWriter[any](&file, parquet.NewSchema("x", parquet.Group{"a": key, "b": number, "c": double}),
			parquet.Compression(&parquet.Snappy), parquet.PageBufferSize(rapid.SampledFrom([]int{64, 200, 5000}).Draw(t, "page")),
			parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")))
		n := rapid.SampledFrom([]int{1, 7, 90, 400, 1200}).Draw(t, "rows")
		group := rapid.SampledFrom([]int{40, 333, 5000}).Draw(t, "group")
		run := rapid.SampledFrom([]int{1, 5, 2000}).Draw(t, "run")
		for i := range n {
			row := parquet.Row{parquet.ByteArrayValue(fmt.Appendf(nil, "k%d", i/run)).Level(0, 0, 0), parquet.DoubleValue(float64(i)/2).Level(0, 1, 1), parquet.DoubleValue(float64(-i%17)).Level(0, 0, 2)}
			if i%5 == 3 {
				row[1] = parquet.NullValue().Level(0, 0, 1)
			}
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
			if i%group == group-1 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		picks := []table.Pick{{Field: 0, Kind: table.Key}, {Field: 1}, {Field: 2, Offset: 1}}
		open := func() table.Table {
			in, err := parquetfile.New(bytes.NewReader(file.Bytes()), int64(file.Len()), "x")
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
		one := open()
		defer one.Close()
		if err := one.Select(picks); err != nil {
			t.Fatal(err)
		}
		want, err := rest(one)
		if err != io.EOF || len(want) != n {
			t.Fatal(len(want), err)
		}

		in := open()
		defer in.Close()
		least := int64(rapid.SampledFrom([]int{20, 50, 700}).Draw(t, "least"))
		cut := parquetfile.CutBy(in, rapid.IntRange(2, 5).Draw(t, "workers"), least)
		got, beyond, ends := make([][]string, len(cut)), make([][]string, len(cut)), make([][2]int64, len(cut))
		errs := make([]error, len(cut))
		var wg sync.WaitGroup
		for i, stretch := range cut {
			wg.Go(func() {
				s, err := stretch()
				if err == nil {
					err = s.Select(picks)
				}
				if err != nil {
					errs[i] = err
					return
				}
				defer s.Close()
				got[i], errs[i] = rest(s)
				s.Beyond()
				beyond[i], _ = rest(s)
				ends[i][0], ends[i][1] = s.Span()
			})
		}
		wg.Wait()
		for i := range cut {
			if errs[i] != io.EOF || i > 0 && ends[i][0] != ends[i-1][1] {
				t.Fatalf("stretch %d of %d: %v, %v", i, len(cut), errs[i], ends)
			}
			if i < len(cut)-1 && ends[i][1]-ends[i][0] < least/2 {
				t.Fatalf("stretch %d of %d is shorter than half of %d rows: %v", i, len(cut), least, ends)
			}
			if all := slices.Concat(slices.Concat(got[:i+1]...), beyond[i]); !slices.Equal(want, all) {
				t.Fatalf("beyond stretch %d of %d: %s", i, len(cut), cmp.Diff(want, all))
			}
		}
		if all := slices.Concat(got...); len(cut) > 0 && !slices.Equal(want, all) {
			t.Fatal(cmp.Diff(want, all))
		}

		parts, all := rapid.SampledFrom([]int{1, 2, 7, 100, 2000}).Draw(t, "parts"), []string(nil)
		for i := range parts {
			s, err := in.(table.Cuttable).Part(i, parts)
			if err == nil {
				err = s.Select(picks)
			}
			if err != nil {
				t.Fatal(err)
			}
			rows, err := rest(s)
			if all = append(all, rows...); err != io.EOF || len(rows) > n/parts+1 {
				t.Fatalf("part %d of %d of %d rows has %d: %v", i, parts, n, len(rows), err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(want, all) {
			t.Fatal(cmp.Diff(want, all))
		}
	})
}
