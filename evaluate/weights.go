package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// weightBound bounds what a person's weight may be.
type weightBound struct {
	largest float64       // +Inf where nothing is known
	square  float64       // its mean square
	law     []scalar.Atom // what a forecast takes weights to be, by [Design.likely]
	// scatter is the variance that a forecast takes returns to have, as a share of what it would be if all were
	// at the ends of their range.
	scatter float64
	// supposed is that of releases whose law of weights of policies that share no action is not of mean 1.
	supposed bool
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

// scatter is what a forecast takes the variance of returns to be where weights are 1.
func (p Public) scatter() float64 {
	if p.Return != nil {
		return 1
	}
	return scatterOf(p.decisions(), p.discount())
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
	d, gamma, scatter := p.Design, p.discount(), p.scatter()
	last := int64(len(d.Ratios)) - 1
	var mean, most weightBound
	all, square := total(p.decisions(), gamma), 0.0 // that of the mean: of two decisions, the earlier counts
	now, total, discount := noWeights(), 0.0, 1.0
	mixed := make([]float64, len(now.share))
	spend := func(share float64) {
		total += share
		mean.largest += share * most.largest
		mean.square += share * most.square
		square += share * (share + 2*max(all-total, 0)) * most.square
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
		if now.draw(d, int(min(t, last))); now.largest > largestKnown || t == mostDrawn {
			return none
		}
		most.largest, most.square = max(most.largest, now.largest), max(most.square, now.square)
		spend(discount)
		discount *= gamma
	}
	switch {
	case !stepwise:
		most.law, most.scatter, most.supposed = now.atoms(now.share, 1), scatter, p.supposes
		return most
	case !p.supposes:
		law, scatter := p.lawOfMean()
		return weightBound{mean.largest / total, square / (total * total), law, scatter, false}
	}
	return weightBound{mean.largest / total, mean.square / total, now.atoms(mixed, total), scatter, true}
}

// ownWeights are the bounds of every policy alone, where the design tells them apart; of what was logged that of weights
// of 1.
func (p Public) ownWeights(stepwise bool) (own []weightBound) {
	if p.Design == nil || len(p.Design.Each) != len(p.targets().Policies) { // of other targets, as those who judge a learned policy have
		return nil
	}
	for _, d := range p.Design.Each {
		if d == nil {
			d = &Design{Ratios: []float64{1}, Squares: []float64{1}, Supported: true}
		}
		own = append(own, p.by(d).weightsOf(stepwise))
	}
	return own
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
	if p.pairs(of, b) {
		out.law, out.scatter = p.differingLaw(of, b, out.largest)
	}
	return out
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
