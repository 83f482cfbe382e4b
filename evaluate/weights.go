package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// weightBound bounds what a person's weight may be.
type weightBound struct {
	largest float64 // +Inf where nothing is known
	square  float64 // its mean square
	// law is what a forecast takes weights to be: ratios of two values at each decision, of
	// which one is the largest, with mean 1 and the usual mean square.
	law []scalar.Atom
	// scatter is the variance that a forecast takes returns to have, as a share of what it would be if all were
	// at the ends of their range.
	scatter float64
}

// total is the sum of so many discounts.
func total(decisions int64, gamma float64) float64 {
	if gamma == 1 {
		return float64(decisions)
	}
	return math.Expm1(float64(decisions)*math.Log(gamma)) / (gamma - 1)
}

// scatterOf is that of rewards at the ends of their range that vary by themselves from decision to decision.
func scatterOf(decisions int64, gamma float64) float64 {
	all := total(decisions, gamma)
	return total(decisions, gamma*gamma) / (all * all)
}

// discount is that of a decision to the next.
func (p Public) discount() float64 {
	if p.Discounts {
		return 1
	}
	return p.Gamma
}

// Beyond these a weight, and a number of decisions with ratios above 1, are as good as
// without bound.
const (
	largestKnown = 1e30
	mostDrawn    = 10000
)

// weightsOf bounds the weight of a trajectory, or with stepwise that of the discounted
// mean over decisions of the weights so far. That after the end of an episode is carried
// on, so that at each decision the largest so far counts.
func (p Public) weightsOf(stepwise bool) weightBound {
	none := weightBound{largest: math.Inf(1), square: math.Inf(1)}
	if p.regime() != designed {
		return none
	}
	d, gamma, scatter := p.Design, p.discount(), 1.0
	if p.Return == nil {
		scatter = scatterOf(p.decisions(), gamma)
	}
	last := int64(len(d.Ratios)) - 1
	var mean, most weightBound
	now, total, discount := noWeights(), 0.0, 1.0
	mixed := make([]float64, len(now.share))
	spend := func(share float64) {
		total += share
		mean.largest += share * most.largest
		mean.square += share * most.square
		for i, q := range now.share {
			mixed[i] += share * q
		}
	}
	for t := range p.decisions() {
		if t > last && d.Ratios[last] <= 1 { // nothing grows from here on
			left := float64(p.decisions() - t)
			if gamma < 1 {
				left = -math.Expm1(left*math.Log(gamma)) / (1 - gamma)
			}
			spend(left * discount)
			break
		}
		if now.draw(d.Ratios[min(t, last)], d.Squares[min(t, last)], d.usual(int(min(t, last)))); now.largest > largestKnown || t == mostDrawn {
			return none
		}
		most.largest, most.square = max(most.largest, now.largest), max(most.square, now.square)
		spend(discount)
		discount *= gamma
	}
	if !stepwise {
		most.law, most.scatter = now.atoms(now.share, 1), scatter
		return most
	}
	return weightBound{mean.largest / total, mean.square / total, now.atoms(mixed, total), scatter}
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

// draw multiplies by the ratio of one decision, of a law with the usual mean square.
func (w *drawnWeights) draw(largest, square, usual float64) {
	w.largest *= largest
	w.square *= square
	if largest <= 1 {
		return
	}
	low := max(1-(usual-1)/(largest-1), 0)
	high := (1 - low) / (largest - low) // the probability of the largest
	out := make([]float64, len(w.share))
	w.shift(out, largest, high)
	w.shift(out, low, 1-high)
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

// differing bounds the weights of a difference by those of the decision in which the policies differ, times the ratios of
// all others.
func (p Public) differing(of vouched, b policy.DifferenceBound) weightBound {
	out := weightBound{largest: math.Inf(1), square: math.Inf(1)}
	if b.Weight == 0 {
		return out
	}
	out.largest, out.square = b.Weight, b.Weight // of mean 1
	if p.decisions() > 1 {
		largest, square := p.besideOne(of)
		out.largest *= largest
		out.square *= square
	}
	out.law = []scalar.Atom{{Weight: out.square, Share: 1 / out.square}}
	if b.Square > 0 && of.weights.largest <= largestKnown {
		out.law, out.scatter = p.differingLaw(of, b)
	}
	return out
}

// differingLaw is what a forecast takes these weights and returns to be: the mean over the decisions in which the policies
// may differ, each of which varies by itself, times the ratios of the others.
func (p Public) differingLaw(of vouched, b policy.DifferenceBound) (law []scalar.Atom, scatter float64) {
	d, decisions, gamma := p.Design, p.decisions(), p.discount()
	last, now, mixed := int64(len(d.Ratios))-1, noWeights(), make([]float64, lawPoints)
	all, spent := scalar.Later(float64(decisions), gamma), 0.0
	mean := func(decisions float64) float64 { return 1 + (b.Square-1)/decisions }
	for t := int64(0); t < decisions && !(t > last && d.Ratios[last] <= 1); t++ { // from there on it stays
		if at := min(t, last); t > 0 {
			now.draw(d.Ratios[at], d.Squares[at], d.usual(int(at)))
		}
		if of.stepwise {
			upTo := scalar.Later(float64(t+1), gamma)
			with := *now
			with.draw(b.Weight, b.Weight, mean(float64(t+1)))
			for i, q := range with.share {
				mixed[i] += (upTo - spent) * q
			}
			spent = upTo
		}
	}
	if of.stepwise {
		return now.atoms(mixed, spent), b.Spread / mean(all/total(decisions, gamma)) * scalar.Later(float64(decisions), gamma*gamma) / (all * all)
	}
	now.draw(b.Weight, b.Weight, mean(float64(decisions)))
	return now.atoms(now.share, 1), b.Spread / mean(float64(decisions)) * of.weights.scatter / float64(decisions)
}

// besideOne bounds the product of the ratios of all decisions but one, and its mean square;
// step by step the mean over decisions t of those up to t, each of which counts t + 1 times.
func (p Public) besideOne(of vouched) (largest, square float64) {
	if of.weights.largest > largestKnown { // as it is without a design
		return math.Inf(1), math.Inf(1)
	}
	d, decisions := p.Design, p.decisions()
	last := int64(len(d.Ratios)) - 1
	all := 1.0
	if of.stepwise {
		all = scalar.Later(float64(decisions), p.Gamma)
	}
	products, least, before, mean := [2]float64{1, 1}, [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{}, [2]float64{}
	for t := int64(0); t < decisions && !(t > last && d.Ratios[last] <= 1); t++ { // from there on it stays
		at := min(t, last)
		for i, r := range [2]float64{max(d.Ratios[at], 1), max(d.Squares[at], 1)} {
			products[i] *= r
			least[i] = min(least[i], r)
			beside := products[i] / least[i]
			if of.stepwise { // it grows here, for this decision and all later ones
				beside, before[i] = (beside-before[i])*(all-scalar.Later(float64(t), p.Gamma))/all, beside
				mean[i] += beside
			} else {
				mean[i] = beside
			}
		}
	}
	return mean[0], mean[1]
}
