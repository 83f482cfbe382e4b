// Package fuzzmain lets fuzz targets of long inputs get on. Whenever an input
// reaches new code, go test -fuzz spends up to a minute on making it shorter; a
// file of some kilobytes takes all of it, and code whose coverage varies from
// run to run (pools, goroutines of decompressors) reaches "new" code all the
// time. Call [Main] from TestMain.
package fuzzmain

import (
	"flag"
	"testing"
)

// Main runs the tests. While they are fuzzed, an input is made shorter by at most
// 10 trials, unless -fuzzminimizetime says otherwise.
func Main(m *testing.M) int {
	const name = "test.fuzzminimizetime"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		if err := flag.Set(name, "10x"); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
