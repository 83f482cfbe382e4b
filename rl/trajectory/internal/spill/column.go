package spill

import (
	"encoding/binary"
	"math"
	"slices"
)

// How the numbers of a column of an episode are written, each bit for bit.
const (
	inFull  = iota
	inBytes // whole numbers from 0 to 255
	inCodes // few numbers, and of each row which of them
)

const (
	mostListed = 8  // numbers of inCodes
	fewRows    = 12 // fewer are written in full or in bytes
)

// numbers appends a column.
func numbers(dst []byte, values []float64) []byte {
	if len(values) == 0 {
		return dst
	}
	from := len(dst)
	dst = append(dst, inBytes)
	for i, v := range values {
		b := uint8(int64(v))
		if math.Float64bits(float64(b)) != math.Float64bits(v) {
			return others(dst[:from], values, i)
		}
		dst = append(dst, b)
	}
	return dst
}

// others appends numbers of which one, after so many, is no byte.
func others(dst []byte, values []float64, bytes int) []byte {
	if len(values) >= fewRows && bytes < mostListed {
		from, list, listed := len(dst), [mostListed]uint64{}, 0
		dst = append(dst, inCodes, 0)
		dst = append(dst, make([]byte, 8*mostListed)...)
		last, code := uint64(0), -1
		for _, v := range values {
			if bits := math.Float64bits(v); code < 0 || bits != last {
				if last, code = bits, slices.Index(list[:listed], bits); code < 0 {
					if listed == mostListed {
						return full(dst[:from], values)
					}
					code, list[listed] = listed, bits
					listed++
				}
			}
			dst = append(dst, byte(code))
		}
		dst[from+1] = byte(listed)
		for i, bits := range list[:listed] {
			binary.LittleEndian.PutUint64(dst[from+2+8*i:], bits)
		}
		return slices.Delete(dst, from+2+8*listed, from+2+8*mostListed)
	}
	return full(dst, values)
}

func full(dst []byte, values []float64) []byte {
	dst = append(dst, inFull)
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// actions appends a column of actions.
func actions(dst []byte, values []int32) []byte {
	if len(values) == 0 {
		return dst
	}
	form := byte(inBytes)
	for _, a := range values {
		if a < 0 || a > math.MaxUint8 {
			form = inFull
		}
	}
	dst = append(dst, form)
	for _, a := range values {
		if form == inBytes {
			dst = append(dst, byte(a))
		} else {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(a))
		}
	}
	return dst
}

// numbers are never nil: the data have such a column. Memory is asked for what is there.
func (r *source) numbers(dst []float64, rows, width int) []float64 {
	n := 0
	if most := len(r.left); width == 0 || rows <= most/width {
		n = rows * width
	} else {
		r.short, r.left = true, nil
	}
	dst = slices.Grow(dst[:0], n+1)
	if n == 0 {
		return dst
	}
	switch form := r.bytes(1); {
	case r.short:
	case form[0] == inBytes:
		for _, b := range r.bytes(n) {
			dst = append(dst, float64(b))
		}
	case form[0] == inCodes:
		var list [math.MaxUint8 + 1]float64
		listed := int(max(r.byte(), 1))
		for i := range listed {
			if b := r.bytes(8); b != nil {
				list[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
			}
		}
		for _, code := range r.bytes(n) {
			r.short = r.short || int(code) >= listed
			dst = append(dst, list[code])
		}
	case form[0] == inFull:
		for b := r.bytes(8 * n); len(b) > 0; b = b[8:] {
			dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	default:
		r.short = true
	}
	return dst
}

// byte is the next byte, 0 where there is none.
func (r *source) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *source) actions(dst []int32, rows int) []int32 {
	dst = slices.Grow(dst[:0], rows+1)
	if rows == 0 {
		return dst
	}
	switch r.byte() {
	case inBytes:
		for _, b := range r.bytes(rows) {
			dst = append(dst, int32(b))
		}
	case inFull:
		for b := r.bytes(4 * rows); len(b) > 0; b = b[4:] {
			dst = append(dst, int32(binary.LittleEndian.Uint32(b)))
		}
	default:
		r.short = true
	}
	return dst
}
