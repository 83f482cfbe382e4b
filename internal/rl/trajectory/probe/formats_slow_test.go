//go:build slow

package probe_test

var tableFormats = []string{"csv", "ndjson", "parquet"}

const questionPairs, tablePairs = 150, 150
