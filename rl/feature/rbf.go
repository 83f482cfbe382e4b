package feature

import (
	"fmt"
	"math"
)

// radial is a grid of Gaussian radial basis functions: for columns x_1 to x_d,
// scaled from their public ranges to [0, 1] and clipped, one feature for each
// point c of the grid that has K equally spaced values in each dimension, ends
// included,
//
//	phi_c(s) = exp(-|x - c|^2 / (2 width^2)),
//
// K^d in all, the place in the last column varying fastest. When normalised, the
// features are divided by their sum.
//
// Normalised features have norm at most 1. Otherwise the squared norm is a
// product over columns of sums of exp(-(x - c)^2 / width^2) over the K places,
// each of which is at most K, and at most the same sum over all integer multiples
// of the spacing, which by Poisson's summation formula is largest at a place of
// the grid.
//
// Source: Sutton and Barto (2018), section 9.5.5.
type radial struct {
	box
	centers, dim int
	width        float64
	normalized   bool
	bound        float64
}

// NewRBF returns the functions of the given width, relative to the range of a
// column, on a grid of centers values, at least 2, in each of the named columns,
// ranges[i] being the public range of names[i]. centers^d may not exceed 2^20.
func NewRBF(centers int, width float64, normalized bool, names []string, ranges []Range) (Map, error) {
	b, err := newBox("rbf", names, ranges)
	if err != nil {
		return nil, err
	}
	if centers < 2 || centers > maxPerColumn {
		return nil, fmt.Errorf("%w: rbf: centers is %d; want 2 to %d in each column", ErrMap, centers, maxPerColumn)
	}
	// A narrower function than this underflows between the places of the grid.
	if !(width*float64(centers-1) >= 0.05) || !(width <= 100) {
		return nil, fmt.Errorf("%w: rbf: width is %v; want a number from %.3g, a twentieth of the spacing, to 100, relative to the range", ErrMap, width, 0.05/float64(centers-1))
	}
	dim, err := b.product("rbf", centers)
	if err != nil {
		return nil, err
	}
	r := radial{box: b, centers: centers, dim: dim, width: width, normalized: normalized}
	r.bound = r.normBound()
	return r, nil
}

// Dim is centers^d.
func (r radial) Dim() int { return r.dim }

// NormBound is 1 for normalised features and the bound explained at [RBF]
// otherwise, both rounded up.
func (r radial) NormBound() float64 { return r.bound }

func (r radial) normBound() float64 {
	// Each computed feature is off by a few ulps for every column; so are the
	// sums below. 1e-12 covers both many times over.
	const slack = 1 + 1e-12
	if r.normalized {
		return slack
	}
	h := 1 / float64(r.centers-1)
	sum := 1.0
	for k := 1; ; k++ {
		term := 2 * math.Exp(-math.Pow(float64(k)*h/r.width, 2))
		sum += term
		// The terms fall faster than a geometric series from here on; what is left
		// out is below the slack.
		if term < 1e-20 || sum > float64(r.centers) {
			break
		}
	}
	return math.Sqrt(math.Pow(min(sum, float64(r.centers)), float64(len(r.names)))) * slack
}

// Bind implements [Map].
func (r radial) Bind(columns []string) (Bound, error) {
	index, err := r.index(columns)
	if err != nil {
		return nil, err
	}
	return boundRBF{r, index}, nil
}

type boundRBF struct {
	radial
	at []int
}

func (b boundRBF) Apply(dst, obs []float64) bool {
	if !readable(obs, b.at) {
		clear(dst)
		return false
	}
	var bumps [maxPerColumn]float64
	dst[0] = 1
	n := 1
	for i, j := range b.at {
		x, sum := b.ranges[i].scale(obs[j], false), 0.0
		for k := range b.centers {
			d := (x - float64(k)/float64(b.centers-1)) / b.width
			bumps[k] = math.Exp(-d * d / 2)
			sum += bumps[k]
		}
		if b.normalized {
			for k := range b.centers {
				bumps[k] /= sum
			}
		}
		n = expand(dst, n, bumps[:b.centers])
	}
	return true
}
