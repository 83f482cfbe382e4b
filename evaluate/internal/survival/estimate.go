package survival

import "math"

// Question is what is asked of the cells, all of it public.
type Question struct {
	Layout
	// Ends are the ends of the bins, increasing; bin 0 starts at 0.
	Ends []float64
	// Until is the number of first bins over which times are restricted.
	Until int
	// Grouped says that a bin holds a range of times, so that an event counts at its middle,
	// and that nobody knows which of a bin's events came before which of its censorings.
	// Otherwise a bin is one time, its end, and events come before censoring.
	Grouped bool
	// Control is the arm that others are compared with, -1 for no comparison.
	Control int
	// SD is the standard deviation of the noise of one cell.
	SD float64
}

// Mean is a restricted mean time, or a difference of two.
type Mean struct {
	Value, StdSampling, StdPrivacy float64
	Lower, Upper                   float64
	Z                              float64
}

// Arm is what is estimated of one arm.
type Arm struct {
	// AtRisk is the noisy number at risk at the start of each bin.
	AtRisk []float64
	Curve  Band
	// Incidence is the cumulative incidence of each cause; of a single cause it is 1 minus the
	// curve, and left out.
	Incidence []Band
	// Mean holds by itself, and JointMean with those of all arms.
	Mean, JointMean Mean
	// Steady is the number of first bins in which enough persons are at risk.
	Steady int
	// MissingShare is the noisy share of the arm's persons whose outcome is not known.
	MissingShare float64
}

// Difference is that of an arm from the control.
type Difference struct {
	Arm   int
	Curve Band // of survival; values lie in [-1, 1]
	Mean  Mean
}

// Result is everything that follows from the noisy cells.
type Result struct {
	Arms        []Arm
	Differences []Difference
}

// Estimate computes all quantities. The restricted means, or with a control their differences
// from it, hold together with 95%; all other limits hold by themselves.
func (q Question) Estimate(cells []float64) Result {
	var r Result
	arms := make([]*worked, q.Arms)
	for i := range arms {
		arms[i] = q.work(cells, i)
		r.Arms = append(r.Arms, arms[i].arm())
	}
	for i := range arms {
		if q.Control >= 0 && i != q.Control {
			r.Differences = append(r.Differences, difference(arms[i], arms[q.Control], i, quantile(q.Arms-1)))
		}
	}
	return r
}

// worked is an arm with its strata and the curves that follow: survival at its least and at its
// most, by the order of events and censoring in a bin and by what becomes of those who are too
// few to tell, and in between.
type worked struct {
	q       Question
	cells   []float64
	strata  []stratum
	persons float64
	known   int // bins in which enough persons are at risk in every stratum

	low, high           curve
	value, valueHighest curve // with nobody, or everybody, alive where too few are at risk

	missing   float64 // share of persons whose outcome is not known, 0 or above
	missingSD float64
	deviation float64 // of the share, as it was found
}

// omitted are the shares of the censored of a bin that do not count at risk in it.
func (q Question) omitted() (high, mid, low float64) {
	if q.Grouped {
		return 0, 0.5, 1
	}
	return 0, 0, 0
}

func (q Question) work(cells []float64, i int) *worked {
	from, each := q.Exit(i, 0, 0, 0), q.perStratum()
	w := &worked{q: q, known: q.Bins}
	w.cells = cells[from : from+max(q.Strata, 1)*each]
	high, mid, low := q.omitted()
	for k := range max(q.Strata, 1) {
		s := stratum{arm: arm{cells: w.cells[k*each : (k+1)*each], bins: q.Bins, causes: q.Causes, sd: q.SD, grouped: q.Grouped}}
		s.mid = s.follow(mid)
		s.high, s.low = s.mid, s.mid
		if q.Grouped {
			s.high, s.low = s.follow(high), s.follow(low)
		}
		for _, c := range s.arm.cells {
			s.persons += c
		}
		w.persons += max(s.persons, 0)
		w.known = min(w.known, s.mid.known)
		w.strata = append(w.strata, s)
	}
	for k := range w.strata {
		if w.strata[k].share = max(w.strata[k].persons, 0) / w.persons; !(w.persons > 0) {
			w.strata[k].share = 1 / float64(len(w.strata))
		}
	}
	survival := func(of func(s *stratum) *path, after tail) curve {
		return w.mix(func(s *stratum) part { return part{of(s).s, of(s).slope, of(s).doubt} }, after)
	}
	w.low, w.high = survival(lowPath, nothing), survival(highPath, stays)
	w.value, w.valueHighest = survival(midPath, nothing), survival(midPath, stays)
	if q.Missing {
		w.lost(cells[q.Unusable(i)], cells[q.Unknown()])
	}
	return w
}

