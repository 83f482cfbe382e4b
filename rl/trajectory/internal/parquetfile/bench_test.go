package parquetfile_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// memory is a format whose one file is data.
func memory(data []byte) table.Format {
	return table.Format{Name: "parquet", Open: func(_ context.Context, path string) (table.Table, error) {
		return parquetfile.New(bytes.NewReader(data), int64(len(data)), path)
	}}
}

func readBytes(data []byte) (*trajectory.Dataset, error) {
	return readWith(data, trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero})
}

func readWith(data []byte, o trajectory.Options) (*trajectory.Dataset, error) {
	d, _, err := ingest.Read(context.Background(), memory(data), []string{"x.parquet"}, o)
	return d, err
}

// numbersFile is a file of columns of numbers, each of the same rows.
func numbersFile(tb testing.TB, node parquet.Node, columns, rows int) []byte {
	tb.Helper()
	g := parquet.Group{}
	for i := range columns {
		g[string(rune('a'+i))] = node
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[any](&file, parquet.NewSchema("numbers", g), parquet.Compression(&parquet.Snappy))
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		row := make(parquet.Row, columns)
		for j := range row {
			row[j] = parquet.DoubleValue(float64(rng.IntN(1000))/8).Level(0, 0, j)
			if node.Optional() {
				row[j] = row[j].Level(0, rng.IntN(2), j)
				if row[j].DefinitionLevel() == 0 {
					row[j] = parquet.NullValue().Level(0, 0, j)
				}
			}
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

// The decoder alone, into batches of eight float64 columns.
func BenchmarkTable(b *testing.B) {
	const columns, rows = 8, 200_000
	double := parquet.Leaf(parquet.DoubleType)
	for _, c := range []struct {
		name string
		node parquet.Node
	}{
		{"plain", double},
		{"dictionary", parquet.Encoded(double, &parquet.RLEDictionary)},
		{"optional", parquet.Optional(double)},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := numbersFile(b, c.node, columns, rows)
			var picks []table.Pick
			for i := range columns {
				picks = append(picks, table.Pick{Field: i, Kind: table.Number, Offset: i})
			}
			batch := table.NewBatch([]int{columns}, 0)
			for b.Loop() {
				t, err := parquetfile.New(bytes.NewReader(data), int64(len(data)), "x")
				if err == nil {
					err = t.Select(picks)
				}
				for err == nil {
					batch.Reset()
					err = t.Read(batch)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				t.Close()
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
