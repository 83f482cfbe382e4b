//go:build slow

package probe_test

var tableFormats = []string{"csv", "ndjson", "parquet"}

const tablePairs = 150
