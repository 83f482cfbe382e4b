package lossdist

import (
	"math"
	"slices"
	"sort"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// ulp is the unit round-off of float64.
const ulp = 0x1p-53

// Bins is a pair of laws (P, Q) whose privacy loss ln dP/dQ has been cut into
// cells. Of each cell the masses under P and Q are known, and the range of the
// loss; nothing is assumed of how the loss is spread inside. Beside the cells
// there are atoms, outcomes whose loss is known exactly.
type Bins struct {
	// Knot holds the losses at the cuts, increasing; cell i lies between Knot[i]
	// and Knot[i+1]. The first may be -Inf and the last +Inf.
	Knot []Loss
	Cell []Cell
	Atom []Atom
	// MassError bounds the relative error of every mass.
	MassError float64
}

// Loss is a privacy loss with a bound on its absolute error.
type Loss struct{ Value, Error float64 }

func (l Loss) up() float64   { return l.moved(1) }
func (l Loss) down() float64 { return l.moved(-1) }

func (l Loss) moved(sign float64) float64 {
	if math.IsInf(l.Value, 0) {
		return l.Value
	}
	return l.Value + sign*(l.Error+2*ulp*math.Abs(l.Value))
}

// Cell is a set of outcomes that a partition lumps together.
type Cell struct {
	P, Q float64 // masses
	Mid  Loss    // ln(P/Q), the loss of whoever sees only that the cell was hit
	Base int     // the interval of the law's cuts that the cell comes from
}

// Atom is a set of outcomes of equal loss.
type Atom struct {
	P, Q float64
	Loss Loss
}

// Reverse exchanges the two laws.
func (b *Bins) Reverse() *Bins {
	r := &Bins{
		Knot:      make([]Loss, len(b.Knot)),
		Cell:      make([]Cell, len(b.Cell)),
		Atom:      make([]Atom, len(b.Atom)),
		MassError: b.MassError,
	}
	for i, k := range b.Knot {
		r.Knot[len(b.Knot)-1-i] = k.negated()
	}
	for i, c := range b.Cell {
		r.Cell[len(b.Cell)-1-i] = c.reversed()
	}
	for i, a := range b.Atom {
		r.Atom[i] = a.reversed()
	}
	return r
}

func (l Loss) negated() Loss  { return Loss{-l.Value, l.Error} }
func (c Cell) reversed() Cell { return Cell{P: c.Q, Q: c.P, Mid: c.Mid.negated(), Base: c.Base} }
func (a Atom) reversed() Atom { return Atom{P: a.Q, Q: a.P, Loss: a.Loss.negated()} }

// Upper returns a law of the loss under P whose every hockey-stick divergence,
// composed or not, is at least that of the pair. The mass of a cell is split
// between the cell's two ends so that its mass under Q is kept too, which is the
// pair whose hockey-stick curve connects the dots (Doroshenko et al. 2022); all
// roundings move mass up.
func (b *Bins) Upper() *Measure {
	at := make([]float64, len(b.Knot))
	for i, c := range b.Cell {
		up := upShare(b.Knot[i], c.Mid, b.Knot[i+1])
		at[i] += c.P * (1 - up)
		at[i+1] += c.P * up
	}
	m := newMeasure(len(at)+len(b.Atom), b.MassError+16*ulp)
	for i, k := range b.Knot {
		m.add(k.up(), at[i])
	}
	for _, a := range b.Atom {
		m.add(a.Loss.up(), a.P)
	}
	return m
}

// Lower returns a law of the loss under P whose every hockey-stick divergence,
// composed or not, is at most that of the pair: that of an observer who sees
// only which cell was hit. All roundings move mass down.
func (b *Bins) Lower() *Measure {
	m := newMeasure(len(b.Cell)+len(b.Atom), b.MassError+16*ulp)
	for _, c := range b.Cell {
		m.add(c.Mid.down(), c.P)
	}
	for _, a := range b.Atom {
		m.add(a.Loss.down(), a.P)
	}
	return m
}

// upShare is the share of a cell's mass that goes to its upper end, rounded up:
// the root s of (1-s) e^-lo + s e^-hi = e^-mid.
func upShare(lo, mid, hi Loss) float64 {
	num := -math.Expm1(lo.Value-mid.Value)*(1+8*ulp) + lo.Error + mid.Error
	den := -math.Expm1(lo.Value-hi.Value)*(1-8*ulp) - lo.Error - hi.Error
	if math.IsInf(hi.Value, 1) {
		den = 1
	}
	if math.IsInf(lo.Value, -1) || !(den > 0) || !(num < den) {
		return 1
	}
	return max(0, num/den*(1+8*ulp))
}

// excess returns, for each of the n intervals of the law's cuts, how much the
// means of some functions of the loss differ there between the upper and the lower
// measure, where the upper's is larger. Cells that reach infinity do not count.
func (b *Bins) excess(terms []func(loss float64) float64, n int) []float64 {
	out := make([]float64, n)
	at, known := make([]float64, len(terms)), -1 // the terms at a knot
	for i, c := range b.Cell {
		lo, hi := b.Knot[i].Value, b.Knot[i+1].Value
		if c.Base < 0 || c.Base >= n || c.P == 0 || math.IsInf(lo, -1) || math.IsInf(hi, 1) {
			continue
		}
		up := upShare(b.Knot[i], c.Mid, b.Knot[i+1])
		for t, g := range terms {
			if known != i {
				at[t] = g(lo)
			}
			next := g(hi)
			if e := c.P * ((1-up)*at[t] + up*next - g(c.Mid.Value)); e > 0 {
				out[c.Base] += e
			}
			at[t] = next
		}
		known = i + 1
	}
	return out
}

// Measure is a finite law of the privacy loss with a part at +infinity.
type Measure struct {
	Loss, Mass []float64
	Infinite   float64
	// MassError bounds the relative error of every mass.
	MassError float64

	total   float64 // of the finite masses
	highest float64

	gained     bool
	gain, size float64 // of gains, once it was asked for
}

func newMeasure(n int, massError float64) *Measure {
	return &Measure{
		Loss: make([]float64, 0, n), Mass: make([]float64, 0, n),
		MassError: massError,
	}
}

func (m *Measure) add(loss, mass float64) {
	switch {
	case !(mass > 0):
	case math.IsInf(loss, 1):
		m.Infinite += mass
	case math.IsInf(loss, -1):
		// Outcomes that are impossible under P.
	default:
		m.Loss = append(m.Loss, loss)
		m.Mass = append(m.Mass, mass)
	}
}

// finish sorts the atoms by loss and fixes the sum of the masses.
func (m *Measure) finish() *Measure {
	if !slices.IsSorted(m.Loss) {
		sort.Sort(byLoss{m})
	}
	sum, low := 0.0, 0.0
	for _, w := range m.Mass {
		var e float64
		sum, e = xmath.TwoSum(sum, w)
		low += e
	}
	m.total = sum + low
	m.highest = 0
	if n := len(m.Loss); n > 0 {
		m.highest = m.Loss[n-1]
	}
	return m
}

// gains is the sum of mass (1 - e^-loss), and that of its absolute values.
func (m *Measure) gains() (gain, size float64) {
	if !m.gained {
		m.gained, m.gain, m.size = true, 0, 0
		for i, w := range m.Mass {
			g := w * -math.Expm1(-m.Loss[i])
			m.gain += g
			m.size += math.Abs(g)
		}
	}
	return m.gain, m.size
}

type byLoss struct{ *Measure }

func (b byLoss) Len() int           { return len(b.Loss) }
func (b byLoss) Less(i, j int) bool { return b.Loss[i] < b.Loss[j] }
func (b byLoss) Swap(i, j int) {
	b.Loss[i], b.Loss[j] = b.Loss[j], b.Loss[i]
	b.Mass[i], b.Mass[j] = b.Mass[j], b.Mass[i]
}

// trim takes the largest losses away, as long as their mass is below what: on
// the upper side it becomes infinite, on the lower side it is lost. Either is
// safe, and a few outcomes of next to no mass cannot spoil the tilt.
func (m *Measure) trim(what float64, upper bool) *Measure {
	n, mass := len(m.Loss), 0.0
	for n > 0 && mass+m.Mass[n-1] <= what {
		n--
		mass += m.Mass[n]
	}
	m.Loss, m.Mass = m.Loss[:n], m.Mass[:n]
	if upper {
		m.Infinite += mass * (1 + 64*ulp)
	}
	m.gained = false
	return m.finish()
}

// uniformCuts returns n+1 equally spaced cuts with the given others merged in.
func uniformCuts(lo, hi float64, n int, others ...float64) []float64 {
	cuts := make([]float64, 0, n+1+len(others))
	for i := range n + 1 {
		cuts = append(cuts, lo+(hi-lo)*(float64(i)/float64(n)))
	}
	cuts[n] = hi
	for _, x := range others {
		if x > lo && x < hi {
			cuts = append(cuts, x)
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}
