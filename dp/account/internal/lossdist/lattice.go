package lossdist

import (
	"context"
	"encoding/binary"
	"math"
	"sort"
)

// Lattice is the pair of two vectors of discrete Gaussian noise at an integer
// shift v, told apart by the one statistic that matters, t = v.x: the loss is
// (t - |v|^2/2)/sigma^2 = k/(2 sigma^2), k = 2t - |v|^2. Both laws are kept by
// their geometric mean, which is symmetric in k.
type Lattice struct {
	sigma float64
	k     []int     // increasing, above 0
	p, q  []float64 // masses at k; the masses at -k are those exchanged
	zero  float64   // mass at k = 0, under both
	// Error bounds the relative error of the masses, Beyond what either law has
	// on outcomes that were left out.
	Error, Beyond float64
}

const (
	// faint is the mass at which an outcome of some of the coordinates is left out.
	faint = 1e-50
	// beyondBox bounds the mass of one coordinate more than 14 sigma + 2 steps from its
	// mean, and of the faint outcomes left out with it.
	beyondBox = 1e-42
	// mostLoss bounds the losses kept, so that no mass is denormal.
	mostLoss = 580
)

// Radius is how far from a mean a coordinate is summed. It may exceed every int:
// [Lattices] is only for what its caller has found to be little work.
func Radius(sigma float64) float64 { return math.Ceil(farthestDiscrete*sigma) + 2 }

// Lattices returns the laws of several shifts, each given by its coordinates that
// are not 0. Shifts that begin alike share work. It is nil where the losses are too
// large.
func Lattices(ctx context.Context, sigma float64, shifts [][]int) []*Lattice {
	m := mixer{sigma: sigma, known: map[string]*blend{}}
	for x := Radius(sigma); x > 0; x-- {
		m.norm += 2 * math.Exp(-x*x/(2*sigma*sigma))
	}
	m.norm++
	out := make([]*Lattice, len(shifts))
	for i, v := range shifts {
		if ctx.Err() != nil {
			return nil
		}
		if out[i] = m.blend(v).lattice(sigma, len(v)); out[i] == nil {
			return nil
		}
	}
	return out
}

// blend is the geometric mean of the two laws of some coordinates, as a law of t
// from low on.
type blend struct {
	low    int
	square int // |v|^2
	mass   []float64
	error  float64 // relative, in units of round-off
}

type mixer struct {
	sigma, norm float64
	known       map[string]*blend
}

func (m *mixer) blend(v []int) *blend {
	if len(v) == 0 {
		return &blend{mass: []float64{1}}
	}
	key := make([]byte, 0, 2*len(v))
	for _, a := range v {
		key = binary.AppendUvarint(key, uint64(a))
	}
	if b, ok := m.known[string(key)]; ok {
		return b
	}
	b := m.add(m.blend(v[:len(v)-1]), v[len(v)-1])
	m.known[string(key)] = b
	return b
}

// add convolves with a coordinate that is shifted by a.
func (m *mixer) add(b *blend, a int) *blend {
	radius, s := int(Radius(m.sigma)), 1/(2*m.sigma*m.sigma)
	width := 2*radius + a + 1
	weight := make([]float64, width)
	half := float64(a) / 2
	scale := math.Exp(-float64(a)*float64(a)*s/4) / m.norm
	for i := range weight {
		d := float64(i-radius) - half
		weight[i] = scale * math.Exp(-d*d*s)
	}
	far := half + float64(radius)
	next := &blend{
		low: b.low - a*radius, square: b.square + a*a, mass: make([]float64, len(b.mass)+a*(width-1)),
		error: b.error + float64(width) + 4*far*far*s + float64(a)*float64(a)*s + 32,
	}
	for i, w := range weight {
		row := next.mass[a*i:]
		for j, p := range b.mass {
			row[j] += w * p
		}
	}
	return next.trim(m.sigma)
}

