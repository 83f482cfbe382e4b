package noise

import (
	"math/big"
	"math/bits"
)

// guard is the number of bits that expNeg carries below the last one it
// returns.
const guard = 64

// expNeg encloses an exponential in fixed point: lo <= 2^p exp(-num/den) <= hi
// with hi-lo <= 3, for num >= 0, den > 0 and 0 < p < 2^20. The proof is in
// docs/proofs/noise.md, lemma 5.
func expNeg(num, den *big.Int, p uint) (lo, hi *big.Int) {
	limit := new(big.Int).Mul(den, big.NewInt(int64(p)))
	if num.Cmp(limit) >= 0 {
		return new(big.Int), big.NewInt(1) // exp(-p) < 2^-p
	}
	// Halve the argument s times so that it is below 2^-8, sum the series, and
	// square s times.
	s := uint(bits.Len(p)) + 8
	w := p + guard
	r := new(big.Int).Lsh(num, w-s)
	r.Quo(r, den)
	v := expSeries(r, w)
	for range s {
		v.Mul(v, v).Rsh(v, w)
	}
	v.Rsh(v, guard)
	lo = new(big.Int).Sub(v, big.NewInt(1))
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	return lo, v.Add(v, big.NewInt(2))
}

// expSeries sums the Taylor series of 2^w exp(-r/2^w) for 0 <= r < 2^(w-8).
func expSeries(r *big.Int, w uint) *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(1), w)
	term := new(big.Int).Set(sum)
	divisor := new(big.Int)
	for k := int64(1); ; k++ {
		term.Mul(term, r).Rsh(term, w)
		term.Quo(term, divisor.SetInt64(k))
		if term.Sign() == 0 {
			return sum
		}
		if k%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
}

// prefix is a real number of which the leading bits are known: it lies in
// [z, z+1) / 2^n, or is z/2^n if exact.
type prefix struct {
	z     *big.Int
	n     uint
	exact bool
}

// extend draws the next 64 bits of a number that is not exact.
func (x *prefix) extend(src *Source) {
	if x.exact {
		return
	}
	x.z.Lsh(x.z, 64)
	x.z.Or(x.z, new(big.Int).SetUint64(src.Uint64()))
	x.n += 64
}

// end is the least integer that bounds 2^n times the number from above.
func (x *prefix) end() *big.Int {
	if x.exact {
		return x.z
	}
	return new(big.Int).Add(x.z, big.NewInt(1))
}
