package parquet

import (
	"encoding/binary"
	"fmt"
)

// encoded makes the values of a page, at most n of them, ready.
func (c *Column) encoded(encoding int32, b []byte, n int) error {
	v := &c.values
	*v = values{data: b, width: c.width, last: v.last[:0]}
	var err error
	switch {
	case encoding == plain && c.width == 0:
		v.form = bitForm
	case encoding == plain && c.width < 0:
		v.form = stringForm
	case encoding == plain:
	case encoding == plainDictionary || encoding == rleDictionary:
		v.form = indexForm
		if len(b) == 0 { // there are no values
			return nil
		}
		v.runs, err = newHybrid(b[1:], int(b[0]), uint64(c.dictionary.n), n)
	case encoding == rle && c.width == 0:
		v.form = runForm
		if b, _, err = prefixed(b); err == nil {
			v.runs, err = newHybrid(b, 1, 2, n)
		}
	case encoding == deltaBinary && (c.kind == int32s || c.kind == uint32s || c.kind == int64s || c.kind == uint64s):
		v.data, _, err = c.deltas(0, b, c.width, n)
	case encoding == deltaLengthBytes && c.width < 0:
		v.form = lengthForm
		v.suffix, v.data, err = c.deltas(0, b, 4, n)
	case encoding == deltaBytes && c.width != 0 && c.kind == notNumber:
		v.form = frontForm
		if v.prefix, b, err = c.deltas(1, b, 4, n); err == nil {
			v.suffix, v.data, err = c.deltas(0, b, 4, n)
		}
	case encoding == byteStreamSplit && c.width > 0:
		v.data, err = c.gather(b)
	default:
		return fmt.Errorf("values: %w %d", errEncoding, encoding)
	}
	return err
}

// prefixed cuts a part from the front of b, after its length of four bytes.
func prefixed(b []byte) (part, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errRunShort
	}
	n := binary.LittleEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return nil, nil, errRunShort
	}
	return b[:n], b[n:], nil
}