func lowPath(s *stratum) *path  { return s.low }
func midPath(s *stratum) *path  { return s.mid }
func highPath(s *stratum) *path { return s.high }

// lost fills in the share of persons whose outcome is not known: everybody of unknown arm may
// be of this one.
func (w *worked) lost(unusable, unknown float64) {
	known := max(w.persons, 1)
	lost := unusable + unknown
	w.deviation = lost / (known + max(lost, 0))
	w.missing = max(w.deviation, 0)
	w.missingSD = math.Sqrt(max(lost, 0)+2*w.q.SD*w.q.SD) / (known + max(lost, 0))
}

// width of bin j.
func (q Question) width(j int) float64 {
	if j == 0 {
		return q.Ends[0]
	}
	return q.Ends[j] - q.Ends[j-1]
}

// sums is the restricted mean of a curve, and its derivatives.
func (w *worked) sums(c curve) (value float64, slope []float64) {
	slope = make([]float64, c.cells)
	add := func(j int, weight float64) {
		value += weight * c.v[j]
		for k, g := range c.at(j) {
			slope[k] += weight * g
		}
	}
	for j := range w.q.Until {
		if w.q.Grouped {
			add(j, w.q.width(j)/2)
			add(j+1, w.q.width(j)/2)
		} else {
			add(j, w.q.width(j))
		}
	}
	return value, slope
}

// variances are those of sampling and of noise of a quantity with the given derivatives. A
// quantity of hazards and shares does not change where all cells grow alike, so that its sampling
// variance is the sum of cells times squared derivatives: of survival, where all or none of the
// censored of a bin count at risk in it, that is Greenwood's.
func (w *worked) variances(slope []float64, doubt float64) (sampling, noise float64) {
	for k, g := range slope {
		sampling += max(w.cells[k], 0) * g * g
		noise += g * g
	}
	return sampling, noise * w.q.SD * w.q.SD * doubt
}

// covariance is that of two quantities of the arm, sampling and noise together.
func (w *worked) covariance(g, h []float64) float64 {
	v := 0.0
	for k := range g {
		v += (max(w.cells[k], 0) + w.q.SD*w.q.SD) * g[k] * h[k]
	}
	return v
}

// end is a quantity's lower or upper form: its value and the variances of its parts.
type end struct {
	value, sampling, noise float64
	// missing is the standard deviation that the number of missing persons adds.
	missing float64
	// third is the third cumulant of its sampling error.
	third float64
}

// ends are the restricted mean at its least and at its most: by the order of events within a
// bin, by who lives on after the last bin that is known, and by what is missing.
func (w *worked) meanEnds() (low, high end) {
	total := w.q.Ends[w.q.Until-1]
	for i, e := range []*end{&low, &high} {
		c := w.low
		if i == 1 {
			c = w.high
		}
		value, slope := w.sums(c)
		e.sampling, e.noise = w.variances(slope, c.doubt[w.q.Until])
		e.third = w.third(slope)
		rare := w.extreme(slope, i == 0)
		e.sampling, e.third = e.sampling+few*rare*rare, e.third+few*rare*rare*rare
		kept := 1 - w.missing
		e.sampling, e.noise, e.third = e.sampling*kept*kept, e.noise*kept*kept, e.third*kept*kept*kept
		if i == 0 {
			e.value, e.missing = value*kept, value*w.missingSD
		} else {
			e.value, e.missing = value*kept+total*w.missing, (total-value)*w.missingSD
		}
	}
	return low, high
}

// few is how many persons more are supposed where none, or hardly any, was seen: with the third
// cumulant it takes the limit of a count of 0 to 3.7, the most for which none is seen with 2.5%.
const few = 1.3

