package survival

// stratum is a part of an arm, with its paths: as if the censored of a bin were at risk to its
// end, to its middle and not at all. Where events come before censoring the three are one.
type stratum struct {
	arm
	high, mid, low *path
	persons        float64
	share          float64 // of the arm's persons
}

// curve is a probability in all of an arm, at the start of each bin and at the end of the last,
// with its derivatives by all cells of the arm.
type curve struct {
	v     []float64
	slope []float64 // slope[j*cells+k] is that of v[j] by cell k
	doubt []float64 // as in path
	cells int
	// spread are the derivatives of v[j] by what has independent noise, filled in when they are asked for.
	spread [][]float64
}

// spreadAt are the derivatives of c.v[j] by what has independent noise.
func (w *worked) spreadAt(c curve, j int) []float64 {
	if c.spread[j] == nil {
		c.spread[j] = w.strata[0].spread(c.at(j))
	}
	return c.spread[j]
}

// at are the derivatives of v[j].
func (c curve) at(j int) []float64 { return c.slope[j*c.cells : (j+1)*c.cells] }

// tail is what a probability is supposed to be where too few of a stratum are at risk.
type tail int

const (
	stays   tail = iota // what it was last
	nothing             // 0
	all                 // 1
)

// part is a probability within a stratum, as far as it is known.
type part struct{ v, slope, doubt []float64 }

// mix is the mean of a probability over the strata of an arm, by their noisy shares of persons.
func (w *worked) mix(of func(s *stratum) part, after tail) curve {
	n := len(w.cells)
	c := curve{make([]float64, w.q.Bins+1), make([]float64, (w.q.Bins+1)*n), make([]float64, w.q.Bins+1), n, make([][]float64, w.q.Bins+1)}
	each := n / len(w.strata)
	parts := make([]part, len(w.strata))
	for i := range w.strata {
		parts[i] = of(&w.strata[i])
	}
	here := make([]float64, len(parts))
	for j := range w.q.Bins + 1 {
		c.doubt[j] = 1
		for i, p := range parts {
			last := len(p.v) - 1
			k, share := min(j, last), w.strata[i].share
			c.doubt[j] = max(c.doubt[j], p.doubt[k])
			here[i] = p.v[k]
			if j > last && after != stays {
				here[i] = float64(after - nothing)
			} else {
				for m, g := range p.slope[k*each : (k+1)*each] {
					c.slope[j*n+i*each+m] = share * g
				}
			}
			c.v[j] += share * here[i]
		}
		for i := range parts { // one person more in a stratum changes all shares
			moved := (here[i] - c.v[j]) / max(w.persons, 1)
			for m := range each {
				c.slope[j*n+i*each+m] += moved
			}
		}
	}
	return c
}

// effective is the number of persons of whom a share would have the sampling variance that the
// incidence of a cause, or of all at 0, has by the end of bin j of a path.
func (w *worked) effective(of func(s *stratum) *path, v func(s *stratum, j int) float64, cause, j int) float64 {
	if len(w.strata) == 1 {
		s := &w.strata[0]
		return of(s).effective(s.arm, cause, min(j, of(s).known))
	}
	mean, variance := 0.0, 0.0
	here := make([]float64, len(w.strata))
	for i := range w.strata {
		s := &w.strata[i]
		k := min(j, of(s).known)
		here[i] = min(max(v(s, k), 0), 1)
		mean += s.share * here[i]
		variance += s.share * s.share * here[i] * (1 - here[i]) / of(s).effective(s.arm, cause, k)
	}
	for i, s := range w.strata {
		variance += s.share * (here[i] - mean) * (here[i] - mean) / max(w.persons, 1)
	}
	if !(variance > 0) || !(mean*(1-mean) > 0) {
		return max(w.persons, 1)
	}
	return mean * (1 - mean) / variance
}
