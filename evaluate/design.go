package evaluate

import (
	"cmp"
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
	// Varies says that the policies tell states apart, so that ratios are smaller in some than
	// in others.
	Varies bool `json:"varies,omitempty"`
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
			d = &Design{Ratios: b.Ratios, Squares: b.Squares, Supported: drawn, Varies: policy.TellsApart(behaviour)}
		}
		for t := range d.Ratios {
			d.Ratios[t], d.Squares[t] = max(d.Ratios[t], b.Ratios[t]), max(d.Squares[t], b.Squares[t])
		}
		d.Supported = d.Supported && b.Supported
		d.Varies = d.Varies || policy.TellsApart(target)
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
	c := copied(d)
	if c != nil {
		c.Ratios, c.Squares = slices.Clone(d.Ratios), slices.Clone(d.Squares)
	}
	return c
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
	if p.regime() != designed {
		return none
	}
	d := p.Design
	gamma := p.Gamma
	if p.Discounts {
		gamma = 1
	}
	last := int64(len(d.Ratios)) - 1
	var mean, most weightBound
	now, total, discount := &drawnWeights{1, 1, make([]float64, lawPoints)}, 0.0, 1.0
	now.share[lawZero] = 1
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

// tier says whether an interval is guarded against weights that were cut and against
// what the logs never tried (2), needs no guard by the design (0), or is one or the other by the
// paid histogram of weights (1), and why.
type tier struct {
	number int
	why    string
	clip   float64 // share of the budget that the choice of a cap gets
	half   float64 // half the width that is expected; 0 where the design does not tell
}

// splitter turns shares of the budget into noise multipliers.
type splitter func(scalar.Stages) (scalar.Stages, error)

// tier fixes the noise of every stage, and leaves the guard out where it is needless and
// the interval expected to be narrower without it: docs/proofs/overlap.md.
func (m DPIS) tier(p Public, of vouched, b scalar.Bounds, stages scalar.Stages, split splitter) (scalar.Bounds, tier, error) {
	t := tier{number: 2, why: m.needsGuard(p, of), clip: stages.Clip}
	var err error
	if b.Noise, err = split(stages); err != nil || t.why != "" {
		return b, t, err
	}
	bare := b
	bare.Uncut, bare.Caps = &scalar.Uncut{Square: of.weights.square}, scalar.ClipRanges{Above: of.weights.largest}
	uncapped := stages
	uncapped.Clip = 0
	if bare.Noise, err = split(uncapped); err != nil {
		return b, t, err
	}
	without, err := bare.ExpectedUncut()
	if err != nil {
		return b, t, err
	}
	b, with, err := m.narrowest(p, of, b, stages, split)
	if err != nil {
		return b, t, err
	}
	if m.Clip != clipPublic && p.varies(of) {
		b.Uncut, b.Caps.Above = bare.Uncut, of.weights.largest
		b.Caps.Steps = capSteps(b.Caps.Above)
		stages.Clip = cmp.Or(m.ClipShare, tierShare)
		b.Noise, err = split(stages)
		return b, tier{number: 1, why: byHistogram(of), clip: stages.Clip, half: min(with, without, 0.5) * of.within.Width()}, err
	}
	if b.Caps.Steps > 0 {
		t.clip = cmp.Or(m.ClipShare, defaultClipShare)
	}
	width := of.within.Width()
	expected := fmt.Sprintf("The expected half width is %.3g without a guard and %.3g with it", width*without, width*with)
	t.half = min(with, 0.5) * width
	if t.why = costs(p, of, with, without); t.why != "" {
		t.why += ". " + expected
		return b, t, nil
	}
	return bare, tier{half: min(without, 0.5) * width, why: needless(of) + ". " + expected}, nil
}

// costs says why a guard that would be needless stays: the interval is expected to be
// narrower with it, or nobody states that no record is lost; "" where it goes.
func costs(p Public, of vouched, with, without float64) string {
	if without >= with {
		return fmt.Sprintf("the design allows weights up to %.4g, and the noise for these would widen the interval more than capping them does", of.weights.largest)
	}
	return lost(p)
}

// tierShare is the part of the budget that tells whether a guard is narrower: the histogram decides
// between far apart widths and not among near ones.
const tierShare = 0.1

// varies tells that a guard is needless by the design, but that weights as large as it allows may be
// rare: a histogram of them then tells what is narrower.
func (p Public) varies(of vouched) bool {
	return p.Design.Varies && capSteps(of.weights.largest) > 0 && lost(p) == ""
}