// extreme is the derivative of the event that lowers a restricted mean most or, if not low, of
// the person who raises it most.
func (w *worked) extreme(slope []float64, low bool) float64 {
	most := 0.0
	for k, g := range slope {
		k %= w.q.perStratum()
		bin, c := k/(w.q.Causes+1), k%(w.q.Causes+1)
		switch {
		case low && bin < w.q.Bins && c > 0:
			most = min(most, g)
		case !low:
			most = max(most, g)
		}
	}
	return most
}

// third is the third cumulant of the sampling error of a quantity with the given derivatives.
func (w *worked) third(slope []float64) float64 {
	sum := 0.0
	for k, g := range slope {
		sum += max(w.cells[k], 0) * g * g * g
	}
	return sum
}

// away are the distances of a lower and of an upper limit from a value whose error has the given
// variance and third cumulant: z standard deviations, and what its skewness moves outwards (Johnson
// 1978). Inwards it moves none: of one event seen, that would leave too little.
func away(z, variance, third float64) (below, above float64) {
	if !(variance > 0) {
		return 0, 0
	}
	moved := third / variance * (1 + 2*z*z) / 6
	return z*math.Sqrt(variance) - min(moved, 0), z*math.Sqrt(variance) + max(moved, 0)
}

func (e end) variance() float64 { return e.sampling + e.noise + e.missing*e.missing }

// mean is the restricted mean.
func (w *worked) mean(z float64) Mean {
	total := w.q.Ends[w.q.Until-1]
	low, high := w.meanEnds()
	value, slope := w.sums(w.value)
	most, _ := w.sums(w.valueHighest)
	below, _ := away(z, low.variance(), low.third)
	_, above := away(z, high.variance(), high.third)
	m := Mean{Value: (value + most) / 2, Z: z, Lower: low.value - below, Upper: high.value + above}
	sampling, noise := w.variances(slope, 1)
	m.StdSampling, m.StdPrivacy = math.Sqrt(sampling), math.Sqrt(noise)
	m.Lower, m.Upper = min(max(m.Lower, 0), total), min(max(m.Upper, 0), total)
	m.Value = min(max(m.Value, m.Lower), m.Upper)
	return m
}

// arm is what is estimated of the arm.
func (w *worked) arm() Arm {
	out := Arm{Steady: w.known, MissingShare: w.deviation, Mean: w.mean(quantile(1)), JointMean: w.mean(quantile(w.q.Arms)), AtRisk: make([]float64, w.q.Bins)}
	for _, s := range w.strata {
		risk := s.persons
		for j := range w.q.Bins {
			out.AtRisk[j] += risk
			for c := range w.q.Causes + 1 {
				risk -= s.at(j, c)
			}
		}
	}
	out.Curve = w.survival(w.critical(w.valueHighest, miss))
	if w.q.Causes > 1 {
		for c := 1; c <= w.q.Causes; c++ {
			out.Incidence = append(out.Incidence, w.cause(c))
		}
	}
	return out
}

// ends are the limits of survival at the end of bin j-1, c standard deviations away, before
// they are cut to [0, 1].
func (w *worked) ends(j int, c float64) (lower, upper float64) {
	at := func(of func(s *stratum) *path) float64 {
		return w.effective(of, func(s *stratum, j int) float64 { return of(s).s[j] }, 0, j)
	}
	lower, _ = w.limits(w.low, j, at(lowPath), c)
	_, upper = w.limits(w.high, j, at(highPath), c)
	return lower, upper
}

// survival is the curve with limits c standard deviations away.
func (w *worked) survival(c float64) Band {
	b := newBand(w.known, w.q.Bins)
	for j := 1; j <= w.q.Bins; j++ {
		lower, upper := w.ends(j, c)
		b.Lower[j-1], b.Upper[j-1] = w.unknown(lower, upper, c)
		if j <= w.known {
			b.Values[j-1] = w.value.v[j]
		}
	}
	b.fall()
	return b
}

// jump is by how much a probability of n persons jumps, or half of it, as far as noise does not
// smooth it.
func (w *worked) jump(n float64) float64 { return max(1-w.q.SD, 0) / (2 * max(n, 1)) }

