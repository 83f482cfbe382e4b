package parquetfile

import (
	"math"

	"github.com/parquet-go/parquet-go/encoding"
)

// convert appends the values lo to hi-1 as float64.
func convert(dst []float64, kind numeric, v *encoding.Values, lo, hi int) []float64 {
	n := len(dst)
	for range hi - lo {
		dst = append(dst, 0)
	}
	spread(dst[n:], 1, kind, v, lo, hi)
	return dst
}

// spread puts the values lo to hi-1 into every width-th place of dst.
func spread(dst []float64, width int, kind numeric, v *encoding.Values, lo, hi int) {
	switch kind {
	case boolean:
		bits := v.Boolean()
		for i := lo; i < hi; i++ {
			dst[(i-lo)*width] = float64(bits[i/8] >> (i % 8) & 1)
		}
	case int32s:
		widen(dst, width, part(v.Int32(), lo, hi))
	case int64s:
		widen(dst, width, part(v.Int64(), lo, hi))
	case uint32s:
		widen(dst, width, part(v.Uint32(), lo, hi))
	case uint64s:
		widen(dst, width, part(v.Uint64(), lo, hi))
	case floats:
		widen(dst, width, part(v.Float(), lo, hi))
		ownNaN(dst, width, hi-lo)
	case doubles:
		widen(dst, width, part(v.Double(), lo, hi))
		ownNaN(dst, width, hi-lo)
	}
}

// part is v[lo:hi], and panics where hi is beyond the length: the decoder's
// slices are cut from buffers that it uses again, and a damaged page must not
// lay them open.
func part[T any](v []T, lo, hi int) []T { return v[:len(v):len(v)][lo:hi] }

func widen[T int32 | int64 | uint32 | uint64 | float32 | float64](dst []float64, width int, src []T) {
	if width == 1 {
		dst = dst[:len(src)]
		for i, v := range src {
			dst[i] = float64(v)
		}
		return
	}
	for i, v := range src {
		dst[i*width] = float64(v)
	}
}

// ownNaN replaces every NaN of the file by the plain one: the missing number is
// a NaN too, and a file must not be able to forge it.
func ownNaN(dst []float64, width, n int) {
	for i := 0; i < n*width; i += width {
		if v := dst[i]; v != v {
			dst[i] = math.NaN()
		}
	}
}
