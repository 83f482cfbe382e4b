package parquetfile_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// rowCounts are around the ends of bytes, of groups of 8, of batches, and of the
// blocks in which writers pad their last run.
var rowCounts = []int{1, 7, 8, 9, 63, 64, 65, 1000, 1023, 1024, 1025, 2000}

// What DuckDB, Polars, Arrow and fastparquet write is read as it was, by the
// formulas in testdata/writers/make.py: missing values, padded runs, LZ4_RAW,
// INT96 beside, both versions of pages, and lists named in three ways.
func TestOtherWriters(t *testing.T) {
	total := 0
	for _, n := range rowCounts {
		total += n
	}
	files := map[string]int{"duckdb_v2_2000": 2000, "duckdb_zstd_2000": 2000, "polars_9": 9, "polars_1025": 1025, "polars_lz4_2000": 2000,
		"fastparquet_1025": 1025, "pyarrow_lz4": total, "pyarrow_v2": total, "pyarrow_spark": total}
	for _, n := range rowCounts {
		files[fmt.Sprintf("duckdb_%d", n)] = n
	}
	for name, rows := range files {
		t.Run(name, func(t *testing.T) {
			d, _, err := read(shared+"/writers/"+name+".parquet", trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero})
			if err != nil {
				t.Fatal(err)
			}
			if d.Rows() != rows || strings.Join(d.Columns, " ") != "obs_x obs_y obs_b" {
				t.Fatalf("%d rows, columns %v; want %d rows", d.Rows(), d.Columns, rows)
			}
			for e := range d.Episodes() {
				for r := d.EpisodeStart[e]; r < d.EpisodeStart[e+1]; r++ {
					got := fmt.Sprint(d.EpisodeID[e], d.Observation(r), d.Action[r], d.Reward[r])
					if want := otherRow(r); got != want {
						t.Fatalf("row %d: got %s, want %s", r, got, want)
					}
				}
			}
			if want := (rows + 19) / 20; d.Persons() != want {
				t.Errorf("%d persons, want %d", d.Persons(), want)
			}
			if probs := d.ActionProbs; strings.HasPrefix(name, "fastparquet") == (len(probs) > 0) || len(probs) > 0 && (probs[0] != .25 || probs[2*rows-1] != .75) {
				t.Errorf("%d probabilities of actions", len(probs))
			}
		})
	}
	if have, err := filepath.Glob(shared + "/writers/*.parquet"); err != nil || len(have) != len(files) {
		t.Errorf("%d files are tried, of %d (%v)", len(files), len(have), err)
	}
}

// otherRow is the row r of make.py as text, whose missing obs_x is read as zero.
func otherRow(r int) string {
	x, b := float64(r%7)/2, 0.
	if r%5 == 0 {
		x = 0
	}
	if r%3 == 0 {
		b = 1
	}
	return fmt.Sprint(fmt.Sprintf("e%d", r/4), []float64{x, float64(r) / 8, b}, r%2, float64(r%8)/8)
}
