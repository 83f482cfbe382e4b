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

// worked is an arm with its paths: as if the censored of a bin were at risk to its end, to its
// middle and not at all. Where events come before censoring the three are one.
type worked struct {
	q         Question
	a         arm
	high, mid *path
	low       *path
	missing   float64 // share of persons whose outcome is not known, 0 or above
	missingSD float64
	deviation float64 // of the share, as it was found
	persons   float64
}

// omitted are the shares of the censored of a bin that do not count at risk in it.
func (q Question) omitted() (high, mid, low float64) {
	if q.Grouped {
		return 0, 0.5, 1
	}
	return 0, 0, 0
}

func (q Question) work(cells []float64, i int) *worked {
	n := q.Bins*(q.Causes+1) + 1
	from := q.Exit(i, 0, 0)
	w := &worked{q: q, a: arm{cells: cells[from : from+n], bins: q.Bins, causes: q.Causes, sd: q.SD, grouped: q.Grouped}}
	high, mid, low := q.omitted()
	w.mid = w.a.follow(mid)
	w.high, w.low = w.mid, w.mid
	if q.Grouped {
		w.high, w.low = w.a.follow(high), w.a.follow(low)
	}
	for _, c := range w.a.cells {
		w.persons += c
	}
	if q.Missing {
		w.lost(cells[q.Unusable(i)], cells[q.Unknown()])
	}
	return w
}

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

// sums is the restricted mean of a path, as far as it is known, with nobody alive afterwards
// or, if alive, everybody who survived so far alive to the end; and its derivatives.
func (w *worked) sums(p *path, alive bool) (value float64, slope []float64) {
	slope = make([]float64, p.cells)
	add := func(j int, weight float64) {
		value += weight * p.s[j]
		for k := range slope {
			slope[k] += weight * p.slope[j*p.cells+k]
		}
	}
	known := min(p.known, w.q.Until)
	for j := range known {
		if w.q.Grouped {
			add(j, w.q.width(j)/2)
			add(j+1, w.q.width(j)/2)
		} else {
			add(j, w.q.width(j))
		}
	}
	if !alive {
		return value, slope
	}
	rest := 0.0
	for j := known; j < w.q.Until; j++ {
		rest += w.q.width(j)
	}
	if rest > 0 {
		add(known, rest)
	}
	return value, slope
}

// end is a quantity's lower or upper form: its value and the variances of its parts.
type end struct {
	value, sampling, noise float64
	// missing is the standard deviation that the number of missing persons adds.
	missing float64
	// event is by how much one event more would lower the lower form, where events are rare.
	event float64
}

// ends are the restricted mean at its least and at its most: by the order of events within a
// bin, by who lives on after the last bin that is known, and by what is missing.
func (w *worked) meanEnds() (low, high end) {
	total := w.q.Ends[w.q.Until-1]
	for i, e := range []*end{&low, &high} {
		p, alive := w.low, false
		if i == 1 {
			p, alive = w.high, true
		}
		value, slope := w.sums(p, alive)
		e.sampling, e.noise = w.a.variances(slope, p.doubt[min(p.known, w.q.Until)])
		kept := 1 - w.missing
		e.sampling, e.noise = e.sampling*kept*kept, e.noise*kept*kept
		if i == 0 {
			e.value, e.missing, e.event = value*kept, value*w.missingSD, w.rare(slope)*kept
		} else {
			e.value, e.missing = value*kept+total*w.missing, (total-value)*w.missingSD
		}
	}
	return low, high
}

func (e end) sd() float64 { return math.Sqrt(e.sampling + e.noise + e.missing*e.missing) }

// rare is by how much one event more would lower a restricted mean with the given derivatives,
// the more so the fewer events there are: nothing where half of the persons have one.
func (w *worked) rare(slope []float64) float64 {
	least := 0.0
	for k, g := range slope {
		if bin, c := k/(w.a.causes+1), k%(w.a.causes+1); bin < w.a.bins && c > 0 {
			least = min(least, g)
		}
	}
	return -least * max(2*w.low.s[min(w.low.known, w.q.Until)]-1, 0)
}

