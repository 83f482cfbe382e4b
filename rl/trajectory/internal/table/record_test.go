package table

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Numbers of every kind come back bit for bit, and few of them in an eighth of the bytes.
func TestColumnsComeBackBitForBit(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8000000000001), math.Inf(-1), 255, 256, -1, 0.5, 1e300, math.SmallestNonzeroFloat64}
	r := rand.New(rand.NewPCG(5, 1))
	var column Numbers
	for try := range 5000 {
		values, kinds := make([]float64, r.IntN(40)), 1+r.IntN(20)
		for i := range values {
			if values[i] = float64(r.IntN(kinds)); try%3 == 1 {
				values[i] = odd[r.IntN(min(kinds, len(odd)))]
			} else if try%3 == 2 {
				values[i] /= 3
			}
		}
		b := AppendNumbers([]byte{7}, values)
		for n, left := 0, values; len(left) > 0; left = left[n:] {
			n = r.IntN(len(left) + 1)
			column.Add(left[:n])
		}
		if grown := column.AppendTo([]byte{7}); !slices.Equal(grown, b) {
			t.Fatalf("%v are %v, and where the column grows %v", values, b, grown)
		}
		column.Reset()
		s := &Record{Left: append(slices.Clone(b[1:]), 9)}
		got := s.Numbers(nil, len(values), 1)
		if s.Short || len(s.Left) != 1 || b[0] != 7 || !slices.EqualFunc(values, got, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
			t.Fatalf("%v come back as %v", values, got)
		}
		if whole := try%3 == 0; whole && len(b) > len(values)+2 || len(b) > 8*len(values)+2 {
			t.Errorf("%v take %d bytes", values, len(b))
		}
	}
}
