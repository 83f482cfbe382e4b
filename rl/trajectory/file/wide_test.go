package file_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// used are the columns of a wide file that are read; the others are laboratory
// values x0, x1, ...
var used = []string{"episode_id", "step", "obs_age", "obs_sex", "action", "reward"}

// wide writes a file of many columns, of which the used ones lie apart, and gives its
// size.
func wide(tb testing.TB, path string, columns, rows int) int64 {
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("x%d", i)
	}
	for i, name := range used {
		names[i*(columns-1)/(len(used)-1)] = name
	}
	r := rand.New(rand.NewPCG(5, 6))
	values := map[string]func(row int) float64{
		"episode_id": func(row int) float64 { return float64(row / 4) }, "step": func(row int) float64 { return float64(row % 4) },
		"action": func(int) float64 { return float64(r.IntN(2)) }, "obs_sex": func(int) float64 { return float64(r.IntN(2)) },
	}
	value := func(name string, row int) float64 {
		if v, ok := values[name]; ok {
			return v(row)
		}
		return float64(r.IntN(1_000_000)) / 1000
	}
	var out bytes.Buffer
	if strings.HasSuffix(path, ".csv") {
		out.WriteString(strings.Join(names, ",") + "\n")
		for row := range rows {
			for i, name := range names {
				if i > 0 {
					out.WriteByte(',')
				}
				fmt.Fprint(&out, value(name, row))
			}
			out.WriteByte('\n')
		}
	} else {
		group := parquet.Group{}
		for _, name := range names {
			group[name] = parquet.Leaf(parquet.DoubleType)
			if name == "episode_id" {
				group[name] = parquet.Int(64)
			}
		}
		schema := parquet.NewSchema("wide", group)
		w := parquet.NewGenericWriter[any](&out, schema)
		for row := range rows {
			line := make(parquet.Row, columns)
			for j, leaf := range schema.Columns() {
				v := value(leaf[0], row)
				line[j] = parquet.DoubleValue(v).Level(0, 0, j)
				if leaf[0] == "episode_id" {
					line[j] = parquet.Int64Value(int64(v)).Level(0, 0, j)
				}
			}
			if _, err := w.WriteRows([]parquet.Row{line}); err != nil {
				tb.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return int64(out.Len())
}

func readWide(tb testing.TB, path string, rows int) []string {
	o := trajectory.Options{Observations: []string{"obs_age", "obs_sex"}, Need: trajectory.Action}
	d, notices, err := file.Read(context.Background(), []string{path}, "", o)
	if err != nil || d.Rows() != rows {
		tb.Fatal(err)
	}
	return notices
}

// Reading six columns of a file with thousands takes memory in proportion to the six,
// and the notice about the others names ten of them.
func TestIgnoredColumnsCostNoMemory(t *testing.T) {
	for _, ext := range []string{".csv", ".parquet"} {
		path := filepath.Join(t.TempDir(), "wide"+ext)
		size := wide(t, path, 2000, 400)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		notices := readWide(t, path, 400)
		runtime.ReadMemStats(&after)
		if got := int64(after.TotalAlloc - before.TotalAlloc); got > size {
			t.Errorf("%s: %d bytes allocated in all to read 6 of 2000 columns of a file of %d", ext, got, size)
		}
		if got := strings.Join(notices, "\n"); !strings.Contains(got, "columns not used: ") || !strings.Contains(got, " and 1984 more") || len(got) > 1000 {
			t.Errorf("%s: notices %s", ext, got)
		}
	}
}

// Six of 5,000 columns, over 2,000 rows.
func BenchmarkReadWide(b *testing.B) {
	for _, ext := range []string{".csv", ".parquet"} {
		b.Run(ext[1:], func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "wide"+ext)
			b.SetBytes(wide(b, path, 5000, 2000))
			b.ReportAllocs()
			for b.Loop() {
				readWide(b, path, 2000)
			}
		})
	}
}