// byHistogram says why it is left to the data whether a guard is needed.
func byHistogram(of vouched) string {
	return fmt.Sprintf("the design and problem.records: complete make a guard needless, but allow weights up to %.4g in some states, and noise for these may widen the interval more than capping them does", of.weights.largest)
}

// needless says why no guard is needed.
func needless(of vouched) string {
	return fmt.Sprintf("by the design no weight exceeds %.4g and every action of the target policy was drawn with positive probability, and the curator states that no record is lost (problem.records: complete)", of.weights.largest)
}

// lost says how records may yet be lost where the design alone would need no guard, and
// what says that none is; "" where it is said.
func lost(p Public) string {
	if p.Complete {
		return ""
	}
	return "the design bounds the weights, but nothing states that no record is lost; to narrow the interval, set problem.records: complete if the file has every decision of every person, no episode was cut off and none has to be left out or repaired (the check refuses data that show otherwise)"
}

// narrowest is the guarded estimate that is expected to be narrowest: as it is, or where
// no cap is chosen though the design bounds the weights, with a choice below that bound.
func (m DPIS) narrowest(p Public, of vouched, b scalar.Bounds, stages scalar.Stages, split splitter) (scalar.Bounds, float64, error) {
	with, err := b.ExpectedGuarded(of.weights.law)
	if err != nil || stages.Clip != 0 || m.Clip != "" || m.MaxWeight != 0 || capSteps(b.Caps.Above) < 1 {
		return b, with, err
	}
	// As in caps, a histogram must be able to tell.
	if r, err := meanInNoise(p); err != nil || r/9 < narrowable {
		return b, with, err
	}
	chosen := b
	chosen.Caps.Steps, stages.Clip = capSteps(b.Caps.Above), cmp.Or(m.ClipShare, defaultClipShare)
	if chosen.Noise, err = split(stages); err != nil {
		return b, with, err
	}
	narrower, err := chosen.ExpectedGuarded(of.weights.law)
	if err != nil || narrower >= with {
		return b, with, err
	}
	return chosen, narrower, nil
}

// fewInGroup is why groups are guarded.
const fewInGroup = "a group may have few persons or none, and then only an interval with a guard is valid"

// needsGuard says why the design does not make the guard needless; "" where it does.
func (m DPIS) needsGuard(p Public, of vouched) string {
	if p.share.some() {
		return fewInGroup
	}
	switch regime := p.regime(); {
	case p.onPolicy():
		return "nothing states that no episode was cut off and that none has to be left out; to narrow the interval, set problem.records: complete if that is so (the check refuses data that show otherwise)"
	case regime == estimable:
		return "the probabilities of logged actions are estimated"
	case regime == recorded:
		return "no public design bounds the weights"
	case m.Confounding > 1:
		return "hidden confounding is allowed for"
	case !p.Design.Supported:
		return "the design does not ensure that every action of the target policy was drawn with positive probability"
	case of.weights.largest > largestKnown:
		return "the weights that the design allows are too large"
	case m.MaxWeight != 0 && m.MaxWeight < of.weights.largest:
		return fmt.Sprintf("max_weight is %.4g, and the design allows weights up to %.4g", m.MaxWeight, of.weights.largest)
	case (m.Clip == clipAuto || m.ClipShare != 0) && of.weights.largest >= narrowable:
		return "the parameters of the method ask for a cap that is chosen from a histogram"
	}
	return ""
}

// summary says the tier in one line.
func (t tier) summary(p Public, guess *WeightGuess) summary {
	s := summary{facts: map[string]any{"tier": t.number}}
	if t.half > 0 && (guess == nil || t.number == 0) {
		s.expected.HalfWidth = t.half
	}
	guard := "The interval includes a guard, which allows for weight that is clipped or missing"
	if p.onPolicy() {
		guard = "The interval includes a guard, which allows for what is missing"
	}
	switch t.number {
	case 1:
		guard = "A paid histogram of weights decides whether the interval includes a guard against weight that is clipped or missing, whichever is expected to be narrower"
	case 0:
		guard = "The interval needs no guard against weight that is clipped or missing"
	}
	s.notes = []string{fmt.Sprintf("%s (tier %d), because %s.", guard, t.number, t.why)}
	return s
}

// aboutUncut is what is known beforehand of an interval without a guard.
func (p Public) aboutUncut(b scalar.Bounds) (summary, error) {
	s, _, err := p.atCap(b)
	s.notes = append(s.notes, p.words("The interval allows for sampling error and for privacy noise. It assumes that the design and its probabilities are right and that no record is lost, as the curator states (problem.records: complete); the check of the data can refute that statement but not prove it. If more weight is missing than chance explains, the interval gets a guard and a note says so."))
	s.notes = append(s.notes, p.episodesNote()...)
	return s, err
}