// trim leaves out outcomes that are faint under both laws; it keeps the symmetry.
func (b *blend) trim(sigma float64) *blend {
	n := 0
	for n < len(b.mass)/2 && b.mass[n]*math.Exp(-float64(2*(b.low+n)-b.square)/(4*sigma*sigma)) < faint {
		n++
	}
	b.low += n
	b.mass = b.mass[n : len(b.mass)-n]
	return b
}

func (b *blend) lattice(sigma float64, parts int) *Lattice {
	l := &Lattice{sigma: sigma, Error: ulp * (b.error + 4*mostLoss), Beyond: float64(parts) * beyondBox}
	for i, mass := range b.mass {
		k := 2*(b.low+i) - b.square
		half := float64(k) / (4 * sigma * sigma)
		switch {
		case k < 0 || mass == 0:
		case k == 0:
			l.zero = mass
		case 2*half > mostLoss:
			return nil
		default:
			l.k = append(l.k, k)
			l.p = append(l.p, mass*math.Exp(half))
			l.q = append(l.q, mass*math.Exp(-half))
		}
	}
	return l
}

// Curve answers for one run with no composition.
type Curve struct {
	loss   []float64
	pt, qt []float64 // masses from each loss on
	slack  float64
	beyond float64
}

// Curve returns the privacy profile of the pair.
func (l *Lattice) Curve() *Curve {
	n := len(l.k)
	c := &Curve{loss: make([]float64, n), pt: make([]float64, n+1), qt: make([]float64, n+1), beyond: l.Beyond}
	for i := n - 1; i >= 0; i-- {
		c.loss[i] = float64(l.k[i]) / (2 * l.sigma * l.sigma)
		c.pt[i], c.qt[i] = c.pt[i+1]+l.p[i], c.qt[i+1]+l.q[i]
	}
	// The losses are right to a few roundings, each of which moves the weight of
	// the second law by as much.
	c.slack = l.Error + ulp*(float64(n)+8*mostLoss)
	return c
}

// Delta bounds the profile at epsilon >= 0.
func (c *Curve) Delta(epsilon float64) (lower, upper float64) {
	i := sort.SearchFloat64s(c.loss, epsilon)
	other := math.Exp(min(epsilon, mostLoss)) * c.qt[i]
	value, slack := c.pt[i]-other, c.slack*(c.pt[i]+other)
	return max(value-slack, 0), min(max(value, 0)+slack+c.beyond, 1)
}

// Vector is a symmetric pair of laws on outcomes of known loss, with its own bound
// on the relative error of the masses.
type Vector struct {
	atoms []Atom
	error float64
}

// Cuts implements [Law]: there is nothing to cut.
func (Vector) Cuts(Tails) []float64 { return nil }

// Bins implements [Law].
func (v Vector) Bins([]float64) *Bins { return &Bins{Atom: v.atoms, MassError: v.error} }

// put appends an outcome and its mirror image.
func (v *Vector) put(a Atom) { v.atoms = append(v.atoms, a, a.reversed()) }

func (l *Lattice) loss(k int) Loss {
	y := float64(k) / (2 * l.sigma * l.sigma)
	return Loss{y, 4 * ulp * y}
}

// Below is a pair that the lattice's dominates: outcomes left out are not told
// apart.
func (l *Lattice) Below() Vector {
	v := Vector{error: l.Error + 16*ulp}
	for i, k := range l.k {
		v.put(Atom{P: l.p[i], Q: l.q[i], Loss: l.loss(k)})
	}
	v.atoms = append(v.atoms, Atom{P: l.zero, Q: l.zero})
	return v
}

