package parquet

import (
	"encoding/binary"
	"errors"
)

// deltaBlock is the longest block of DELTA_BINARY_PACKED; writers use 128 or
// 256.
const deltaBlock = 1 << 12

var errDelta = errors.New("malformed DELTA_BINARY_PACKED numbers")

// delta decodes numbers stored as packed differences.
type delta struct {
	b           []byte
	total       int
	mini, minis int // the size of a miniblock, and how many a block has
	first       int64
}

// newDelta reads the header, for a page of at most limit numbers.
func newDelta(b []byte, limit int) (delta, error) {
	var head [4]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return delta{}, errDelta
		}
		head[i], b = v, b[n:]
	}
	block, minis, total := head[0], head[1], head[2]
	switch {
	case block == 0 || block > deltaBlock || block%128 != 0,
		minis == 0 || block%minis != 0 || block/minis%32 != 0,
		total > uint64(limit):
		return delta{}, errDelta
	}
	return delta{b: b, total: int(total), mini: int(block / minis), minis: int(minis), first: unzigzag(head[3])}, nil
}

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// decode puts the numbers, each of width bytes, into dst, which has the room,
// and leaves in d.b what comes after them. Sums wrap round.
func (d *delta) decode(dst []byte, width int) error {
	put := func(i int, v int64) {
		if width == 4 {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(v))
		}
	}
	v := d.first
	if d.total > 0 {
		put(0, v)
	}
	for i := 1; i < d.total; {
		u, n := binary.Uvarint(d.b)
		if n <= 0 || len(d.b)-n < d.minis {
			return errDelta
		}
		least, widths := unzigzag(u), d.b[n:n+d.minis]
		d.b = d.b[n+d.minis:]
		for _, w := range widths {
			if i == d.total {
				break // the rest of the block has no body
			}
			size := d.mini / 8 * int(w)
			if int(w) > 8*width || size > len(d.b) {
				return errDelta
			}
			k := min(d.mini, d.total-i)
			for j := range k {
				v += least + int64(wide(d.b[:size], j*int(w), int(w)))
				put(i+j, v)
			}
			i += k
			d.b = d.b[size:]
		}
	}
	return nil
}

// wide is the number of up to 64 bits that starts at a bit of b.
func wide(b []byte, at, width int) uint64 {
	v, shift := word(b, at>>3)>>(at&7), at&7
	if width+shift > 64 {
		v |= uint64(b[at>>3+8]) << (64 - shift)
	}
	if width == 64 {
		return v
	}
	return v & (1<<width - 1)
}

// deltas decodes the numbers at the front of b.
func (c *Column) deltas(buffer int, b []byte, width, n int) (numbers, rest []byte, err error) {
	d, err := newDelta(b, n)
	if err != nil {
		return nil, nil, err
	}
	dst, err := sized(c.file, c.work[buffer], d.total*width, 1)
	if err != nil {
		return nil, nil, err
	}
	c.work[buffer] = dst
	err = d.decode(dst, width)
	return dst, d.b, err
}
