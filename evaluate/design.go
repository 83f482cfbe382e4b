package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Design is what public policies say of the importance ratios before any data are seen.
// docs/proofs/overlap.md has what follows from it.
type Design struct {
	// Ratios are the largest importance ratios at decisions 0, 1, ... of an episode;
	// the last is that of all later ones.
	Ratios []float64 `json:"ratios"`
	// Squares are the largest means, over the actions drawn in a state, of the squared
	// ratio.
	Squares []float64 `json:"squares"`
	// Supported says that the probabilities are those that actions were drawn with,
	// fixed beforehand, and that each action that a target takes is drawn with
	// probability above 0: the mean ratio is 1.
	Supported bool `json:"supported,omitempty"`
}

// NewDesign compares targets with the policy that made the data; nil where these do not
// bound the ratios. drawn says that behaviour is what actions were drawn with, and not a
// model of it.
func NewDesign(behaviour policy.Policy, drawn bool, targets ...policy.Policy) *Design {
	if behaviour == nil {
		return nil
	}
	var d *Design
	for _, target := range targets {
		if policy.OnPolicy(target) {
			continue
		}
		b, ok := policy.BoundRatios(target, behaviour)
		if !ok {
			return nil
		}
		if d == nil {
			d = &Design{Ratios: b.Ratios, Squares: b.Squares, Supported: drawn}
		}
		for t := range d.Ratios {
			d.Ratios[t], d.Squares[t] = max(d.Ratios[t], b.Ratios[t]), max(d.Squares[t], b.Squares[t])
		}
		d.Supported = d.Supported && b.Supported
	}
	return d
}

func (d Design) validate() error {
	if len(d.Ratios) == 0 || len(d.Ratios) != len(d.Squares) {
		return fmt.Errorf("%w: design: %d ratios and %d squares; give one of each for each decision, the last for all later ones", ErrPublic, len(d.Ratios), len(d.Squares))
	}
	for t, r := range d.Ratios {
		if q := d.Squares[t]; !(r >= 0 && q >= 0 && q <= r) || math.IsInf(r, 1) {
			return fmt.Errorf("%w: design: at decision %d the largest ratio is %v and the largest mean square %v; want finite numbers, the second no larger", ErrPublic, t, r, q)
		} else if d.Supported && !(q >= 1-1e-6) {
			return fmt.Errorf("%w: design: it says that all the target does is drawn, so that the mean ratio is 1, and at decision %d the largest mean square is %v; want 1 or more", ErrPublic, t, q)
		}
	}
	return nil
}

func (d *Design) clone() *Design {
	if d == nil {
		return nil
	}
	c := *d
	c.Ratios, c.Squares = slices.Clone(d.Ratios), slices.Clone(d.Squares)
	return &c
}

// weightBound bounds what a person's weight may be.
type weightBound struct {
	largest float64 // +Inf where nothing is known
	square  float64 // its mean square
	// law is what a forecast takes weights to be: ratios of two values at each decision, of
	// which one is the largest, with mean 1 and the largest mean square.
	law []scalar.Atom
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
	d := p.Design
	if d == nil || p.Behavior != nil {
		return none
	}
	gamma := p.Gamma
	if p.Discounts {
		gamma = 1
	}
	last := int64(len(d.Ratios)) - 1
	var mean, most weightBound
	now, total, discount := newDrawnWeights(), 0.0, 1.0
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
		if now.draw(d.Ratios[min(t, last)], d.Squares[min(t, last)]); now.largest > largestKnown || t == mostDrawn {
			return none
		}
		most.largest, most.square = max(most.largest, now.largest), max(most.square, now.square)
		spend(discount)
		discount *= gamma
	}
	if !stepwise {
		most.law = now.atoms(now.share, 1)
		return most
	}
	return weightBound{mean.largest / total, mean.square / total, now.atoms(mixed, total)}
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

func newDrawnWeights() *drawnWeights {
	w := &drawnWeights{largest: 1, square: 1, share: make([]float64, lawPoints)}
	w.share[lawZero] = 1
	return w
}

// draw multiplies by the ratio of one decision.
func (w *drawnWeights) draw(largest, square float64) {
	w.largest *= largest
	w.square *= square
	if largest <= 1 {
		return
	}
	low := max(1-(square-1)/(largest-1), 0)
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
