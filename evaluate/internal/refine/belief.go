package refine

// belief is what the releases so far say of a value function over numbered
// cells: a random-effects regression
//
//	V(s) = a + b x_s + d_s,
//
// with a, b and d_s normal and independent beforehand, and observations of
// single cells with known variances. Everything in it is released, so to compute
// with it is post-processing. Source: Henderson 1975 (best linear unbiased
// prediction); cost O(cells).
type belief struct {
	level, slope, state float64 // prior variances of a, b and d_s
	centre              float64 // prior mean of a
	covariate           []float64
	precision           []float64 // by cell: sum of 1/variance of its observations
	weighted            []float64 // by cell: sum of observation/variance

	mean     []float64
	variance []float64
	line     []float64 // by cell: variance of a + b x_s
}

// newBelief has the prior alone: the mean of a, the variances of a, b and d_s, and
// x_s by cell.
func newBelief(centre, level, slope, state float64, covariate []float64) *belief {
	n := len(covariate)
	b := &belief{
		level:     level,
		slope:     slope,
		state:     state,
		centre:    centre,
		covariate: covariate,
		precision: make([]float64, n),
		weighted:  make([]float64, n),
		mean:      make([]float64, n),
		variance:  make([]float64, n),
		line:      make([]float64, n),
	}
	b.update()
	return b
}

// observe is the posterior update by an observation of cell s with the given variance.
func (b *belief) observe(s int, x, variance float64) {
	b.precision[s] += 1 / variance
	b.weighted[s] += x / variance
}

// update recomputes mean and variance from all observations.
func (b *belief) update() {
	// Normal equations of (a - centre, b), with the prior's precision.
	aa, ab, bb := 1/b.level, 0.0, 1/b.slope
	ya, yb := 0.0, 0.0
	for s, x := range b.covariate {
		// An observation of cell s has precision j for d_s, and j/(1 + j state) for
		// the regression, with d_s integrated out.
		j := b.precision[s]
		w := j / (1 + j*b.state)
		aa += w
		ab += w * x
		bb += w * x * x
		y := (b.weighted[s] - j*b.centre) / (1 + j*b.state)
		ya += y
		yb += y * x
	}
	det := aa*bb - ab*ab
	a, slope := (bb*ya-ab*yb)/det, (aa*yb-ab*ya)/det
	for s, x := range b.covariate {
		j := b.precision[s]
		fit := b.centre + a + slope*x
		keep := 1 / (1 + j*b.state) // what is left of the prior of d_s
		b.mean[s] = fit + b.state*keep*(b.weighted[s]-j*fit)
		b.line[s] = (bb - 2*ab*x + aa*x*x) / det
		b.variance[s] = b.state*keep + keep*keep*b.line[s]
	}
}

// errors returns, by cell, the mean squared error of the belief's mean when d_s
// really has standard deviation deviation and the observations of the cell,
// weighted as they are, really have variance observed[s].
func (b *belief) errors(deviation float64, observed []float64) []float64 {
	out := make([]float64, len(b.precision))
	for s, j := range b.precision {
		keep := 1 / (1 + j*b.state)
		out[s] = keep*keep*(deviation*deviation+b.line[s]) + (1-keep)*(1-keep)*observed[s]
	}
	return out
}
