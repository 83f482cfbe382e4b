package refine

import (
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// linearPerson computes what one person adds in the forms of dp-refine with a
// matrix, the mean over the person's episodes of
//
//	regression  matrix (1/tau) sum phi phi',  residual (1/tau) sum phi_t e_t
//	lstd        matrix (1/tau) sum rho phi (phi - gamma phi')',
//	            residual (1/tau) sum rho phi delta
//
// with e_t the doubly robust residual of [residuals] over all decisions, and
// delta the temporal-difference error. It keeps a workspace and may not be shared
// by goroutines.
type linearPerson struct {
	of     *value.Walk
	s      *value.Sample // of the person at hand
	r      Linear
	limits residualLimits
	matrix []float64
	// residual is under the theta last given.
	residual []float64
	// level is the mean over episodes of the first decision's V + e.
	level float64

	moments *value.Moments

	// Of dense features, by row of the episode at hand: the value under theta, and the
	// factor with which the features enter the residual.
	values, factors []float64
}

func newLinearPerson(s value.Persons, r Linear) *linearPerson {
	n := r.dim
	p := &linearPerson{of: s.Walk(), r: r, limits: limitsFor(r.Public, r.MaxWeight), residual: make([]float64, n)}
	p.moments = &value.Moments{N: n, A: make([]float64, n*n), B: make([]float64, n)}
	p.matrix = p.moments.A
	return p
}

// person computes residual and level under theta, unless that is nil, and the matrix where
// it is wanted.
func (w *linearPerson) person(p int, theta []float64, matrix bool) {
	clear(w.residual)
	w.level = 0
	if matrix {
		w.moments.Reset()
	}
	w.s, p = w.of.At(p)
	lo, hi := w.s.Episodes(p)
	for e := lo; e < hi; e++ {
		weight := 1 / float64(hi-lo)
		if theta != nil {
			w.episode(e, theta, weight)
		}
		if matrix && w.r.form == Regression {
			w.square(e, weight)
		}
	}
	switch {
	case !matrix:
	case w.r.form == LSTD:
		w.moments.AddPerson(w.s, p, value.ByTrajectory)
	default:
		mirror(w.matrix, w.r.dim)
	}
}

// dot is the value of a point under theta.
func (w *linearPerson) dot(point int, theta []float64) float64 {
	if w.s.Cell != nil {
		if c := w.s.Cell[point]; c != value.NoCell {
			return theta[c]
		}
		return 0
	}
	return inner(w.s.Feature(nil, point), theta)
}

func (w *linearPerson) episode(episode int, theta []float64, weight float64) {
	s := w.s
	lo, hi := s.Rows(episode)
	each := weight / float64(hi-lo)
	w.evaluate(lo, hi, theta)
	ahead, last := 0.0, hi-1
	switch next := s.Next[last]; next {
	case value.Terminal:
	case value.Unknown:
		ahead = w.values[last-lo]
		last--
	default:
		ahead = w.dot(int(next), theta)
	}
	after := ahead // V of the point after the row
	for row := last; row >= lo; row-- {
		v := w.values[row-lo]
		delta := s.Data.Reward[row] + s.Gamma(row)*after - v
		e := w.limits.clip(s.Ratio(row)*(s.Data.Reward[row]+s.Gamma(row)*ahead-v), v)
		if w.r.form == LSTD {
			w.factors[row-lo] = each * s.Ratio(row) * delta
		} else {
			w.factors[row-lo] = each * e
		}
		ahead, after = v+e, v
	}
	w.add(lo, last+1)
	w.level += weight * ahead
}

// evaluate writes the values of the rows lo to hi-1 under theta.
func (w *linearPerson) evaluate(lo, hi int, theta []float64) {
	if n := hi - lo; n > len(w.values) {
		w.values, w.factors = make([]float64, n), make([]float64, n)
	}
	values := w.values[:hi-lo]
	if w.s.Cell != nil {
		for i := range values {
			values[i] = w.dot(lo+i, theta)
		}
		return
	}
	n := w.r.dim
	dots(values, w.s.Phi[lo*n:hi*n], theta)
}

// add adds, from row hi-1 back to row lo, factor times phi to the residual.
func (w *linearPerson) add(lo, hi int) {
	n := w.r.dim
	if w.s.Cell == nil {
		addRows(w.residual, w.s.Phi[lo*n:hi*n], w.factors[:hi-lo])
		return
	}
	for row := hi - 1; row >= lo; row-- {
		if c := int(w.s.Cell[row]); c >= 0 {
			w.residual[c] += w.factors[row-lo]
		}
	}
}

// square adds the weighted mean of phi phi' over an episode to the matrix, in its upper half
// where the features are dense.
func (w *linearPerson) square(episode int, weight float64) {
	n := w.r.dim
	lo, hi := w.s.Rows(episode)
	weight /= float64(hi - lo)
	if w.s.Next[hi-1] == value.Unknown {
		hi--
	}
	if w.s.Cell == nil {
		addSquares(w.matrix, w.s.Phi[lo*n:hi*n], n, weight)
		return
	}
	for row := hi - 1; row >= lo; row-- {
		if c := int(w.s.Cell[row]); c >= 0 {
			w.matrix[c*n+c] += weight
		}
	}
}

// The kernels of dense features walk four rows at a time: what is added up stays in a
// register over the four, and four sums that do not wait for each other run beside each
// other. Every sum is made in the order of the plain loop over rows, last row first
// (inner products: over coordinates, first to last), so that its bits do not depend on
// the blocks.

// inner is the inner product of two vectors, coordinate by coordinate.
func inner(x, y []float64) float64 {
	y = y[:len(x)]
	v := 0.0
	for i, a := range x {
		v += a * y[i]
	}
	return v
}

// dots writes the inner product of each row of phi with theta.
func dots(dst, phi, theta []float64) {
	n, row := len(theta), 0
	for ; row+4 <= len(dst); row += 4 {
		at := row * n
		a, b, c, d := phi[at:at+n], phi[at+n:at+2*n], phi[at+2*n:at+3*n], phi[at+3*n:at+4*n]
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		t := theta[:len(a)]
		var va, vb, vc, vd float64
		for i, x := range a {
			y := t[i]
			va += x * y
			vb += b[i] * y
			vc += c[i] * y
			vd += d[i] * y
		}
		dst[row], dst[row+1], dst[row+2], dst[row+3] = va, vb, vc, vd
	}
	for ; row < len(dst); row++ {
		dst[row] = inner(phi[row*n:row*n+n], theta)
	}
}

// addRows adds factor times row to dst, for each row of phi, the last first.
func addRows(dst, phi, factors []float64) {
	n, row := len(dst), len(factors)
	for ; row >= 4; row -= 4 {
		at := row * n
		a, b, c, d := phi[at-n:at], phi[at-2*n:at-n], phi[at-3*n:at-2*n], phi[at-4*n:at-3*n]
		a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
		fa, fb, fc, fd := factors[row-1], factors[row-2], factors[row-3], factors[row-4]
		for i, v := range dst {
			v += fa * a[i]
			v += fb * b[i]
			v += fc * c[i]
			v += fd * d[i]
			dst[i] = v
		}
	}
	for row--; row >= 0; row-- {
		f := factors[row]
		for i, x := range phi[row*n : row*n+n] {
			dst[i] += f * x
		}
	}
}

// addSquares adds weight phi phi' to the upper half of a matrix of n rows, for each row
// of phi, the last first.
func addSquares(matrix, phi []float64, n int, weight float64) {
	row := len(phi) / n
	for ; row >= 4; row -= 4 {
		at := row * n
		a, b, c, d := phi[at-n:at], phi[at-2*n:at-n], phi[at-3*n:at-2*n], phi[at-4*n:at-3*n]
		for i := range n {
			fa, fb, fc, fd := weight*a[i], weight*b[i], weight*c[i], weight*d[i]
			line := matrix[i*n+i : i*n+n]
			a, b, c, d := a[i:], b[i:], c[i:], d[i:]
			a, b, c, d = a[:len(line)], b[:len(line)], c[:len(line)], d[:len(line)]
			for j, v := range line {
				v += fa * a[j]
				v += fb * b[j]
				v += fc * c[j]
				v += fd * d[j]
				line[j] = v
			}
		}
	}
	for row--; row >= 0; row-- {
		x := phi[row*n : row*n+n]
		for i, v := range x {
			f := weight * v
			line := matrix[i*n+i : i*n+n]
			for j, u := range x[i:] {
				line[j] += f * u
			}
		}
	}
}

// mirror copies the upper half of a matrix of n rows to the lower one.
func mirror(matrix []float64, n int) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			matrix[j*n+i] = matrix[i*n+j]
		}
	}
}
