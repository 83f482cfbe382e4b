package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// continuous draws a real number with density proportional to f(|x|) on the line, scales it, and
// rounds it to the nearest integer. The distribution of the integer is exact: the real number is
// never formed, only as many of its bits as determine the integer.
type continuous struct {
	cover *cover
	mant  uint64 // the scale is mant 2^(shift-lowBits) in units of a strip
	shift uint   // the position of the binary point in mant * z; 65..127
}

// newContinuous returns the sampler for a scale of x units, of which
// 2^unit strips make one.
func newContinuous(c *cover, x float64, unit int) continuous {
	m, e := dyadic(x)
	return continuous{cover: c, mant: m, shift: uint(lowBits + unit - e)}
}

// sample draws one integer. All but the first lines are for the few draws in a
// hundred that are not in the body of a strip.
func (g *continuous) sample(src *Source) int64 {
	for {
		strip := g.cover.pick(src.Uint64())
		if strip != other {
			word := src.Uint64()
			return g.finish(src, strip<<lowBits|word>>stripBits, word&1)
		}
		z, far, sign, ok := g.cover.drawRest(src)
		switch {
		case !ok:
		case far != nil:
			return g.round(src, far, sign)
		default:
			return g.finish(src, z, sign)
		}
	}
}

// finish rounds the draw whose first 64 bits are z and whose sign is negative if
// sign is 1.
func (g *continuous) finish(src *Source, z, sign uint64) int64 {
	// mant (z + [0,1)) = scaled [hi:lo, hi:lo + mant); one half is added, and
	// the integer is certain unless a multiple of 2^shift lies in between.
	hi, lo := bits.Mul64(g.mant, z)
	hi += 1 << (g.shift - 65)
	_, carry := bits.Add64(lo, g.mant, 0)
	s := g.shift - 64
	k := hi >> s
	if (hi+carry)>>s != k {
		return g.round(src, newPrefix(z, lowBits, false), sign)
	}
	return signed(k, sign)
}

// signed returns k, or -k if sign is 1.
func signed(k, sign uint64) int64 { return int64((k ^ -sign) + sign) }

// round scales and rounds x, drawing more of its bits until the integer is
// certain.
func (g *continuous) round(src *Source, x *prefix, sign uint64) int64 {
	mant := new(big.Int).SetUint64(g.mant)
	for {
		shift := g.shift - lowBits + x.n
		// mant (z + [0,1)) + 1/2 lies in [first, last+1) / 2^shift.
		first := new(big.Int).Mul(mant, x.z)
		first.Add(first, new(big.Int).Lsh(big.NewInt(1), shift-1))
		last := new(big.Int).Add(first, new(big.Int).SetUint64(g.mant-1))
		first.Rsh(first, shift)
		if last.Rsh(last, shift).Cmp(first) == 0 {
			return signed(saturate(first), sign)
		}
		x.extend(src)
	}
}

// saturate returns k, or 2^63-1 if k is larger, which for a scale of at most
// 2^40 has a probability below exp(-2^22).
func saturate(k *big.Int) uint64 {
	if !k.IsInt64() {
		return math.MaxInt64
	}
	return k.Uint64()
}
