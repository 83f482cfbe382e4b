package noise

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// curve is the unnormalised density f(z) = exp(-a z) or, if quadratic,
// exp(-a z^2), for z >= 0 in units of a strip.
type curve struct {
	a         *big.Rat
	quadratic bool
}

// enclose returns lo <= 2^p exp(-Q) <= hi at the point z/2^n, where Q is the
// curve's exponent.
func (c curve) enclose(z *big.Int, n, p uint) (lo, hi *big.Int) {
	num := new(big.Int).Mul(c.a.Num(), z)
	if c.quadratic {
		num.Mul(num, z)
		n *= 2
	}
	return expNeg(num, new(big.Int).Lsh(c.a.Denom(), n), p)
}

// above reports whether scale f(z) > y. It starts from the bits of z and y that
// are known and draws more for as long as both answers are possible, so that
// the answer is exact; it ends with probability one, and a second round has a
// probability of about 2^-50.
func (c curve) above(src *Source, scale *big.Int, z, y *prefix) bool {
	for p := 192 + z.n; ; p += 64 {
		_, upper := c.enclose(z.z, z.n, p)
		lower, _ := c.enclose(z.end(), z.n, p)
		upper.Mul(upper, scale).Lsh(upper, y.n)
		lower.Mul(lower, scale).Lsh(lower, y.n)
		if new(big.Int).Lsh(y.end(), p).Cmp(lower) <= 0 {
			return true
		}
		if new(big.Int).Lsh(y.z, p).Cmp(upper) >= 0 {
			return false
		}
		z.extend(src)
		y.extend(src)
	}
}

// tableBits is the precision at which the tables are computed, and tableSlack a
// bound on the error of their entries in units of 2^-tableBits: lemma 6 of
// docs/proofs/noise.md shows that 2^20 would do.
const (
	tableBits  = 192
	tableSlack = 1 << 32
)

// fixed is a number below 1 in units of 2^-tableBits: its words, the least first.
type fixed [tableBits / 64]uint64

// times is the product, rounded down.
func (x fixed) times(y fixed) fixed {
	var product [2 * len(x)]uint64
	for i, a := range x {
		var carry uint64
		for j, b := range y {
			hi, lo := bits.Mul64(a, b)
			var more uint64
			lo, more = bits.Add64(lo, carry, 0)
			hi += more
			product[i+j], more = bits.Add64(lo, product[i+j], 0)
			carry = hi + more
		}
		product[i+len(y)] = carry
	}
	return fixed(product[len(x):])
}

// values returns f(j + offset) for j = 0..count-1, each within tableSlack of the
// truth. It needs three exponentials and two products an entry: the second
// differences of the exponent are constant.
func (c curve) values(offset *big.Rat, count int) []fixed {
	first := new(big.Rat).Mul(c.a, offset)
	step := new(big.Rat).Set(c.a)
	bend := new(big.Rat)
	if c.quadratic {
		first.Mul(first, offset)                                                // a o^2
		step.Add(step, new(big.Rat).Mul(c.a, new(big.Rat).Add(offset, offset))) // a + 2 a o
		bend.Add(c.a, c.a)                                                      // 2 a
	}
	value, ratio, shrink := fixedExp(first), fixedExp(step), fixedExp(bend)
	out := make([]fixed, count)
	for j := range out {
		out[j] = value
		value = value.times(ratio)
		ratio = ratio.times(shrink)
	}
	return out
}

// fixedExp returns exp(-q) within 3 units, and below 1.
func fixedExp(q *big.Rat) (x fixed) {
	lo, _ := expNeg(q.Num(), q.Denom(), tableBits)
	var text [tableBits / 8]byte
	lo.FillBytes(text[:])
	for i := range x {
		x[len(x)-1-i] = binary.BigEndian.Uint64(text[8*i:])
	}
	return x
}
