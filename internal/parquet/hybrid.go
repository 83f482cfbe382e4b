package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// hybrid decodes runs, each of one repeated number or of numbers packed to a
// fixed number of bits: the encoding of levels and of dictionary indices. It
// decodes as many at a time as it is asked for, so that a long run costs
// nothing.
type hybrid struct {
	b     []byte // the runs to come
	width int
	limit uint64 // every number is below
	left  int    // numbers that may still come in new runs

	same   int // left of a run of one number
	value  uint64
	packed int    // left of a packed run
	bits   []byte // of it, and what follows: eight bytes can be loaded all but at the end of a page
	at     int    // bit
}

var (
	errRunShort = errors.New("a run is cut short")
	errRunLong  = errors.New("a run is longer than its page")
	errRunValue = errors.New("a level or a dictionary index is out of range")
)

// newHybrid decodes at most n numbers of width bits, all below limit.
func newHybrid(b []byte, width int, limit uint64, n int) (hybrid, error) {
	if width > 32 {
		return hybrid{}, fmt.Errorf("numbers of %d bits in runs", width)
	}
	return hybrid{b: b, width: width, limit: limit, left: n}, nil
}

// load starts the next run when the last one is used up.
func (h *hybrid) load() error {
	for h.same == 0 && h.packed == 0 {
		if h.left == 0 {
			return errRunShort
		}
		head, n := binary.Uvarint(h.b)
		if n <= 0 {
			return errRunShort
		}
		h.b = h.b[n:]
		var err error
		if head&1 == 0 {
			err = h.repeated(head >> 1)
		} else {
			err = h.literal(head >> 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *hybrid) repeated(n uint64) error {
	size := (h.width + 7) / 8
	if n > (uint64(h.left)+7)/8*8 { // a last group of 8 may have padding
		return errRunLong
	}
	n = min(n, uint64(h.left))
	if size > len(h.b) {
		return errRunShort
	}
	h.value, h.same = word(h.b, 0)&(1<<(8*size)-1), int(n)
	h.b = h.b[size:]
	if n > 0 && (h.value >= h.limit || h.value>>h.width != 0) {
		return errRunValue
	}
	h.left -= int(n)
	return nil
}

// literal starts a run of groups of 8. The last may have padding, which some
// writers leave out; others add whole groups of it, which must then be there.
func (h *hybrid) literal(groups uint64) error {
	wanted := (uint64(h.left) + 7) / 8
	if groups > wanted && h.width > 0 && groups > uint64(len(h.b)/h.width) {
		return errRunLong
	}
	n := int(min(8*min(groups, wanted), uint64(h.left)))
	need, all := (n*h.width+7)/8, int(groups)*h.width
	if need > len(h.b) {
		return errRunShort
	}
	all = min(all, len(h.b))
	h.bits, h.b = h.b, h.b[all:]
	h.at, h.packed = 0, n
	h.left -= n
	return nil
}

// fill decodes the next len(dst) numbers.
func fill[T uint8 | uint32](h *hybrid, dst []T) error {
	for len(dst) > 0 {
		if err := h.load(); err != nil {
			return err
		}
		if h.same > 0 {
			n := min(h.same, len(dst))
			v := T(h.value)
			for i := range dst[:n] {
				dst[i] = v
			}
			h.same -= n
			dst = dst[n:]
			continue
		}
		n := min(h.packed, len(dst))
		if err := unpack(h, dst[:n]); err != nil {
			return err
		}
		h.packed -= n
		dst = dst[n:]
	}
	return nil
}

func unpack[T uint8 | uint32](h *hybrid, dst []T) error {
	mask, highest, at, width := uint64(1)<<h.width-1, uint64(0), h.at, h.width
	if width > 0 && width <= 8 && at&7 == 0 { // eight numbers are in eight bytes
		n := 0
		for b := h.bits[at>>3:]; len(dst)-n >= 8 && len(b) >= 8; b = b[width:] {
			v, to := binary.LittleEndian.Uint64(b), (*[8]T)(dst[n:])
			for i := 0; i < 8; i += 4 { // shifts by less than 64, which needs no look
				a, b, c, d := v&mask, v>>(width&63)&mask, v>>(2*width&63)&mask, v>>(3*width&63)&mask
				to[i], to[i+1], to[i+2], to[i+3] = T(a), T(b), T(c), T(d)
				highest = max(highest, a, b, c, d)
				v >>= 4 * width & 63
			}
			n += 8
		}
		at, dst = at+n*width, dst[n:]
	}
	// As long as eight bytes can be loaded, there is no need to look.
	quick := 0
	if room := 8*len(h.bits) - 64 - at; room >= 0 && width > 0 {
		quick = min(len(dst), room/width+1)
	}
	for i := range dst[:quick] {
		v := binary.LittleEndian.Uint64(h.bits[at>>3:]) >> (at & 7) & mask
		at += width
		highest = max(highest, v)
		dst[i] = T(v)
	}
	for i := quick; i < len(dst); i++ {
		v := word(h.bits, at>>3) >> (at & 7) & mask
		at += width
		highest = max(highest, v)
		dst[i] = T(v)
	}
	h.at = at
	if highest >= h.limit {
		return errRunValue
	}
	return nil
}

// word is the eight bytes from b[i], with zeros beyond the end.
func word(b []byte, i int) uint64 {
	if i+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:])
	}
	var last [8]byte
	if i < len(b) {
		copy(last[:], b[i:])
	}
	return binary.LittleEndian.Uint64(last[:])
}

// constant tells of how many numbers, at most n, are known to be the same
// without a look at each, and which; 0 when the next run is packed.
func (h *hybrid) constant(n int) (uint64, int, error) {
	if h.width == 0 { // no bits are needed for a zero
		return 0, n, nil
	}
	if err := h.load(); err != nil {
		return 0, 0, err
	}
	return h.value, min(h.same, n), nil
}

// pass leaves out n numbers that constant has told of.
func (h *hybrid) pass(n int) {
	if h.width > 0 {
		h.same -= n
	}
}
