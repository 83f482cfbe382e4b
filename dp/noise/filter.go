package noise

import (
	"math/big"
	"math/bits"
)

// verdict is what the filter knows of a dart.
type verdict int

const (
	unknown verdict = iota
	under
	over
)

// margin bounds the error of the filter's height, in units of height. Lemma 4 of
// docs/proofs/noise.md shows that the error is below 4.
const margin = 64

// filterRate returns the constant that the filter multiplies with: 2^74 2a for
// a quadratic curve, whose 2a is below 2^-10, and 2^64 a for a linear one, whose
// a is below 2^-4. Where strips are single points it is not used.
func filterRate(c curve, single bool) uint64 {
	if single {
		return 0
	}
	shift := uint(64)
	if c.quadratic {
		shift = 75
	}
	x := new(big.Int).Lsh(c.a.Num(), shift)
	return x.Quo(x, c.a.Denom()).Uint64()
}

// filter decides whether a dart in strip j, at j + [u, u+2^9] / 2^64 and with
// its height in [y, y+1), is under the curve, in integer arithmetic whose error
// is below margin. Almost all darts in gaps are decided here.
func (t *cover) filter(j, u, y uint64) verdict {
	height := t.filterHeight(j, u)
	switch {
	case y+1+margin <= height:
		return under
	case y >= height+margin:
		return over
	}
	return unknown
}

// filterHeight returns scale f(j + u/2^64) to within margin.
func (t *cover) filterHeight(j, u uint64) uint64 {
	// f(j+v) = f(j) exp(-x) with x = 2a v (j + v/2), or a v.
	x := u
	if t.quadratic {
		x, _ = bits.Mul64(u, j<<54|u>>11) // 2^54 v (j + v/2)
	}
	x, _ = bits.Mul64(t.rate, x)
	hi, lo := bits.Mul64(t.high[j], fixedExpNeg(x))
	return hi<<1 | lo>>63
}

// reciprocals holds 2^64/k for the denominators of the Taylor series, rounded
// down. The series is cut after x^17/17!; what is left is below 2^-70 for
// x <= 1/2.
var reciprocals = [...]uint64{
	2: 1 << 63, 3: (1<<64 - 1) / 3, 4: 1 << 62, 5: (1<<64 - 1) / 5, 6: (1<<64 - 1) / 6,
	7: (1<<64 - 1) / 7, 8: 1 << 61, 9: (1<<64 - 1) / 9, 10: (1<<64 - 1) / 10,
	11: (1<<64 - 1) / 11, 12: (1<<64 - 1) / 12, 13: (1<<64 - 1) / 13, 14: (1<<64 - 1) / 14,
	15: (1<<64 - 1) / 15, 16: 1 << 60, 17: (1<<64 - 1) / 17,
}

// fixedExpNeg returns 2^63 exp(-x/2^64) for x <= 2^63, with an error below
// 3 units.
func fixedExpNeg(x uint64) uint64 {
	const one = 1 << 63
	v := uint64(one)
	for k := len(reciprocals) - 1; k >= 2; k-- {
		h, _ := bits.Mul64(x, v)
		h, _ = bits.Mul64(h, reciprocals[k])
		v = one - h
	}
	h, _ := bits.Mul64(x, v)
	return one - h
}
