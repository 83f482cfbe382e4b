package lossdist

import (
	"context"
	"math"
)

// Part is a privacy loss that enters a composition Count times.
type Part struct {
	Law Law
	// Shape, if not nil, maps the law's bins to those of the part: a sampling
	// rule, or an exchange of the two laws.
	Shape func(*Bins) *Bins
	// Rate is the share of the first law in the mixture that Shape makes, or 1.
	Rate  float64
	Count float64
}

// Composition is a sum of independent privacy losses.
type Composition struct {
	Parts []Part
	// Gaussian brackets the mu^2 of all plain Gaussian mechanisms together.
	Gaussian [2]float64
	// Width is the width of a bracket that is aimed at, relative to epsilon; 0 is 2e-4. A
	// bracket that would cost too much is wider.
	Width float64
}

// scale is the width that is asked for over the usual one.
func (c Composition) scale() float64 {
	if c.Width > 0 {
		return c.Width / fineness
	}
	return 1
}

// side is one part's bounding measure on one side.
type side struct {
	measure *Measure
	count   float64
}

const (
	// fineness is the width of a bracket that refinement aims at, relative to
	// epsilon; smoothness is what smoothing may add.
	fineness   = 2e-4
	smoothness = 1e-4
	// leastTolerance is the smallest tolerance in ln delta worth its price.
	leastTolerance = 2e-5
	// mostTolerance keeps the curve's slope at the answer meaningful.
	mostTolerance = 0.05
	// tailShare is the part of delta that goes to losses beyond the partitions.
	tailShare = 2e-5
	maxRounds = 6
	maxPasses = 5
	// maxWork bounds the products of atoms and frequencies after which no further
	// pass is made.
	maxWork = 2e8
	// maxCells bounds the cells of all partitions of a composition of few parts, and
	// partCells the average of one of many.
	maxCells       = 1 << 13
	partCells      = 128
	maxFrequencies = 1 << 15
)

// query is either delta(epsilon), where delta is the expected size of the answer,
// or epsilon(delta).
type query struct {
	epsilon, delta float64
	forEpsilon     bool
}

// state is a composition cut for one query.
type state struct {
	ctx   context.Context // once it is cancelled nothing more is refined
	comp  Composition
	query query
	cuts  [][]float64
	bins  []*Bins
	lower []side
	upper []side
	// near is the lower side without the losses beyond the cutoff, which are
	// accounted for apart.
	near   []side
	cutoff float64
	// model stands for near, of few parts, where an estimate will do.
	model []side

	spread float64 // standard deviation of the composed loss
	tilt   float64
	// guess is where on the curve the answer lies; slope is -d ln delta/d eps
	// there. At first they come from the Chernoff bound, then from the curve.
	guess   query
	slope   float64
	located bool
	// sharper divides the tolerances.
	sharper float64
	// enough is a bound on the answer below which it does not matter.
	enough float64
	work   float64
}

// newState makes the first, coarse partition.
func newState(ctx context.Context, c Composition, q query) *state {
	n := len(c.Parts)
	s := &state{
		ctx: ctx, comp: c, query: q, sharper: 1, cutoff: math.Inf(1),
		cuts: make([][]float64, n), bins: make([]*Bins, n), lower: make([]side, n), upper: make([]side, n),
	}
	for i := range c.Parts {
		if ctx.Err() != nil { // what follows has to cost nothing
			s.comp.Parts, s.cuts, s.bins, s.lower, s.upper = nil, nil, nil, nil, nil
			break
		}
		s.cuts[i] = s.first(i)
		s.cut(i)
	}
	variance := c.Gaussian[1]
	for _, p := range s.lower {
		variance += p.count * p.measure.variance()
	}
	s.spread = max(math.Sqrt(variance), 1e-300)
	return s
}

// tail is the mass that one run of part i may lose at the ends of its partition.
func (s *state) tail(i int) float64 {
	return tailShare * s.query.delta / (s.comp.Parts[i].Count * float64(len(s.comp.Parts)))
}

// first is the first partition of part i.
func (s *state) first(i int) []float64 {
	p := s.comp.Parts[i]
	return p.Law.Cuts(Tails{Mass: s.tail(i), Rate: p.Rate})
}

// single reports that nothing is composed, so that nothing need be inverted.
func (s *state) single() bool {
	return len(s.comp.Parts) == 1 && s.comp.Parts[0].Count == 1 && s.comp.Gaussian[1] == 0
}

// cut computes the bins of part i and both of its measures.
func (s *state) cut(i int) {
	p := s.comp.Parts[i]
	b := p.Law.Bins(s.cuts[i])
	if p.Shape != nil {
		b = p.Shape(b)
	}
	s.bins[i] = b
	least := s.tail(i)
	s.lower[i] = side{b.Lower().finish().trim(least, false), p.Count}
	s.upper[i] = side{b.Upper().finish().trim(least, true), p.Count}
}

// resolve chooses the tilt and refines the partition until the expected width of
// the bracket is within tolerance.
func (s *state) resolve() {
	if s.located {
		// A partition made before the answer was located may be fine in the wrong
		// places.
		for i := range s.cuts {
			if len(s.cuts[i]) > maxCells/8 {
				s.cuts[i] = s.first(i)
				s.cut(i)
			}
		}
	}
	for round := 0; ; round++ {
		s.aim(round > 0)
		if round == maxRounds || s.ctx.Err() != nil || !s.refine() {
			return
		}
	}
}

