package lossdist

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Atoms is a pair of laws on finitely many outcomes, each of known loss.
type Atoms []Atom

// Cuts implements [Law]: there is nothing to cut.
func (a Atoms) Cuts(Tails) []float64 { return nil }

// Bins implements [Law].
func (a Atoms) Bins([]float64) *Bins { return &Bins{Atom: a, MassError: 64 * ulp} }

// Response is k-ary randomised response that lies with probability lie: the two
// answers that were true under one of the laws, and the others.
func Response(buckets int, lie float64) Atoms {
	k := float64(buckets)
	gap := Loss{Value: math.Log1p(k * (1 - lie) / lie)}
	gap.Error = 16 * ulp * gap.Value
	truth := Atom{P: 1 - lie + lie/k, Q: lie / k, Loss: gap}
	other := lie * (k - 2) / k
	return Atoms{truth, truth.reversed(), {P: other, Q: other}}
}

// Approximate is the pair that dominates every (epsilon, delta)-private
// mechanism: it tells all with probability delta and else answers by randomised
// response (Kairouz, Oh, Viswanath 2015).
func Approximate(epsilon, delta float64) Atoms {
	likely := Atom{
		P: (1 - delta) / (1 + math.Exp(-epsilon)), Q: (1 - delta) * math.Exp(-epsilon) / (1 + math.Exp(-epsilon)),
		Loss: Loss{Value: epsilon},
	}
	all := Atom{P: delta, Loss: Loss{Value: math.Inf(1)}}
	return Atoms{likely, likely.reversed(), all, all.reversed()}
}

// Given is a pair of which the losses and their masses under the first law are given,
// and the mass of an infinite loss. What the masses lack of 1 beyond their own rounding
// counts as infinite.
func Given(losses, masses []float64, infinite float64) Atoms {
	var out Atoms
	sum, low := infinite, 0.0
	for i, loss := range losses {
		out = append(out, Atom{P: masses[i], Q: masses[i] * math.Exp(-loss), Loss: Loss{Value: loss}})
		var e float64
		sum, e = xmath.TwoSum(sum, masses[i])
		low += e
	}
	if lack := (1 - sum) - low; lack > 2*ulp {
		infinite = xmath.AddUp(infinite, xmath.Up(lack, 1))
	}
	if infinite > 0 {
		out = append(out, Atom{P: infinite, Loss: Loss{Value: math.Inf(1)}})
	}
	return out
}

// lattice marks a law whose cuts are integers.
type lattice interface{ onLattice() }

// fewPoints is how many lattice points are kept apart from the start.
const fewPoints = 2048

func integerCuts(lo, hi float64, others ...float64) []float64 {
	n := coarse
	if hi-lo <= fewPoints {
		n = int(hi - lo)
	}
	cuts := uniformCuts(lo, hi, n, others...)
	for i := range cuts {
		cuts[i] = math.Round(cuts[i])
	}
	return slices.Compact(cuts)
}

// DiscreteLaplace is the pair of two discrete Laplace laws, of mass proportional
// to exp(-|k|/Scale), at the integer distance Gap. Outcome t in 0..Gap has loss
// (2t-Gap)/Scale; the ends are atoms.
type DiscreteLaplace struct{ Scale, Gap float64 }

func (DiscreteLaplace) onLattice() {}

// Cuts implements [Law].
func (l DiscreteLaplace) Cuts(Tails) []float64 {
	if l.Gap < 2 {
		return nil
	}
	return integerCuts(1, l.Gap, math.Ceil(l.Gap/2))
}

// Bins implements [Law].
func (l DiscreteLaplace) Bins(cuts []float64) *Bins {
	b := &Bins{MassError: ulp * (64 + 4*l.Gap/l.Scale)}
	if l.Gap == 0 { // the two tails would share the centre
		b.Atom = []Atom{{P: 1, Q: 1}}
		return b
	}
	norm := 1 / (1 + math.Exp(-1/l.Scale))
	top := Atom{P: norm, Q: norm * math.Exp(-l.Gap/l.Scale), Loss: l.loss(l.Gap)}
	b.Atom = append(b.Atom, top.reversed(), top)
	for i := range max(len(cuts)-1, 0) {
		x, y := cuts[i], cuts[i+1]
		width := norm * -math.Expm1(-(y-x)/l.Scale)
		p, q := width*math.Exp((y-1-l.Gap)/l.Scale), width*math.Exp(-x/l.Scale)
		b.put(Cell{P: p, Q: q, Mid: l.loss((x + y - 1) / 2), Base: i}, l.loss(x), l.loss(y), y-x == 1)
	}
	return b
}

