package survival

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/band"
)

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
	// SD is the standard deviation of the noise of one cell or, with Sums, of the square root of running
	// sums along [Layout.Series], from which cells follow.
	SD   float64
	Sums bool
	// Weights are the largest weights of a person in the arms, which are then policies: a person
	// adds to a cell of each arm a share, their weight over the largest. Nil: persons count whole, in one arm.
	Weights []float64
	// Overlap says that a person may add to several arms.
	Overlap bool
	// Pairs are the arms whose differences are asked for, in place of Control, and Together is
	// how many means and differences hold together; 0 means all arms, or all but the control.
	Pairs    [][2]int
	Together int
	// Form says what is known of those who are censored, and Persons is the public number of
	// persons, which only limits need.
	Form    Form
	Persons float64
	// Rarest is one over the smallest probability of an arm, which only [Question.Gains] needs, where persons are missing.
	Rarest float64
}

// pairs are the differences that are asked for.
func (q Question) pairs() (all [][2]int) {
	for i := range q.Arms {
		if q.Control >= 0 && i != q.Control {
			all = append(all, [2]int{i, q.Control})
		}
	}
	return append(all, q.Pairs...)
}

// jointMeans is how many means of arms hold together, with differences where these are asked for too.
func (q Question) jointMeans() int {
	if q.Together > 0 {
		return q.Together
	}
	return q.Arms
}

// together is how many means, or differences, hold together.
func (q Question) together() int {
	switch {
	case q.Together > 0:
		return q.Together
	case q.Control >= 0:
		return q.Arms - 1
	}
	return q.Arms
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

// Difference is that of an arm from another, the control.
type Difference struct {
	Arm, Control int

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
	if q.Form != Curves {
		return q.limited(cells)
	}
	var r Result
	arms := make([]*worked, q.Arms)
	for i := range arms {
		arms[i] = q.work(cells, i)
		r.Arms = append(r.Arms, arms[i].arm())
	}
	for _, p := range q.pairs() {
		d := difference(arms[p[0]], arms[p[1]], quantile(q.together()))
		d.Arm, d.Control = p[0], p[1]
		r.Differences = append(r.Differences, d)
	}
	return r
}

// worked is an arm with its strata and the curves that follow: survival at its least and at its
// most, by the order of events and censoring in a bin and by what becomes of those who are too
// few to tell, and in between.
type worked struct {
	q       Question
	weight  float64 // the largest of a person
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

// weight is the largest weight of a person in arm i.
func (q Question) weight(i int) float64 {
	if q.Weights == nil {
		return 1
	}
	return q.Weights[i]
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
	w := &worked{q: q, known: q.Bins, weight: q.weight(i)}
	w.cells = cells[from : from+max(q.Strata, 1)*each]
	high, mid, low := q.omitted()
	risks := q.riskSDs()
	for k := range max(q.Strata, 1) {
		s := stratum{arm: arm{cells: w.cells[k*each : (k+1)*each], bins: q.Bins, causes: q.Causes, sd: q.SD, grouped: q.Grouped, spread: q.spreading(), riskSD: risks}}
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

// variances are those of sampling and of noise of a quantity with the given derivatives. A
// quantity of hazards and shares does not change where all cells grow alike, so that its sampling
// variance is the sum of cells times squared derivatives: of survival, where all or none of the
// censored of a bin count at risk in it, that is Greenwood's.
func (w *worked) variances(slope []float64, doubt float64) (sampling, noise float64) {
	return w.sampling(slope), w.noise(w.strata[0].spread(slope), doubt)
}

func (w *worked) sampling(slope []float64) (v float64) {
	for k, g := range slope {
		v += max(w.cells[k], 0) * g * g
	}
	return v
}

// noise is the variance of a quantity with the given derivatives by what has independent noise.
func (w *worked) noise(spread []float64, doubt float64) (v float64) {
	for _, g := range spread {
		v += g * g
	}
	return v * w.q.SD * w.q.SD * doubt
}

// covariance is that of a curve at two bins, sampling and noise together.
func (w *worked) covariance(c curve, i, j int) float64 {
	v, own, g, h := 0.0, w.q.SD*w.q.SD, c.at(i), c.at(j)
	if w.q.Sums {
		other := w.spreadAt(c, j)
		for k, x := range w.spreadAt(c, i) {
			v += own * x * other[k]
		}
		own = 0
	}
	for k := range g {
		v += (max(w.cells[k], 0) + own) * g[k] * h[k]
	}
	return v
}

// arm is what is estimated of the arm.
func (w *worked) arm() Arm {
	out := Arm{Steady: w.known, MissingShare: w.deviation, Mean: w.mean(quantile(1)), JointMean: w.mean(quantile(w.q.jointMeans())), AtRisk: make([]float64, w.q.Bins)}
	for _, s := range w.strata {
		risk := s.persons
		for j := range w.q.Bins {
			out.AtRisk[j] += w.weight * risk
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
	b.Fall()
	return b
}

// jump is by how much a probability of n persons jumps, or half of it, as far as noise does not
// smooth it.
func (w *worked) jump(n float64) float64 { return max(1-w.q.SD, 0) / (2 * max(n, 1)) }

// limits are those of a probability at the end of bin j-1.
func (w *worked) limits(c curve, j int, n, z float64) (lower, upper float64) {
	return limits(c.v[j], n, w.noise(w.spreadAt(c, j), c.doubt[j]), w.jump(n), z)
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
	b.Rise()
	return b
}

// critical is the critical value of a curve of the arm. Where persons have weights only the
// variances of their errors are bounded, not the correlations.
func (w *worked) critical(c curve, alpha float64) float64 {
	if w.q.Weights != nil {
		return band.Bonferroni(w.q.Bins, alpha)
	}
	return band.PathCritical(w.q.Bins, alpha, func(i, j int) float64 { return w.covariance(c, i, j) })
}
