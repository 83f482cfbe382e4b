package train

import (
	"crypto/sha256"
	"encoding/binary"
)

// Perturb overwrites dst with weight times the signs that a task's seed determines:
// bit i of SHA-256(seed, 0), SHA-256(seed, 1), ..., a set bit for +. With [OneBit] an
// agent tries weights that are perturbed so and reports a randomised bit of the
// score (evolution strategies, Salimans et al. 2017, with signs in place of normals).
func Perturb(dst []float64, seed [32]byte, weight float64) {
	var in [40]byte
	copy(in[:], seed[:])
	for from := 0; from < len(dst); from += 256 {
		binary.LittleEndian.PutUint64(in[32:], uint64(from/256))
		bits := sha256.Sum256(in[:])
		for j := range dst[from:min(from+256, len(dst))] {
			dst[from+j] = weight
			if bits[j/8]>>(j%8)&1 == 0 {
				dst[from+j] = -weight
			}
		}
	}
}