func (l DiscreteLaplace) loss(t float64) Loss {
	v := (2*t - l.Gap) / l.Scale
	return Loss{v, 4 * ulp * math.Abs(v)}
}

// put appends a cell; a cell of a single lattice point becomes an atom, and
// leaves an empty cell behind so that knots and cells stay in step.
func (b *Bins) put(c Cell, lo, hi Loss, single bool) {
	if single {
		b.Atom = append(b.Atom, Atom{P: c.P, Q: c.Q, Loss: c.Mid})
		c = Cell{Mid: Loss{Value: lo.Value + (hi.Value-lo.Value)/2}, Base: -1}
	}
	if len(b.Knot) == 0 {
		b.Knot = append(b.Knot, lo)
	}
	b.Knot = append(b.Knot, hi)
	b.Cell = append(b.Cell, c)
}

// DiscreteGaussian is the pair of two discrete Gaussian laws, of mass
// proportional to exp(-k^2/(2 Sigma^2)), at the integer distance Gap (Canonne,
// Kamath, Steinke 2020). It is cut along the outcome.
type DiscreteGaussian struct{ Sigma, Gap float64 }

func (DiscreteGaussian) onLattice() {}

// farthestDiscrete is how many sigma a partition of discrete Gaussian noise reaches
// beyond a mean at most.
const farthestDiscrete = 14

func (g DiscreteGaussian) radius() float64 { return math.Ceil(farthestDiscrete*g.Sigma) + 2 }

// Points is how many lattice points the law is summed over.
func (g DiscreteGaussian) Points() float64 { return 4*g.radius() + g.Gap }

// Cuts implements [Law].
func (g DiscreteGaussian) Cuts(t Tails) []float64 {
	shift := g.Gap / g.Sigma
	left, right := min(t.left(0), farthestDiscrete), min(t.right(shift), shift+farthestDiscrete)
	lo, hi := math.Ceil(left*g.Sigma)+1, math.Ceil(right*g.Sigma)+1
	return integerCuts(-lo, max(hi, g.Gap+1), math.Ceil(g.Gap/2))
}

// Bins implements [Law].
func (g DiscreteGaussian) Bins(cuts []float64) *Bins {
	far := 2*farthestDiscrete + 2*g.Gap/g.Sigma + 4/g.Sigma
	b := &Bins{MassError: ulp * (256 + 8*far*far)}
	norm := 1.0
	for k := g.radius(); k >= 1; k-- {
		norm += 2 * math.Exp(-k*k/(2*g.Sigma*g.Sigma))
	}
	norm = 1 / norm
	first, last := cuts[0], cuts[len(cuts)-1]
	minus, plus := Loss{Value: math.Inf(-1)}, Loss{Value: math.Inf(1)}
	b.put(g.cell(-1, first-g.radius(), first, first-1, norm), minus, g.loss(first), false)
	for i := range cuts[1:] {
		x, y := cuts[i], cuts[i+1]
		b.put(g.cell(i, x, y, math.Floor(x+(y-1-x)/2), norm), g.loss(x), g.loss(y), y-x == 1)
	}
	b.put(g.cell(-1, last, last+g.radius(), last, norm), g.loss(last), plus, false)
	return b
}

func (g DiscreteGaussian) loss(x float64) Loss {
	v := g.Gap * (2*x - g.Gap) / (2 * g.Sigma * g.Sigma)
	return Loss{v, 8 * ulp * (math.Abs(v) + g.Gap*g.Gap/(g.Sigma*g.Sigma))}
}

// cell sums the lattice points lo <= k < hi, relative to the one at mid.
func (g DiscreteGaussian) cell(base int, lo, hi, mid, norm float64) Cell {
	s := 1 / (2 * g.Sigma * g.Sigma)
	massP, massQ := 0.0, 0.0
	for k := lo; k < hi; k++ {
		t := k - mid
		massP += math.Exp(-t * (2*(mid-g.Gap) + t) * s)
		massQ += math.Exp(-t * (2*mid + t) * s)
	}
	y := g.loss(mid)
	vary := (hi - lo) * (math.Abs(mid) + g.Gap + hi - lo) * s
	return Cell{
		P: math.Exp(-(mid-g.Gap)*(mid-g.Gap)*s) * massP * norm, Q: math.Exp(-mid*mid*s) * massQ * norm, Base: base,
		Mid: Loss{y.Value + math.Log(massP/massQ), y.Error + 32*ulp*(2+vary)},
	}
}
