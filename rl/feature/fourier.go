package feature

import (
	"fmt"
	"math"
)

// fourier is the Fourier cosine basis of order n: for columns x_1 to x_d, scaled
// from their public ranges to [0, 1] and clipped, one feature for each choice of
// frequencies c_1 to c_d from 0 to n,
//
//	phi_c(s) = cos(pi (c_1 x_1 + ... + c_d x_d)),
//
// (n+1)^d in all, of which the first is the constant 1 and the frequency of the
// last column varies fastest.
//
// No feature exceeds 1 in size, so that the norm is at most the square root of
// Dim; it is that large where every column is at its low end.
//
// Source: Konidaris, Osentoski and Thomas, Value Function Approximation in
// Reinforcement Learning using the Fourier Basis (AAAI 2011).
type fourier struct {
	box
	order, dim int
}

// maxColumns is the most columns of which a basis of order 1 has no more than
// maxProduct features.
const maxColumns = 20

// NewFourier returns the basis of the given order, at least 1, over the named
// columns, ranges[i] being the public range of names[i]. (n+1)^d may not exceed
// 2^20.
func NewFourier(order int, names []string, ranges []Range) (Map, error) {
	b, err := newBox("fourier", names, ranges)
	if err != nil {
		return nil, err
	}
	if order < 1 || order >= maxPerColumn {
		return nil, fmt.Errorf("%w: fourier: order is %d; want 1 to %d", ErrMap, order, maxPerColumn-1)
	}
	dim, err := b.product("fourier", order+1)
	if err != nil {
		return nil, err
	}
	return fourier{box: b, order: order, dim: dim}, nil
}

// Dim is (n+1)^d.
func (f fourier) Dim() int { return f.dim }

// NormBound is the square root of Dim, rounded up.
func (f fourier) NormBound() float64 { return sqrtUp(float64(f.dim)) }

// RateScales holds for each feature the factor by which gradient methods scale
// its step size: 1 over the l2 norm of its frequencies, and 1 for the constant
// (Konidaris et al. 2011, section 4).
func (f fourier) RateScales() []float64 {
	scales := make([]float64, f.dim)
	for i := range scales {
		sum := 0
		for rest := i; rest > 0; rest /= f.order + 1 {
			c := rest % (f.order + 1)
			sum += c * c
		}
		scales[i] = 1 / math.Sqrt(float64(max(sum, 1)))
	}
	return scales
}

// Bind implements [Map].
func (f fourier) Bind(columns []string) (Bound, error) {
	index, err := f.index(columns)
	if err != nil {
		return nil, err
	}
	return &boundFourier{f, index, nil, nil}, nil
}

type boundFourier struct {
	fourier
	at    []int
	known [][knownTurns]turn // by column: the last values whose turns were computed; nil of many goroutines
	last  *lastWaves         // nil of many goroutines
}

// Alone is the same for one goroutine.
func (b *boundFourier) Alone() Bound {
	return &boundFourier{b.fourier, b.at, make([][knownTurns]turn, len(b.at)), newLastWaves(len(b.at), b.dim)}
}

// knownTurns is how many turns are known, 1<<turnBits.
const (
	turnBits   = 11
	knownTurns = 1 << turnBits
)

// turn is exp(i pi x) of a value.
type turn struct {
	of uint64 // its bits
	is complex128
}

// Apply multiplies unit complex numbers exp(i pi c_j x_j): one sine and cosine a
// column in place of a cosine a feature.
func (b *boundFourier) Apply(dst, obs []float64) bool {
	var place int
	if b.last != nil {
		var found bool
		if place, found = b.last.find(dst, obs, b.at); found {
			return true
		}
	}
	if !readable(obs, b.at) {
		clear(dst)
		return false
	}
	var turns [maxColumns]complex128
	for i, j := range b.at {
		if b.known == nil {
			turns[i] = b.turn(i, obs[j])
			continue
		}
		bits := math.Float64bits(obs[j])
		t := &b.known[i][bits*0x9e3779b97f4a7c15>>(64-turnBits)]
		if t.of != bits || t.is == 0 {
			*t = turn{bits, b.turn(i, obs[j])}
		}
		turns[i] = t.is
	}
	waves(dst, turns[:len(b.at)], b.order, 1)
	if b.last != nil {
		b.last.keep(place, dst, obs, b.at)
	}
	return true
}

func (b *boundFourier) turn(column int, x float64) complex128 {
	sin, cos := math.Sincos(math.Pi * b.ranges[column].scale(x, false))
	return complex(cos, sin)
}

// waves writes the real parts of z times every product of powers 0 to order of
// the turns, that of the last one varying fastest.
func waves(dst []float64, turns []complex128, order int, z complex128) {
	w, rest := turns[0], turns[1:]
	if len(rest) == 0 {
		for k := range dst {
			// Rounding may leave a unit number a little outside the circle.
			v := real(z)
			if v > 1 {
				v = 1
			} else if v < -1 {
				v = -1
			}
			if dst[k] = v; k == order {
				return
			}
			z = complex(real(z)*real(w)-imag(z)*imag(w), real(z)*imag(w)+imag(z)*real(w))
		}
		return
	}
	size := len(dst) / (order + 1)
	for k := 0; ; k++ {
		waves(dst[k*size:(k+1)*size], rest, order, z)
		if k == order {
			return
		}
		z = complex(real(z)*real(w)-imag(z)*imag(w), real(z)*imag(w)+imag(z)*real(w))
	}
}
