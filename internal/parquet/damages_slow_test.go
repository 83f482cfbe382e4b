//go:build slow

package parquet_test

// damages is the number of damaged files made of every file.
const damages = 6_000
