package evaluate

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// likely are the two values that a forecast takes a ratio to have where it can be above 1: of mean 1, with the usual mean square and the usual
// mean cube or, where that is not known, the largest ratio.
func (d *Design) likely(t int) [2]scalar.Atom {
	u, high := d.usual(t), d.Ratios[t]
	if high <= 1 {
		return [2]scalar.Atom{{Weight: 1, Share: 1}}
	}
	low := max(1-(u-1)/(high-1), 0)
	if d.Cubes != nil && u > 1 {
		// The roots of x^2 - sum x + sum - u, which has mean 0, and so has x times it.
		sum := (d.Cubes[t] - u) / (u - 1)
		if root := (sum + math.Sqrt(max(sum*sum-4*(sum-u), 0))) / 2; root > 1 && root < high {
			low, high = max(sum-root, 0), root
		}
	}
	most := (1 - low) / (high - low)
	return [2]scalar.Atom{{Weight: high, Share: most}, {Weight: low, Share: 1 - most}}
}

// drawnWeights is the law of a product of ratios, on a grid of its logarithm.
type drawnWeights struct {
	largest, square float64
	share           []float64 // probability of each point of the grid; the rest is of weight 0
}

// The grid has points at exp(lawStep (i - lawZero)).
const (
	lawStep   = 0.02
	lawZero   = 1000
	lawPoints = 4500
)

// noWeights are all 1.
func noWeights() *drawnWeights {
	w := &drawnWeights{1, 1, make([]float64, lawPoints)}
	w.share[lawZero] = 1
	return w
}

// draw multiplies by the ratio of one decision.
func (w *drawnWeights) draw(d *Design, t int) {
	w.largest *= d.Ratios[t]
	w.square *= d.Squares[t]
	if d.Ratios[t] <= 1 {
		return
	}
	out := make([]float64, len(w.share))
	for _, x := range d.likely(t) {
		w.shift(out, x.Weight, x.Share)
	}
	w.share = out
}

// shift adds the law times a factor, with a probability, to dst.
func (w *drawnWeights) shift(dst []float64, factor, probability float64) {
	if !(factor > 0) || !(probability > 0) {
		return
	}
	by := math.Log(factor) / lawStep
	whole, part := math.Floor(by), by-math.Floor(by)
	for i, q := range w.share {
		if q == 0 {
			continue
		}
		for k, share := range []float64{1 - part, part} {
			if at := i + int(whole) + k; at >= 0 && at < len(dst) {
				dst[at] += q * probability * share
			}
		}
	}
}

// atoms lists the points of a law whose probabilities add up to total.
func (w *drawnWeights) atoms(share []float64, total float64) []scalar.Atom {
	var out []scalar.Atom
	for i, q := range share {
		if q > 1e-9*total {
			out = append(out, scalar.Atom{Weight: math.Exp(lawStep * float64(i-lawZero)), Share: q / total})
		}
	}
	return out
}

// linear adds to dst, with a probability, the law of so many times the weights and more. Means stay.
func (w *drawnWeights) linear(dst []float64, probability, times, more float64) {
	rest := 1.0
	add := func(v, share float64) {
		at := math.Log(v)/lawStep + lawZero
		if i := int(math.Floor(at)); i >= 0 && i+1 < len(dst) {
			part := math.Expm1((at-float64(i))*lawStep) / math.Expm1(lawStep)
			dst[i] += share * probability * (1 - part)
			dst[i+1] += share * probability * part
		}
	}
	for i, q := range w.share {
		if rest -= q; q > 1e-15 {
			add(times*math.Exp(lawStep*float64(i-lawZero))+more, q)
		}
	}
	add(more, max(rest, 0))
}

// unfolded is the law, as a share of all, of a sum that every decision makes of what follows it: so many times that, and more,
// by its ratio.
func (p Public) unfolded(all float64, by func(t int64, ratio float64) (times, more float64)) []scalar.Atom {
	d, now := p.Design, &drawnWeights{share: make([]float64, lawPoints)}
	for t := p.varying() - 1; t >= 0; t-- {
		out := make([]float64, lawPoints)
		for _, x := range d.likely(int(min(t, int64(len(d.Ratios))-1))) {
			times, more := by(t, x.Weight)
			now.linear(out, x.Share, times, more)
		}
		now.share = out
	}
	law := now.atoms(now.share, 1)
	for i := range law {
		law[i].Weight /= all
	}
	return law
}

// varying is the number of decisions with ratios above 1.
func (p Public) varying() int64 {
	if n := int64(len(p.Design.Ratios)); p.Design.Ratios[n-1] <= 1 {
		return min(n, p.decisions())
	}
	return p.decisions()
}

