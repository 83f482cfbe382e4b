package noise

import "math/big"

// discrete draws an integer k with probability proportional to f(|k|/2^points).
// A strip holds 2^points integers; the sign is drawn apart, and minus zero is
// rejected so that zero does not count twice.
type discrete struct {
	cover  *cover
	points uint
}

// newDiscrete builds the cover of a curve whose strips hold 2^points integers.
func newDiscrete(c curve, points, block uint) discrete {
	return discrete{newCover(c, true, 1<<points, block), points}
}

// sample draws one integer.
func (d *discrete) sample(src *Source) int64 {
	for {
		strip := d.cover.pick(src.Uint64())
		if strip == other {
			if k, ok := d.sampleRest(src); ok {
				return k
			}
			continue
		}
		word := src.Uint64()
		k := strip<<d.points | word>>1&(1<<d.points-1)
		if k == 0 && word&1 == 1 {
			continue
		}
		return signed(k, word&1)
	}
}

// sampleRest finishes a draw that is in no body; ok is false if it is rejected.
func (d *discrete) sampleRest(src *Source) (k int64, ok bool) {
	at, strip, height := d.cover.pickRest(src)
	switch at {
	case inWaste:
		return 0, false
	case inTail:
		return d.sampleTail(src)
	}
	word := src.Uint64()
	low := word >> 1 & (1<<d.points - 1)
	z, sign := strip<<d.points|low, word&1
	if z == 0 && sign == 1 {
		return 0, false
	}
	switch d.cover.filter(strip, low<<(64-d.points), height) {
	case under:
		return signed(z, sign), true
	case over:
		return 0, false
	}
	x, y := newPrefix(z, d.points, true), newPrefix(height, 0, false)
	return signed(z, sign), d.cover.under(src, x, y)
}

// sampleTail finishes a draw beyond the last strip.
func (d *discrete) sampleTail(src *Source) (k int64, ok bool) {
	m, y := d.cover.pickTail(src)
	word := src.Uint64()
	width := d.points + d.cover.block // log2 of the integers in a block; at most 41
	z := new(big.Int).SetUint64(m)
	z.Lsh(z, width).Add(z, new(big.Int).SetUint64(word>>1&(1<<width-1)))
	z.Add(z, new(big.Int).Lsh(big.NewInt(strips), d.points))
	x := &prefix{z: z, n: d.points, exact: true}
	if !d.cover.under(src, x, y) {
		return 0, false
	}
	return signed(saturate(z), word&1), true
}
