package survival

import "math"

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

// meanDifference is the difference of restricted means. Persons of unknown arm may be of
// either, so that what is missing adds up without squares.
func meanDifference(x, control *worked, z float64) Mean {
	total := x.q.Ends[x.q.Until-1]
	a, b := x.mean(z), control.mean(z)
	xLow, xHigh := x.meanEnds()
	cLow, cHigh := control.meanEnds()
	more := 0.0
	if x.q.Overlap {
		_, g := x.sums(x.value)
		_, h := control.sums(control.value)
		more = x.shared(control, g, h)
	}
	apart := func(e, f end) (below, above float64) {
		missing := e.missing + f.missing
		return away(z, e.sampling+e.noise+f.sampling+f.noise+more+missing*missing, e.third-f.third)
	}
	m := Mean{Value: a.Value - b.Value, StdSampling: math.Hypot(a.StdSampling, b.StdSampling), StdPrivacy: math.Hypot(a.StdPrivacy, b.StdPrivacy), Z: z}
	below, _ := apart(xLow, cHigh)
	_, above := apart(xHigh, cLow)
	m.Lower = max(xLow.value-cHigh.value-below, -total)
	m.Upper = min(xHigh.value-cLow.value+above, total)
	m.Value = min(max(m.Value, m.Lower), m.Upper)
	return m
}
