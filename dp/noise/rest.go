package noise

import "math/big"

// drawRest finishes a draw of a continuous curve that is in no body; ok is false
// if it is rejected. The magnitude of an accepted draw, in strips, lies in
// [z, z+1) 2^-lowBits, or is far if that is not nil, of which more bits may be
// known.
func (t *cover) drawRest(src *Source) (z uint64, far *prefix, sign uint64, ok bool) {
	at, strip, height := t.pickRest(src)
	switch at {
	case inWaste:
		return 0, nil, 0, false
	case inTail:
		far, sign, ok = t.drawTail(src)
		return 0, far, sign, ok
	}
	word := src.Uint64()
	z, sign = strip<<lowBits|word>>stripBits, word&1
	switch t.filter(strip, word>>stripBits<<stripBits, height) {
	case under:
		return z, nil, sign, true
	case over:
		return 0, nil, 0, false
	}
	far = newPrefix(z, lowBits, false)
	return 0, far, sign, t.under(src, far, newPrefix(height, 0, false))
}

// drawTail finishes a draw of a continuous curve beyond the last strip.
func (t *cover) drawTail(src *Source) (x *prefix, sign uint64, ok bool) {
	m, y := t.pickTail(src)
	word := src.Uint64()
	n := 63 - t.block
	z := new(big.Int).SetUint64(m)
	z.Lsh(z, 63).Add(z, new(big.Int).SetUint64(word>>1))
	z.Add(z, new(big.Int).Lsh(big.NewInt(strips), n))
	x = &prefix{z: z, n: n}
	return x, word & 1, t.under(src, x, y)
}