// limits are those of a probability at the end of bin j-1.
func (w *worked) limits(c curve, j int, n, z float64) (lower, upper float64) {
	_, noise := w.variances(c.at(j), c.doubt[j])
	return limits(c.v[j], n, noise, w.jump(n), z)
}

// unknown cuts limits of a probability to [0, 1], and widens them for the persons whose outcome
// is not known.
func (w *worked) unknown(lower, upper, c float64) (float64, float64) {
	lower, upper = min(max(lower, 0), 1), min(max(upper, 0), 1)
	if !w.q.Missing {
		return lower, upper
	}
	share := min(w.missing+c*w.missingSD, 1)
	return lower * (1 - share), upper + (1-upper)*share
}

// cause is the cumulative incidence of a cause.
func (w *worked) cause(cause int) Band {
	_, mid, _ := w.q.omitted()
	value := w.mix(func(s *stratum) part {
		f, slope := s.mid.incidence(s.arm, cause, mid)
		return part{f, slope, s.mid.doubt}
	}, stays)
	least, most := value, value
	bounds := func(s *stratum) (least, most part) {
		f, slope := s.mid.incidence(s.arm, cause, mid)
		least = part{f, slope, s.mid.doubt}
		most = least
		if w.q.Grouped {
			least.v, least.slope, most.v, most.slope = s.bounds(s.low, s.high, cause)
		}
		return least, most
	}
	least = w.mix(func(s *stratum) part { p, _ := bounds(s); return p }, stays)
	most = w.mix(func(s *stratum) part { _, p := bounds(s); return p }, all)
	z := w.critical(value, miss)
	b := newBand(w.known, w.q.Bins)
	for j := 1; j <= w.q.Bins; j++ {
		n := w.effective(lowPath, func(s *stratum, j int) float64 { f, _ := s.mid.incidence(s.arm, cause, mid); return f[j] }, cause, j) // the fewest at risk
		lower, _ := w.limits(least, j, n, z)
		_, upper := w.limits(most, j, n, z)
		b.Lower[j-1], b.Upper[j-1] = w.unknown(lower, upper, z)
		if j <= w.known {
			b.Values[j-1] = value.v[j]
		}
	}
	b.rise()
	return b
}

// difference is that of arm x from the control.
func difference(x, control *worked, place int, z float64) Difference {
	d := Difference{Arm: place, Mean: meanDifference(x, control, z)}
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
	return least[0] - most[1] - math.Hypot(down[0], up[1]), most[0] - least[1] + math.Hypot(up[0], down[1])
}

// meanDifference is the difference of restricted means. Persons of unknown arm may be of
// either, so that what is missing adds up without squares.
func meanDifference(x, control *worked, z float64) Mean {
	total := x.q.Ends[x.q.Until-1]
	a, b := x.mean(z), control.mean(z)
	xLow, xHigh := x.meanEnds()
	cLow, cHigh := control.meanEnds()
	apart := func(e, f end) (below, above float64) {
		missing := e.missing + f.missing
		return away(z, e.sampling+e.noise+f.sampling+f.noise+missing*missing, e.third-f.third)
	}
	m := Mean{Value: a.Value - b.Value, StdSampling: math.Hypot(a.StdSampling, b.StdSampling), StdPrivacy: math.Hypot(a.StdPrivacy, b.StdPrivacy), Z: z}
	below, _ := apart(xLow, cHigh)
	_, above := apart(xHigh, cLow)
	m.Lower = max(xLow.value-cHigh.value-below, -total)
	m.Upper = min(xHigh.value-cLow.value+above, total)
	m.Value = min(max(m.Value, m.Lower), m.Upper)
	return m
}

// critical is the critical value of a curve of the arm.
func (w *worked) critical(c curve, alpha float64) float64 {
	return pathCritical(w.q.Bins, alpha, func(i, j int) float64 { return w.covariance(c.at(i), c.at(j)) })
}

// differenceCritical is the critical value of the difference of two curves.
func differenceCritical(x, control *worked, known int, alpha float64) float64 {
	return pathCritical(known, alpha, func(i, j int) float64 {
		return x.covariance(x.value.at(i), x.value.at(j)) + control.covariance(control.value.at(i), control.value.at(j))
	})
}