// lawOfMean is the law of the discounted mean over decisions of the weights so far, and what returns scatter.
func (p Public) lawOfMean() (law []scalar.Atom, scatter float64) {
	d, gamma, drawn := p.Design, p.discount(), p.varying()
	law = p.unfolded(total(p.decisions(), gamma), func(t int64, ratio float64) (times, more float64) {
		if t == drawn-1 {
			return 0, ratio * total(p.decisions()-t, gamma)
		}
		return ratio * gamma, ratio
	})
	if scatter = p.scatter(); p.Return == nil { // a reward has the weight of its decision
		now, discount, sum := 1.0, 1.0, 0.0
		for t := range drawn {
			now *= d.usual(int(min(t, int64(len(d.Ratios))-1)))
			if t == drawn-1 {
				discount *= total(p.decisions()-t, gamma*gamma)
			}
			sum += discount * now
			discount *= gamma * gamma
		}
		scatter *= sum / total(p.decisions(), gamma*gamma) / squareOf(law)
	}
	return law, scatter
}

// squareOf is the mean square.
func squareOf(law []scalar.Atom) (square float64) {
	for _, x := range law {
		square += x.Share * x.Weight * x.Weight
	}
	return square
}

// withSquare moves the weights of a law away from 1, or toward it, as far as the mean square says and no weight is negative
// or above the largest.
func withSquare(law []scalar.Atom, largest, square float64) []scalar.Atom {
	out, least := slices.Clone(law), 1.0
	for _, x := range out {
		least = min(least, x.Weight)
	}
	by := min(math.Sqrt(max(square-1, 0)/max(squareOf(out)-1, 1e-12)), 1/(1-least))
	for i := range out {
		out[i].Weight = min(1+by*(out[i].Weight-1), largest)
	}
	return out
}

// pairs tells that mean squares of the weights of both policies of a contrast are known.
func (p Public) pairs(of vouched, b policy.DifferenceBound) bool {
	return len(b.Ratios) == 2 && len(b.Products) == 2 && of.weights.largest <= largestKnown
}

// productOf is the mean product of the ratios of both.
func productOf(b policy.DifferenceBound) float64 {
	return (b.Ratios[0]+b.Ratios[1])/2 - 2*b.Distance*b.Distance*b.Spread
}

// differingLaw is what a forecast takes the weights of a difference and returns to be: decision by decision the sum M of what
// policies differ in so far becomes rho_B M + d w_A, and the weight w_A becomes rho_A w_A.
func (p Public) differingLaw(of vouched, b policy.DifferenceBound, largest float64) (law []scalar.Atom, scatter float64) {
	decisions, gamma, product := p.decisions(), p.discount(), productOf(b)
	mm, mw, ww, square, varied := 0.0, 0.0, 1.0, 0.0, 0.0 // means of M^2, M w_A and w_A^2; of the sum and of its part with signs
	first, second, both, discount := 1.0, 1.0, 1.0, 1.0
	for t := range decisions {
		mm, mw, ww = b.Ratios[1]*mm+2*b.Products[1]*mw+b.Square*ww, product*mw+b.Products[0]*ww, b.Ratios[0]*ww
		first, second, both = first*b.Ratios[0], second*b.Ratios[1], both*product
		apart := (first + second - 2*both) / (4 * b.Distance * b.Distance)
		if left := decisions - t - 1; of.stepwise { // k decisions later M is M + k w_A on average
			square += discount * discount * (mm + 2*gamma*(total(left, gamma)*mm+scalar.Later(float64(left), gamma)*mw))
			varied += discount * discount * apart
			discount *= gamma
		} else {
			square, varied = mm, apart*p.scatter()
		}
	}
	all, later := float64(decisions), 1.0
	if of.stepwise {
		all, later = scalar.Later(all, gamma), gamma
	}
	// What B makes of M is as its mean, and d moves with the ratio of the policy that varies more: the mean square makes up for that.
	most := 0
	if b.Ratios[1] > b.Ratios[0] {
		most = 1
	}
	slope := (b.Products[most] - 1) / max(b.Ratios[most]-1, 1e-9)
	law = p.unfolded(all, func(t int64, ratio float64) (times, more float64) {
		more = max(1+slope*(ratio-1), 0)
		if of.stepwise {
			more *= total(decisions-t, gamma)
		}
		return ratio * later, more
	})
	return withSquare(law, largest, square/(all*all)), varied / square
}

// ofBoth are mean squares of the mean of the weights of two policies, and of half their difference times what returns scatter.
func (p Public) ofBoth(of vouched, b policy.DifferenceBound) (mean, apart float64) {
	gamma, product := p.discount(), productOf(b)
	first, second, both, discount, left := 1.0, 1.0, 1.0, 1.0, total(p.decisions(), gamma)
	all, squares := left, total(p.decisions(), gamma*gamma)
	for range p.decisions() {
		first, second, both = first*b.Ratios[0], second*b.Ratios[1], both*product
		half, far := (first+second+2*both)/4, (first+second-2*both)/4*p.scatter()
		if !of.stepwise {
			mean, apart = half, far
			continue
		}
		left -= discount
		mean += discount * (discount + 2*left) / (all * all) * half
		apart += discount * discount / squares * far
		discount *= gamma
	}
	return mean, apart
}
