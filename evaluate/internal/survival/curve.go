package survival

// steady is by how many of its own standard deviations the noisy number at risk must be above
// zero: from the first bin on where it is not, nothing is estimated.
const steady = 4

// firm is by how many it must be above zero for its noise not to matter where it divides.
const firm = 8

// path is the survival of one arm by the end of each bin, with its derivatives, for one rule on
// how much of their last bin the censored count at risk.
type path struct {
	known  int       // bins in which enough persons are at risk
	s      []float64 // survival to the start of bin j; one more than known
	hazard [][]float64
	risk   []float64
	// slope[j*cells+k] is the derivative of s[j] by cell k of the arm.
	slope []float64
	cells int
	// doubt[j] is by how much the variance of noise in s[j] may be larger than derivatives at the
	// noisy counts say: they divide by numbers at risk, which may be up to a standard deviation less where they are
	// just steady, and not where they are firm.
	doubt []float64
}

// arm is what is known of one arm, or of a stratum of it: its noisy cells, how many bins
// and causes there are, and the standard deviation of the noise of one cell.
type arm struct {
	cells        []float64
	bins, causes int
	sd           float64
	// grouped says that the order of events and censoring within a bin is not known.
	grouped bool
	spread  spreading
	riskSD  []float64 // by bin, the standard deviation of the noise of the number at risk
}

// at is the noisy count of a cell.
func (a arm) at(bin, cause int) float64 { return a.cells[bin*(a.causes+1)+cause] }

// steadyBins is the number of first bins in which enough persons are at risk.
func (a arm) steadyBins() int {
	risk, kept := a.cells[a.bins*(a.causes+1)], 0
	risks := make([]float64, a.bins)
	for j := a.bins - 1; j >= 0; j-- {
		for c := range a.causes + 1 {
			risk += a.at(j, c)
		}
		risks[j] = risk
	}
	for j := range a.bins {
		least := steady * a.riskSD[j]
		if a.grouped {
			least = max(least, a.at(j, 0))
		}
		if !(risks[j] > least) {
			break
		}
		kept++
	}
	return kept
}

// follow computes the path. Of the censored in a bin the share omitted does not count at risk
// in it: 0 where events come before censoring, 1 where it is the other way round.
func (a arm) follow(omitted float64) *path {
	p := &path{known: a.steadyBins(), cells: len(a.cells)}
	p.s = make([]float64, p.known+1)
	p.slope = make([]float64, (p.known+1)*p.cells)
	p.risk = make([]float64, p.known)
	p.doubt = make([]float64, p.known+1)
	p.s[0], p.doubt[0] = 1, 1
	after := 0.0 // persons who leave in a later bin, or never
	for j := a.bins - 1; j >= p.known; j-- {
		for c := range a.causes + 1 {
			after += a.at(j, c)
		}
	}
	after += a.cells[a.bins*(a.causes+1)]
	for j := p.known - 1; j >= 0; j-- {
		exits := 0.0
		for c := 1; c <= a.causes; c++ {
			exits += a.at(j, c)
		}
		p.risk[j] = after + exits + (1-omitted)*a.at(j, 0)
		after += exits + a.at(j, 0)
	}
	p.hazard = make([][]float64, p.known)
	for j := range p.known {
		p.hazard[j] = make([]float64, a.causes+1) // by cause, and of all at 0
		for c := 1; c <= a.causes; c++ {
			p.hazard[j][c] = a.at(j, c) / p.risk[j]
			p.hazard[j][0] += p.hazard[j][c]
		}
		p.hazard[j][0] = min(p.hazard[j][0], 1)
		p.s[j+1] = p.s[j] * (1 - p.hazard[j][0])
		sd := a.riskSD[j]
		less := 1.0
		if sd > 0 {
			unsure := min(max((firm-p.risk[j]/sd)/(firm-steady), 0), 1)
			less = p.risk[j] / max(p.risk[j]-unsure*sd, p.risk[j]/2)
		}
		p.doubt[j+1] = max(p.doubt[j], less*less)
		p.step(a, j, omitted)
	}
	return p
}

