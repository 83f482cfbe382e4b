package feature

import "fmt"

// polynomial is the polynomial basis of order n: for columns x_1 to x_d, scaled
// from their public ranges to [0, 1] and clipped, one feature for each choice of
// exponents c_1 to c_d from 0 to n,
//
//	phi_c(s) = x_1^c_1 ... x_d^c_d,
//
// (n+1)^d in all, of which the first is the constant 1 and the exponent of the
// last column varies fastest. When symmetric, columns are scaled to [-1, 1].
//
// No feature exceeds 1 in size, so that the norm is at most the square root of
// Dim; it is that large where every column is at its high end.
//
// Source: Sutton and Barto (2018), section 9.5.1.
type polynomial struct {
	box
	order, dim int
	symmetric  bool
}

// NewPolynomial returns the basis of the given order, at least 1, over the named
// columns, ranges[i] being the public range of names[i]. (n+1)^d may not exceed
// 2^20.
func NewPolynomial(order int, names []string, ranges []Range, symmetric bool) (Map, error) {
	b, err := newBox("polynomial", names, ranges)
	if err != nil {
		return nil, err
	}
	if order < 1 || order >= maxPerColumn {
		return nil, fmt.Errorf("%w: polynomial: order is %d; want 1 to %d", ErrMap, order, maxPerColumn-1)
	}
	dim, err := b.product("polynomial", order+1)
	if err != nil {
		return nil, err
	}
	return polynomial{box: b, order: order, dim: dim, symmetric: symmetric}, nil
}

// Dim is (n+1)^d.
func (p polynomial) Dim() int { return p.dim }

// NormBound is the square root of Dim, rounded up.
func (p polynomial) NormBound() float64 { return sqrtUp(float64(p.dim)) }

// Bind implements [Map].
func (p polynomial) Bind(columns []string) (Bound, error) {
	index, err := p.index(columns)
	if err != nil {
		return nil, err
	}
	return boundPolynomial{p, index}, nil
}

type boundPolynomial struct {
	polynomial
	at []int
}

func (b boundPolynomial) Apply(dst, obs []float64) bool {
	if !readable(obs, b.at) {
		clear(dst)
		return false
	}
	var powers [maxPerColumn]float64
	dst[0] = 1
	n := 1
	for i, j := range b.at {
		x := b.ranges[i].scale(obs[j], b.symmetric)
		powers[0] = 1
		for k := 1; k <= b.order; k++ {
			powers[k] = powers[k-1] * x
		}
		n = expand(dst, n, powers[:b.order+1])
	}
	return true
}