// relative is the width in ln delta of a bracket of unit relative width.
func (s *state) relative() float64 {
	if s.query.forEpsilon {
		return s.slope * s.guess.epsilon
	}
	return 1
}

// tolerance of many parts is wider, for each costs as much as one of few.
func (s *state) tolerance(share float64) float64 {
	if len(s.comp.Parts) > mostModelled {
		share *= 1.6
	}
	scale := s.comp.scale()
	return min(max(scale*share*s.relative(), min(scale, 1)*leastTolerance), mostTolerance) / s.sharper
}

// refine subdivides the cells so that the two measures agree to the tolerance on
// what delta depends on; it reports whether there was need to. The error of a
// cell goes as the square of its width, so the cheapest partition gives each
// interval pieces in proportion to the cube root of its error.
func (s *state) refine() bool {
	tolerance := s.tolerance(fineness)
	excess := make([][]float64, len(s.cuts))
	core := 0.0
	if s.located {
		core = s.core(s.guess.epsilon / 2)
	}
	total, roots, cells := 0.0, 0.0, 0
	for i, cuts := range s.cuts {
		if len(cuts) < 2 {
			continue
		}
		excess[i] = s.bins[i].excess(s.influence(i, core), len(cuts)-1)
		for j, e := range excess[i] {
			e *= s.comp.Parts[i].Count
			excess[i][j] = e
			total += e
			roots += math.Cbrt(e)
		}
		cells += len(cuts)
	}
	most := max(maxCells, partCells*len(s.cuts))
	if total <= tolerance || cells >= most {
		return false
	}
	scale := min(math.Sqrt(1.1*roots/tolerance), float64(most)/roots)
	changed := false
	for i, cuts := range s.cuts {
		if excess[i] == nil || s.ctx.Err() != nil {
			continue
		}
		if next := subdivide(s.comp.Parts[i].Law, cuts, excess[i], scale); len(next) > len(cuts) {
			s.cuts[i] = next
			s.cut(i)
			changed = true
		}
	}
	return changed
}

// influence, given the core of the composed loss, is, about, what one run's loss does to ln delta: delta(eps-loss) over
// delta(eps), as a sum of terms that are each refined for.
func (s *state) influence(i int, core float64) []func(loss float64) float64 {
	eps, inverse := s.guess.epsilon, 1/s.guess.delta
	switch {
	case s.single() && s.located:
		return []func(float64) float64{func(l float64) float64 {
			if l <= eps {
				return 0
			}
			return -inverse * math.Expm1(eps-l)
		}}
	case s.located:
		// The tilted law did not say enough, as where far losses are too likely for
		// one exponential. A small loss moves delta along its slope; a large one
		// takes the whole sum, the others being about normal, past epsilon.
		terms := []func(float64) float64{
			func(l float64) float64 { return math.Exp(s.slope * min(l, eps)) },
			func(l float64) float64 { return inverse * smoothPayoff(l-eps, core) },
			func(l float64) float64 { return inverse * smoothPayoff(l-eps, s.spread) },
		}
		if middle := math.Sqrt(core * s.spread); core < s.spread/10 {
			terms = append(terms, func(l float64) float64 { return inverse * smoothPayoff(l-eps, middle) })
		}
		return terms
	}
	a := s.tilt
	k, _ := s.lower[i].measure.cumulant(a)
	return []func(float64) float64{func(l float64) float64 { return math.Exp(a*l - k) }}
}

// core is the root mean square of the composed loss, but for single losses of
// more than limit, or its mean's size if that is more.
func (s *state) core(limit float64) float64 {
	square, mean := s.comp.Gaussian[1], s.comp.Gaussian[1]/2
	for _, p := range s.lower {
		for i, l := range p.measure.Loss {
			if math.Abs(l) <= limit {
				square += p.count * p.measure.Mass[i] * l * l
				mean += p.count * p.measure.Mass[i] * l
			}
		}
	}
	return max(math.Sqrt(square), math.Abs(mean), s.spread*1e-6)
}

// smoothPayoff is the mean of (1 - e^-(t+Z))+ for a normal Z of standard deviation
// s and mean s^2/2.
func smoothPayoff(t, s float64) float64 {
	return 0.5 * (math.Erfc(-(t/s+s/2)/math.Sqrt2) - math.Exp(-t)*math.Erfc(-(t/s-s/2)/math.Sqrt2))
}

func subdivide(law Law, cuts, excess []float64, scale float64) []float64 {
	_, integer := law.(lattice)
	next := append(make([]float64, 0, 2*len(cuts)), cuts[0])
	for j, e := range excess {
		lo, hi := cuts[j], cuts[j+1]
		pieces := math.Ceil(math.Cbrt(e) * scale)
		for k := 1.0; k < pieces; k++ {
			x := lo + (hi-lo)*(k/pieces)
			if integer {
				x = math.Round(x)
			}
			if x > next[len(next)-1] && x < hi {
				next = append(next, x)
			}
		}
		next = append(next, hi)
	}
	return next
}