// atRisk is the derivative of the number at risk in bin j by cell k, and cause that of the
// events: 0 where the cell is no event of the bin.
func (a arm) atRisk(j, k int, omitted float64) (risk float64, cause int) {
	bin, c := k/(a.causes+1), k%(a.causes+1)
	switch {
	case bin > j: // the cell of those who never left is in bin a.bins
		return 1, 0
	case bin < j:
		return 0, 0
	case c == 0:
		return 1 - omitted, 0
	}
	return 1, c
}

// step fills in the derivatives of s[j+1].
func (p *path) step(a arm, j int, omitted float64) {
	before, after := p.slope[j*p.cells:(j+1)*p.cells], p.slope[(j+1)*p.cells:(j+2)*p.cells]
	h := p.hazard[j][0]
	for k := range p.cells {
		risk, cause := a.atRisk(j, k, omitted)
		event := 0.0
		if cause > 0 {
			event = 1
		}
		after[k] = before[k]*(1-h) - p.s[j]*(event-h*risk)/p.risk[j]
	}
}

// bounds are the cumulative incidence of a cause where nobody knows the order of events and
// censoring within a bin: at its least with the least survival and all at risk, and at its most
// with the most survival, the events of other causes before all censoring and those of the cause
// after it. Their derivatives stand beside them.
func (a arm) bounds(low, high *path, cause int) (least, leastSlope, most, mostSlope []float64) {
	n := low.cells
	least, leastSlope = make([]float64, low.known+1), make([]float64, (low.known+1)*n)
	most, mostSlope = make([]float64, low.known+1), make([]float64, (low.known+1)*n)
	for j := range low.known {
		risk, gone, own := high.risk[j], max(a.at(j, 0), 0), a.at(j, cause) // noise may make it negative
		others := -own
		for c := 1; c <= a.causes; c++ {
			others += a.at(j, c)
		}
		rest := max(risk-others, gone+1e-9)
		exposed := risk - risk*gone/rest
		if !(exposed > 0) {
			exposed = 1e-9
		}
		h, g := own/risk, own/exposed
		least[j+1], most[j+1] = least[j]+low.s[j]*h, most[j]+high.s[j]*g
		for k := range n {
			at, c := a.atRisk(j, k, 0)
			event, censored, other := 0.0, 0.0, 0.0
			switch {
			case c == cause:
				event = 1
			case c > 0:
				other = 1
			case k == j*(a.causes+1):
				censored = 1
			}
			changed := at*(1+gone*others/(rest*rest)) - censored*risk/rest - other*risk*gone/(rest*rest)
			leastSlope[(j+1)*n+k] = leastSlope[j*n+k] + low.slope[j*n+k]*h + low.s[j]*(event-h*at)/risk
			mostSlope[(j+1)*n+k] = mostSlope[j*n+k] + high.slope[j*n+k]*g + high.s[j]*(event-g*changed)/exposed
		}
	}
	return least, leastSlope, most, mostSlope
}

// incidence is the cumulative incidence of a cause by the end of each known bin, and its
// derivatives: Aalen and Johansen 1978.
func (p *path) incidence(a arm, cause int, omitted float64) (f, slope []float64) {
	f, slope = make([]float64, p.known+1), make([]float64, (p.known+1)*p.cells)
	for j := range p.known {
		h := p.hazard[j][cause]
		f[j+1] = f[j] + p.s[j]*h
		for k := range p.cells {
			risk, c := a.atRisk(j, k, omitted)
			event := 0.0
			if c == cause {
				event = 1
			}
			slope[(j+1)*p.cells+k] = slope[j*p.cells+k] + p.slope[j*p.cells+k]*h + p.s[j]*(event-h*risk)/p.risk[j]
		}
	}
	return f, slope
}
