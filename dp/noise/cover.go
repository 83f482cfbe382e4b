package noise

import (
	"math/big"
	"math/bits"
	"slices"
	"sort"
)

const (
	stripBits = 9
	strips    = 1 << stripBits
	other     = strips - 1     // the item of the alias table that is not the body of a strip
	lowBits   = 64 - stripBits // the bits of a position within its strip
)

// cover is a set of rectangles that covers the region under scale times a curve
// and in which a uniform point (a dart) is drawn in integer arithmetic. A dart
// that falls under the curve is a draw from the curve's density; see
// docs/proofs/noise.md.
//
// The curve's domain [0, strips) is cut into strips of width 1. The hat over
// strip j has height high[j]; below low[j] the whole strip is under the curve
// (its body), and between the two (its gap) a dart is compared with the curve.
// Beyond the last strip, block m of the tail is 2^block strips wide and
// tail * 2^-m high. The areas of bodies, gaps, tail and a little waste are
// integers that add up to 2^64, so one word chooses among them without error.
type cover struct {
	curve
	alias [strips]uint64 // upper 55 bits: threshold; lower 9: the other item
	low   [strips]uint64
	high  [strips]uint64
	edges [strips + 1]uint64 // edges[j]: total area of the gaps before strip j
	tail  uint64             // height of the tail's first block
	block uint               // log2 of a block's width
	rest  uint64             // area of gaps, tail and waste
	scale *big.Int
	rate  uint64 // the curve's a for the filter: 2^74 2a if quadratic, else 2^64 a
}

// newCover builds the cover of a curve. Draws lie in strip j at j + [0, 1) if
// points is 1 and otherwise at j + i/points, i = 0..points-1; discrete says
// which. block is such that f(strips + m 2^block) <= f(strips) 2^-m.
func newCover(c curve, discrete bool, points uint64, block uint) *cover {
	t := &cover{curve: c, block: block}
	left := c.values(new(big.Rat), strips+1)
	right := left[1:]
	if discrete {
		last := new(big.Rat).SetFrac(new(big.Int).SetUint64(points-1), new(big.Int).SetUint64(points))
		right = c.values(last, strips)
	}
	scale := chooseScale(left, block)
	t.scale = new(big.Int).SetUint64(scale)
	for j := range strips {
		t.high[j] = left[j].height(scale, true)
		if j != other {
			t.low[j] = right[j].height(scale, false)
		}
		t.edges[j+1] = t.edges[j] + t.high[j] - t.low[j]
	}
	t.tail = left[strips].height(scale, true)
	weights := t.low
	for _, w := range t.low {
		weights[other] -= w // 2^64 minus the bodies, modulo 2^64
	}
	t.rest = weights[other]
	t.alias = newAlias(weights)
	t.rate = filterRate(c, discrete && points == 1)
	return t
}

// chooseScale returns a scale for which the areas stay below 2^64.
func chooseScale(left []fixed, block uint) uint64 {
	slack := big.NewInt(tableSlack)
	total := new(big.Int).Mul(slack, big.NewInt(strips))
	sums := [len(fixed{}) + 1]uint64{}
	for _, v := range left[:strips] {
		var carry uint64
		for i, word := range v {
			sums[i], carry = bits.Add64(sums[i], word, carry)
		}
		sums[len(v)] += carry
	}
	total.Add(total, integer(sums[:]))
	end := new(big.Int).Add(integer(left[strips][:]), slack)
	total.Add(total, end.Lsh(end, block+1))
	// Rounding every height up adds at most 512 + 2^(block+1) <= 640.
	available := new(big.Int).Lsh(big.NewInt(1), 64)
	available.Sub(available, big.NewInt(1024)).Lsh(available, tableBits)
	return available.Quo(available, total).Uint64() // the first strip alone makes total 2^tableBits
}

// integer is the number of which words are the digits, the least first.
func integer(words []uint64) *big.Int {
	n := new(big.Int)
	for _, word := range slices.Backward(words) {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(word))
	}
	return n
}

// height is scale times a table value, rounded so that it is surely not below
// the truth (up) or surely not above it.
func (x fixed) height(scale uint64, up bool) uint64 {
	var product [len(x) + 1]uint64
	for i, word := range x {
		hi, lo := bits.Mul64(word, scale)
		var carry uint64
		product[i], carry = bits.Add64(product[i], lo, 0)
		product[i+1] = hi + carry
	}
	var slack [len(product)]uint64
	slack[1], slack[0] = bits.Mul64(tableSlack, scale)
	shift, carry := bits.Add64, uint64(0)
	if !up {
		shift = bits.Sub64
	}
	for i := range product {
		product[i], carry = shift(product[i], slack[i], carry)
	}
	switch whole := product[len(x)]; {
	case up:
		return whole + 1
	case carry == 1:
		return 0 // the value is below its slack
	default:
		return whole
	}
}

// newAlias builds an alias table (Walker 1977, Vose 1991) of integer weights
// that add up to 2^64. It is exact: each of the 512 columns holds 2^55 of area.
func newAlias(weights [strips]uint64) (table [strips]uint64) {
	const column = 1 << lowBits
	var small, large []uint64
	for i, w := range weights {
		if w < column {
			small = append(small, uint64(i))
		} else {
			large = append(large, uint64(i))
		}
	}
	for len(small) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		table[s] = weights[s]<<stripBits | l
		weights[l] -= column - weights[s]
		if weights[l] < column {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, l := range large {
		table[l] = l // the whole column is its own
	}
	return table
}

// pick returns the item on which a uniform word falls: the number of a strip,
// for its body, or other.
func (t *cover) pick(word uint64) uint64 {
	item := word % strips
	entry := t.alias[item]
	if word>>stripBits >= entry>>stripBits {
		item = entry % strips
	}
	return item
}

// place says where in the rest of the cover a dart fell.
type place int

const (
	inGap place = iota
	inTail
	inWaste
)

// pickRest returns where a dart falls that is in no body. In a gap it also
// returns the strip and the integer part of the height.
func (t *cover) pickRest(src *Source) (at place, strip, height uint64) {
	v := src.Uint64n(t.rest)
	gaps := t.edges[strips]
	if v < gaps {
		j := uint64(sort.Search(strips, func(j int) bool { return t.edges[j+1] > v }))
		return inGap, j, t.low[j] + v - t.edges[j]
	}
	if v-gaps < t.tail<<(t.block+1) {
		return inTail, 0, 0
	}
	return inWaste, 0, 0
}

// pickTail returns where in the tail a dart falls: the block, and the height,
// which is known to be in [y, y+1) 2^-m in block m.
func (t *cover) pickTail(src *Source) (m uint64, y *prefix) {
	for {
		zeros := uint64(bits.TrailingZeros64(src.Uint64()))
		m += zeros
		if zeros < 64 {
			break
		}
	}
	return m, &prefix{z: new(big.Int).SetUint64(src.Uint64n(t.tail)), n: uint(m)}
}

// under reports whether the dart at z and height y is under the curve, exactly.
func (t *cover) under(src *Source, z, y *prefix) bool {
	return t.above(src, t.scale, z, y)
}

// newPrefix builds a prefix from the leading word of an integer.
func newPrefix(z uint64, n uint, exact bool) *prefix {
	return &prefix{z: new(big.Int).SetUint64(z), n: n, exact: exact}
}
