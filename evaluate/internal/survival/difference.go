package survival

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/band"
)

// difference is that of arm x from the control.
func difference(x, control *worked, z float64) Difference {
	d := Difference{Mean: meanDifference(x, control, z)}
	known, bins := min(x.known, control.known), x.q.Bins
	// Where one arm ends before the bins do, its limits stand for it from there on, and the
	// two parts of the band share the probability to miss.
	alpha := miss
	if known < bins {
		alpha = miss / 2
	}
	c := differenceCritical(x, control, known, alpha)
	farMine := x.survival(x.critical(x.valueHighest, miss/4))
	farTheirs := control.survival(control.critical(control.valueHighest, miss/4))
	b := newBand(known, bins)
	for j := range bins {
		if j < known {
			b.Lower[j], b.Upper[j] = apart(x, control, j+1, c)
		} else {
			b.Lower[j], b.Upper[j] = farMine.Lower[j]-farTheirs.Upper[j], farMine.Upper[j]-farTheirs.Lower[j]
		}
		b.Lower[j], b.Upper[j] = max(min(b.Lower[j], 1), -1), min(max(b.Upper[j], -1), 1)
		if j < known {
			b.Values[j] = min(max(farMine.Values[j]-farTheirs.Values[j], b.Lower[j]), b.Upper[j])
		}
	}
	d.Curve = b
	return d
}

// apart are limits of a difference of survival: distances to the limits of each arm, which are
// by chance, add up as squares (Newcombe 1998), and what is not known of each arm as it is.
func apart(x, control *worked, j int, c float64) (lower, upper float64) {
	var down, up, least, most [2]float64
	for i, w := range []*worked{x, control} {
		lower, upper := w.ends(j, c)
		down[i], up[i] = max(w.low.v[j]-lower, 0), max(upper-w.high.v[j], 0)
		least[i], most[i] = w.unknown(w.low.v[j], w.high.v[j], c)
	}
	wider := 1.0
	if x.q.Overlap {
		wider = x.wider(control, x.value.at(j), control.value.at(j))
	}
	return least[0] - most[1] - wider*math.Hypot(down[0], up[1]), most[0] - least[1] + wider*math.Hypot(up[0], down[1])
}

// shared is by how much the sampling variance of a difference may be above the sum of both
// variances where a person adds to both arms: shares a and b of a person in one cell, both in
// [0, 1], have E[a b] at most the lesser mean, and the derivatives g and h there have unlike signs.
func (w *worked) shared(control *worked, g, h []float64) (more float64) {
	for k := range g {
		more += 2 * max(min(w.cells[k], control.cells[k]), 0) * max(-g[k]*h[k], 0)
	}
	return more
}

// wider is the factor by which that widens the distance to a limit.
func (w *worked) wider(control *worked, g, h []float64) float64 {
	a, b := w.sampling(g), control.sampling(h)
	if !(a+b > 0) {
		return 1
	}
	return math.Sqrt(1 + w.shared(control, g, h)/(a+b))
}

// differenceCritical is the critical value of the difference of two curves.
func differenceCritical(x, control *worked, known int, alpha float64) float64 {
	if x.q.Weights != nil {
		return band.Bonferroni(known, alpha)
	}
	return band.PathCritical(known, alpha, func(i, j int) float64 {
		return x.covariance(x.value, i, j) + control.covariance(control.value, i, j)
	})
}
