package spill

import (
	"encoding/binary"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// How actions are written.
const (
	inFull  = iota
	inBytes // from 0 to 255
)

// actions appends a column of actions.
func actions(dst []byte, values []int32) []byte {
	if len(values) == 0 {
		return dst
	}
	from := len(dst)
	dst = append(slices.Grow(dst, 1+len(values)), inBytes)
	bytes := dst[from+1:][:len(values)]
	for i, a := range values {
		if bytes[i] = byte(a); int32(bytes[i]) != a {
			return allActions(dst[:from], values)
		}
	}
	return dst[:from+1+len(values)]
}

func allActions(dst []byte, values []int32) []byte {
	dst = append(dst, inFull)
	for _, a := range values {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(a))
	}
	return dst
}

func readActions(r *table.Record, dst []int32, rows int) []int32 {
	dst = slices.Grow(dst[:0], rows+1)
	if rows == 0 {
		return dst
	}
	switch r.Byte() {
	case inBytes:
		for _, b := range r.Bytes(rows) {
			dst = append(dst, int32(b))
		}
	case inFull:
		for b := r.Bytes(4 * rows); len(b) > 0; b = b[4:] {
			dst = append(dst, int32(binary.LittleEndian.Uint32(b)))
		}
	default:
		r.Short = true
	}
	return dst
}