// below is how far a lower limit lies below the value, for a standard deviation: of rare events
// it is that of the most for which so few would be seen (as Wilson's limits are).
func (e end) below(z, sd float64) float64 {
	return e.event*z*z/2 + z*math.Sqrt(sd*sd+e.event*e.event*z*z/4)
}

// mean is the restricted mean.
func (w *worked) mean(z float64) Mean {
	total := w.q.Ends[w.q.Until-1]
	low, high := w.meanEnds()
	value, slope := w.sums(w.mid, false)
	most, _ := w.sums(w.mid, true)
	m := Mean{Value: (value + most) / 2, Z: z, Lower: low.value - low.below(z, low.sd()), Upper: high.value + z*high.sd()}
	sampling, noise := w.a.variances(slope, 1)
	m.StdSampling, m.StdPrivacy = math.Sqrt(sampling), math.Sqrt(noise)
	m.Lower, m.Upper = min(max(m.Lower, 0), total), min(max(m.Upper, 0), total)
	m.Value = min(max(m.Value, m.Lower), m.Upper)
	return m
}

// arm is what is estimated of the arm.
func (w *worked) arm() Arm {
	out := Arm{Steady: w.mid.known, MissingShare: w.deviation, Mean: w.mean(quantile(1)), JointMean: w.mean(quantile(w.q.Arms))}
	risk := w.persons
	for j := range w.q.Bins {
		out.AtRisk = append(out.AtRisk, risk)
		for c := range w.q.Causes + 1 {
			risk -= w.a.at(j, c)
		}
	}
	out.Curve = w.survival(pathCritical(w.a, w.mid.slope, w.mid.known, miss))
	if w.q.Causes > 1 {
		for c := 1; c <= w.q.Causes; c++ {
			out.Incidence = append(out.Incidence, w.cause(c))
		}
	}
	return out
}

// survival is the curve with limits c standard deviations away.
func (w *worked) survival(c float64) Band {
	b := newBand(w.mid.known, w.q.Bins)
	for j := 1; j <= w.mid.known; j++ {
		lower, _ := w.limits(w.low.s[j], w.low.at(j), w.low.doubt[j], w.low.effective(w.a, 0, j), c)
		_, upper := w.limits(w.high.s[j], w.high.at(j), w.high.doubt[j], w.high.effective(w.a, 0, j), c)
		b.Values[j-1] = w.mid.s[j]
		b.Lower[j-1], b.Upper[j-1] = w.unknown(lower, upper, c)
	}
	last := 1.0
	if w.mid.known > 0 {
		last = b.Upper[w.mid.known-1]
	}
	for j := w.mid.known; j < w.q.Bins; j++ {
		b.Lower[j], b.Upper[j] = 0, last
	}
	b.fall()
	return b
}

// at are the derivatives of survival to the end of bin j-1.
func (p *path) at(j int) []float64 { return p.slope[j*p.cells : (j+1)*p.cells] }

// limits are those of a probability with the given derivatives.
func (w *worked) limits(x float64, slope []float64, doubt, n, c float64) (lower, upper float64) {
	_, noise := w.a.variances(slope, doubt)
	return limits(x, n, noise, c)
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
	f, slope := w.mid.incidence(w.a, cause, mid)
	least, leastSlope, most, mostSlope := f, slope, f, slope
	if w.q.Grouped {
		least, leastSlope, most, mostSlope = w.a.bounds(w.low, w.high, cause)
	}
	c := pathCritical(w.a, slope, w.mid.known, miss)
	b := newBand(w.mid.known, w.q.Bins)
	cells := w.mid.cells
	for j := 1; j <= w.mid.known; j++ {
		n := w.low.effective(w.a, cause, j) // the fewest at risk
		lower, _ := w.limits(least[j], leastSlope[j*cells:(j+1)*cells], w.low.doubt[j], n, c)
		_, upper := w.limits(most[j], mostSlope[j*cells:(j+1)*cells], w.low.doubt[j], n, c)
		b.Values[j-1] = f[j]
		b.Lower[j-1], b.Upper[j-1] = w.unknown(lower, upper, c)
	}
	last := 0.0
	if w.mid.known > 0 {
		last = b.Lower[w.mid.known-1]
	}
	for j := w.mid.known; j < w.q.Bins; j++ {
		b.Lower[j], b.Upper[j] = last, 1
	}
	b.rise()
	return b
}

