package refine

import (
	"github.com/discreet-rl/discreet/rl/value"
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
	s      *value.Sample
	r      Linear
	limits residualLimits
	matrix []float64
	// residual is under the theta last given.
	residual []float64
	// level is the mean over episodes of the first decision's V + e.
	level float64

	moments *value.Moments
	phi     []float64
}

func newLinearPerson(s *value.Sample, r Linear) *linearPerson {
	n := r.dim
	p := &linearPerson{s: s, r: r, limits: limitsFor(r.Public, r.MaxWeight), residual: make([]float64, n), phi: make([]float64, n)}
	p.moments = &value.Moments{N: n, A: make([]float64, n*n), B: make([]float64, n)}
	p.matrix = p.moments.A
	return p
}

func (w *linearPerson) person(p int, theta []float64) {
	clear(w.residual)
	w.level = 0
	w.moments.Reset()
	lo, hi := w.s.Episodes(p)
	for e := lo; e < hi; e++ {
		w.episode(e, theta, 1/float64(hi-lo))
	}
	if w.r.form == LSTD {
		w.moments.AddPerson(w.s, p, value.ByTrajectory)
	}
}

func (w *linearPerson) dot(point int, theta []float64) float64 {
	if w.s.Cell != nil {
		if c := w.s.Cell[point]; c != value.NoCell {
			return theta[c]
		}
		return 0
	}
	v := 0.0
	for i, x := range w.s.Feature(nil, point) {
		v += x * theta[i]
	}
	return v
}

// add adds x phi to the residual and, for the regression, weight phi phi' to the
// matrix.
func (w *linearPerson) add(row int, x, weight float64) {
	n := w.r.dim
	if w.s.Cell != nil {
		if c := int(w.s.Cell[row]); c >= 0 {
			w.residual[c] += x
			if weight > 0 {
				w.matrix[c*n+c] += weight
			}
		}
		return
	}
	phi := w.s.Feature(w.phi, row)
	for i, v := range phi {
		w.residual[i] += x * v
		if weight > 0 {
			line := w.matrix[i*n : i*n+n]
			for j, u := range phi {
				line[j] += weight * v * u
			}
		}
	}
}

func (w *linearPerson) episode(episode int, theta []float64, weight float64) {
	s := w.s
	lo, hi := s.Rows(episode)
	each := weight / float64(hi-lo)
	ahead, last := 0.0, hi-1
	switch next := s.Next[last]; next {
	case value.Terminal:
	case value.Unknown:
		ahead = w.dot(last, theta)
		last--
	default:
		ahead = w.dot(int(next), theta)
	}
	after := ahead // V of the point after the row
	for row := last; row >= lo; row-- {
		v := w.dot(row, theta)
		delta := s.Data.Reward[row] + s.Gamma(row)*after - v
		e := w.limit(s.Ratio(row)*(s.Data.Reward[row]+s.Gamma(row)*ahead-v), v)
		if w.r.form == LSTD {
			w.add(row, each*s.Ratio(row)*delta, 0)
		} else {
			w.add(row, each*e, each)
		}
		ahead, after = v+e, v
	}
	w.level += weight * ahead
}

// limit enforces the public bounds on a residual.
func (w *linearPerson) limit(e, v float64) float64 {
	if l := w.limits.largest; l > 0 {
		return min(max(e, -l), l)
	}
	return min(max(e, w.r.Public.Returns.Min-v), w.r.Public.Returns.Max-v)
}
