//go:build slow

package parquet_test

import (
	"math/rand/v2"
	"testing"
)

// Every type, encoding and compression of the module's writer, with and without
// missing values, in one of the two versions of pages, at row counts around the ends of
// bytes, of packed groups and of batches.
func TestMatrix(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	files := 0
	for kind, leaf := range kinds {
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, e := range triedEncodings(kind) {
			for _, codec := range triedCodecs {
				for _, rows := range []int{1, 7, 8, 9, 63, 64, 65, 1000, 1023, 1024, 1025, 2000} {
					for _, optional := range []bool{false, true} {
						roundTrip(t, kind, leaf, e, codec, optional, 1+rng.IntN(2), rows, rng)
						files++
					}
				}
			}
		}
	}
	t.Logf("%d files", files)
}
