package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// Any bytes are an error of this package or columns of as many rows as the file
// has, which do not depend on how many are read at a time; nothing panics.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, path := range append(files, "testdata/writers/duckdb_9.parquet", "testdata/writers/polars_9.parquet", "testdata/times/duckdb.parquet", "testdata/times/pyarrow_int96.parquet") {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, data := range handmade() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := readAll(bytes.Clone(data), 1024)
		if err != nil {
			var known *parquet.Error
			if !errors.As(err, &known) {
				t.Fatalf("%v is no error of this package", err)
			}
			return
		}
		if c.rows > 1<<12 {
			return
		}
		again, err := readAll(data, 7)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(c) {
			t.Fatalf("read 7 rows at a time: %v, or other contents", err)
		}
	})
}