// difference is that of arm x from the control.
func difference(x, control *worked, place int, z float64) Difference {
	d := Difference{Arm: place, Mean: meanDifference(x, control, z)}
	known, bins := min(x.mid.known, control.mid.known), x.q.Bins
	// Where one arm ends before the bins do, its limits stand for it from there on, and the
	// two parts of the band share the probability to miss.
	alpha := miss
	if known < bins {
		alpha = miss / 2
	}
	c := differenceCritical(x, control, known, alpha)
	farMine := x.survival(pathCritical(x.a, x.mid.slope, x.mid.known, miss/4))
	farTheirs := control.survival(pathCritical(control.a, control.mid.slope, control.mid.known, miss/4))
	b := newBand(known, bins)
	for j := range bins {
		if j < known {
			b.Values[j] = farMine.Values[j] - farTheirs.Values[j]
			b.Lower[j], b.Upper[j] = apart(x, control, j+1, c)
		} else {
			b.Lower[j], b.Upper[j] = farMine.Lower[j]-farTheirs.Upper[j], farMine.Upper[j]-farTheirs.Lower[j]
		}
		b.Lower[j], b.Upper[j] = max(min(b.Lower[j], 1), -1), min(max(b.Upper[j], -1), 1)
		if j < known {
			b.Values[j] = min(max(b.Values[j], b.Lower[j]), b.Upper[j])
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
		lowX, highX := min(max(w.low.s[j], 0), 1), min(max(w.high.s[j], 0), 1)
		lower, _ := w.limits(w.low.s[j], w.low.at(j), w.low.doubt[j], w.low.effective(w.a, 0, j), c)
		_, upper := w.limits(w.high.s[j], w.high.at(j), w.high.doubt[j], w.high.effective(w.a, 0, j), c)
		down[i], up[i] = max(w.low.s[j]-lower, 0), max(upper-w.high.s[j], 0)
		least[i], most[i] = w.unknown(lowX, highX, c)
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
	sd := func(e, f end) float64 {
		return math.Sqrt(e.sampling + e.noise + f.sampling + f.noise + (e.missing+f.missing)*(e.missing+f.missing))
	}
	m := Mean{Value: a.Value - b.Value, StdSampling: math.Hypot(a.StdSampling, b.StdSampling), StdPrivacy: math.Hypot(a.StdPrivacy, b.StdPrivacy), Z: z}
	m.Lower = max(xLow.value-cHigh.value-xLow.below(z, sd(xLow, cHigh)), -total)
	m.Upper = min(xHigh.value-cLow.value+cLow.below(z, sd(xHigh, cLow)), total)
	m.Value = min(max(m.Value, m.Lower), m.Upper)
	return m
}

// differenceCritical is the critical value of the difference of two curves.
func differenceCritical(x, control *worked, known int, alpha float64) float64 {
	var correlations []float64
	last := -1
	between := func(i, j int) float64 {
		return x.a.covariance(x.mid.at(i), x.mid.at(j)) + control.a.covariance(control.mid.at(i), control.mid.at(j))
	}
	for j := 1; j <= known; j++ {
		v := between(j, j)
		if !(v > 0) {
			continue
		}
		if last >= 0 {
			correlations = append(correlations, between(last, j)/math.Sqrt(v*between(last, last)))
		}
		last = j
	}
	return critical(correlations, alpha)
}