// Envelope is a symmetric pair that dominates each of the lattices' of one sigma:
// its hockey-stick curve connects the dots of the highest of theirs, one dot a
// multiple of 1/(2 sigma^2) (docs/proofs/pld.md, section 1).
func Envelope(all []*Lattice) Vector {
	if len(all) == 1 {
		v := all[0].Below()
		v.put(Atom{P: all[0].Beyond, Loss: Loss{Value: math.Inf(1)}})
		return v
	}
	e := newEnvelope(all)
	mass := e.masses()
	v := Vector{error: 16 * ulp}
	beyond := 0.0
	for _, l := range all {
		v.error = max(v.error, l.Error+16*ulp)
		beyond = max(beyond, l.Beyond)
	}
	v.error += e.shortfall(mass)
	rest := 1 + ulp*float64(8*len(mass))
	for j := len(mass) - 1; j > 0; j-- {
		if mass[j] > 0 {
			a := Atom{P: mass[j] * e.gamma[j], Q: mass[j], Loss: all[0].loss(j * e.stride)}
			rest -= a.P + a.Q
			v.put(a)
		}
	}
	v.put(Atom{P: beyond, Loss: Loss{Value: math.Inf(1)}})
	v.atoms = append(v.atoms, Atom{P: max(rest, 0), Q: max(rest, 0)})
	return v
}

// envelope holds the curves on the dots j >= 0, at losses j stride/(2 sigma^2).
type envelope struct {
	stride int
	gamma  []float64   // e^loss of the dots
	step   []float64   // from one to the next
	tails  [][]float64 // of each lattice: its mass under the second law from a dot on
	curves [][]float64 // and its hockey-stick divergence at the dot
}

func newEnvelope(all []*Lattice) *envelope {
	e := &envelope{stride: 2}
	last := 0
	for _, l := range all {
		for _, k := range l.k {
			if k%2 == 1 {
				e.stride = 1
			}
			last = max(last, k)
		}
	}
	n := last/e.stride + 1
	unit := float64(e.stride) / (2 * all[0].sigma * all[0].sigma)
	for j := range n {
		g := math.Exp(float64(j) * unit)
		e.gamma = append(e.gamma, g)
		e.step = append(e.step, g*math.Expm1(unit))
	}
	for _, l := range all {
		mass := make([]float64, n)
		for i, k := range l.k {
			mass[k/e.stride] = l.q[i]
		}
		t, c := e.curve(mass)
		e.tails, e.curves = append(e.tails, t), append(e.curves, c)
	}
	return e
}

// curve sums masses up to tails and tails up to hockey-stick divergences.
func (e *envelope) curve(mass []float64) (tail, curve []float64) {
	n := len(mass)
	tail, curve = make([]float64, n+1), make([]float64, n+1)
	for j := n - 1; j >= 0; j-- {
		tail[j] = tail[j+1] + mass[j]
		curve[j] = curve[j+1] + e.step[j]*tail[j+1]
	}
	return tail, curve
}

// masses are those under the second law of the pair whose curve is the highest
// at every dot and straight between them: the differences of its slopes.
func (e *envelope) masses() []float64 {
	n := len(e.gamma)
	best := func(j int) int {
		at := 0
		for i := range e.curves {
			if e.curves[i][j] > e.curves[at][j] {
				at = i
			}
		}
		return at
	}
	slope := make([]float64, n+2) // from dot j-1 to dot j, as a tail
	for j := n - 1; j > 0; j-- {
		a, b := best(j-1), best(j)
		slope[j] = max(e.tails[a][j]-(e.curves[b][j]-e.curves[a][j])/e.step[j-1], slope[j+1])
	}
	mass := make([]float64, n)
	for j := 1; j < n; j++ {
		mass[j] = slope[j] - slope[j+1]
	}
	return mass
}

// shortfall is how far, relatively, rounding has left the curve of the masses
// below one of those that it has to dominate.
func (e *envelope) shortfall(mass []float64) float64 {
	_, got := e.curve(mass)
	worst := 0.0
	for _, c := range e.curves {
		for j, want := range c {
			if want > got[j] {
				worst = max(worst, want/got[j]-1)
			}
		}
	}
	return worst + ulp*float64(4*len(mass)+64)
}
