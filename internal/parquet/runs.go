package parquet

import "encoding/binary"

func appendUint32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }

func appendUint64(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

// Runs of one number are written as such from this length on.
const shortRun = 16

// appendRuns appends numbers of width bits, 32 at most, as a [hybrid] reads them.
func appendRuns(dst []byte, v []uint32, width int) []byte {
	for len(v) > 0 {
		if n := same(v, len(v)); n >= shortRun || n == len(v) {
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			for b := range (width + 7) / 8 {
				dst = append(dst, byte(v[0]>>(8*b)))
			}
			v = v[n:]
			continue
		}
		n := 8
		for n < len(v) && same(v[n:], shortRun) < shortRun {
			n += 8
		}
		groups := n / 8
		n = min(n, len(v))
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		dst = appendPacked(dst, v[:n], width, groups)
		v = v[n:]
	}
	return dst
}

// same is how many numbers at the front of v, at most so many, are one and the same.
func same(v []uint32, most int) int {
	n := 1
	for n < min(most, len(v)) && v[n] == v[0] {
		n++
	}
	return n
}

// appendPacked appends groups of eight numbers of width bits, from the lowest bit on, the
// last one with zeros behind what there is.
func appendPacked(dst []byte, v []uint32, width, groups int) []byte {
	end := len(dst) + groups*width
	word, have := uint64(0), 0
	for _, x := range v {
		word |= uint64(x) << have
		if have += width; have >= 32 {
			dst = appendUint32(dst, uint32(word))
			word >>= 32
			have -= 32
		}
	}
	for ; len(dst) < end; word >>= 8 {
		dst = append(dst, byte(word))
	}
	return dst
}

// appendLevels appends levels of 0 and 1 after the length of their runs.
func appendLevels(dst []byte, levels []uint32) []byte {
	at := len(dst)
	dst = appendRuns(append(dst, 0, 0, 0, 0), levels, 1)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// appendBits appends flags, a bit each.
func appendBits(dst, flags []byte) []byte {
	for ; len(flags) > 0; flags = flags[min(8, len(flags)):] {
		b := byte(0)
		for i, f := range flags[:min(8, len(flags))] {
			b |= f << i
		}
		dst = append(dst, b)
	}
	return dst
}
