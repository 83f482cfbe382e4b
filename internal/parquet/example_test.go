package parquet_test

import (
	"bytes"
	"fmt"
	"math"
	"os"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// The first rows of two columns of a file that DuckDB wrote.
func Example() {
	data, err := os.ReadFile("testdata/writers/duckdb_9.parquet")
	if err != nil {
		panic(err)
	}
	f, err := parquet.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for i, field := range f.Fields() {
		if field.Name != "obs_x" && field.Name != "action_probs" {
			continue
		}
		n, err := f.ListLength(i)
		if err != nil {
			panic(err)
		}
		c, err := f.Column(parquet.Want{Field: i, Length: n, Null: math.Inf(-1)})
		if err != nil {
			panic(err)
		}
		values := make([]float64, 3*n)
		if err := c.Read(values, n, 3); err != nil {
			panic(err)
		}
		fmt.Println(field.Name, values, "of", f.Rows(), "rows")
	}
	// Output:
	// obs_x [-Inf 0.5 1] of 9 rows
	// action_probs [0.25 0.75 0.25 0.75 0.25 0.75] of 9 rows
}
