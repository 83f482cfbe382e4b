package evaluate

import (
	"cmp"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

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

// uncut is what is known of weights that are not cut.
func (w weightBound) uncut() *scalar.Uncut {
	return &scalar.Uncut{Square: w.square, Scatter: w.scatter}
}

// tier fixes the noise of every stage, and leaves the guard out where it is needless and
// the interval expected to be narrower without it: docs/proofs/overlap.md.
func (m DPIS) tier(p Public, of vouched, b scalar.Bounds, stages scalar.Stages, split splitter) (scalar.Bounds, tier, error) {
	t := tier{number: 2, why: m.needsGuard(p, of), clip: stages.Clip}
	var err error
	if b.Noise, err = split(stages); err != nil {
		return b, t, err
	}
	if t.why != "" {
		if b, t.clip, err = m.keeping(p, of, b, stages, split); err != nil {
			return b, t, err
		}
		if p.knows(of) && m.Confounding <= 1 {
			t.half, err = b.Foresee(of.weights.law, of.weights.scatter)
		}
		return b, t, err
	}
	bare := b
	bare.Uncut, bare.Caps = of.weights.uncut(), scalar.ClipRanges{Above: of.weights.largest}
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
	if b.Caps.Steps > 0 {
		stages.Clip = cmp.Or(m.ClipShare, defaultClipShare)
	}
	width := of.within.Width()
	guarded, free := min(with, 0.5)*width, min(without, 0.5)*width
	expected := [2]float64{width * without, width * with}
	kept, clip, err := m.keeping(p, of, b, stages, split)
	if err != nil {
		return b, t, err
	}
	if !p.supposes { // by the law of weights, as the plan forecasts
		if guarded, err = kept.Foresee(of.weights.law, of.weights.scatter); err != nil {
			return b, t, err
		}
		if free, err = bare.Foresee(of.weights.law, of.weights.scatter); err != nil {
			return b, t, err
		}
		if expected = [2]float64{free, guarded}; free != guarded { // both are where all of the range is expected
			with, without = guarded/width, free/width
		}
	}
	if m.Clip != clipPublic && p.varies(of) {
		var byCounts decided
		if byCounts, err = m.either(p, b, bare, of.weights); err != nil {
			return b, t, err
		}
		with, without = byCounts.with, byCounts.without
		if byCounts.number == 1 {
			b.Uncut, b.Caps = bare.Uncut, byCounts.caps
			stages.Clip = byCounts.share
			if b.Noise, err = split(stages); err != nil {
				return b, t, err
			}
			t = tier{number: 1, why: byHistogram(of), clip: stages.Clip}
			t.half, err = b.Foresee(of.weights.law, of.weights.scatter)
			return b, t, err
		}
	}
	if t.why = costs(p, of, with, without); t.why != "" {
		b, t.clip = kept, clip
	}
	told := fmt.Sprintf(". The expected half width is %.3g without a guard and %.3g with it", expected[0], expected[1])
	if t.half = guarded; t.why == "" {
		b, t = bare, tier{half: free, why: needless(of)}
	}
	t.why += told
	return b, t, nil
}

// knows tells that a law of weights follows from the design.
func (p Public) knows(of vouched) bool {
	return !p.supposes && of.weights.largest <= largestKnown && p.Design.Supported
}

// decided is a tier with the half widths, in shares of the range, that are expected with a guard and without and, of tier 1, the caps to
// choose from and the part of the budget that the choice gets.
type decided struct {
	number        int
	with, without float64
	caps          scalar.ClipRanges
	share         float64
}

// either says whether an estimate of weights that the design bounds, but that it allows to be rare, needs a guard (2), needs none
// (0), or whether a paid histogram is to say (1).
// What is public of rare weights is a guess. So without one it has to be narrower for any weights than with it for weights that are all 1.
func (m DPIS) either(p Public, guarded, bare scalar.Bounds, w weightBound) (decided, error) {
	halves := [5]float64{}
	for i, of := range []struct {
		b   scalar.Bounds
		law []scalar.Atom
	}{{guarded, w.law}, {guarded, allOne()}, {bare, []scalar.Atom{{Weight: w.square, Share: 1 / w.square}}}, {bare, allOne()}, {bare, w.law}} {
		half, err := of.b.Foresee(of.law, w.scatter)
		if err != nil {
			return decided{}, err
		}
		halves[i] = half / of.b.Range.Width()
	}
	d := decided{number: 1, with: halves[0], without: halves[2], share: cmp.Or(m.ClipShare, tierShare)}
	count := guarded.Caps.Steps > 0
	if counted, can := m.counted(p, guarded); can && !count {
		half, err := counted.Foresee(allOne(), w.scatter)
		if err != nil {
			return decided{}, err
		}
		count = halves[3] > widened*half/counted.Range.Width()
	}
	switch {
	case halves[3] >= d.with, d.without > halves[1] && guarded.Caps.Steps == 0 && guarded.Caps.Above < w.largest:
		d.number, d.without = 2, max(d.with, d.without)
	case !count, guarded.Caps.Steps > 0 && d.without <= halves[1]:
		d.number, d.without = 0, min(d.without, math.Nextafter(d.with, 0))
	case d.with < halves[4]:
		d.share = cmp.Or(m.ClipShare, defaultClipShare) // it chooses among caps
	}
	if d.number != 1 {
		return d, nil
	}
	var err error
	d.caps, err = m.capsBelow(p, guarded.Caps, w.largest)
	return d, err
}

// capsBelow are the bound of weights and, below it, the caps to choose from without a design: others could suit worse.
func (m DPIS) capsBelow(p Public, guarded scalar.ClipRanges, largest float64) (scalar.ClipRanges, error) {
	if m.MaxWeight != 0 {
		return guarded.Beyond(largest), nil
	}
	most, err := m.widest(p, 1)
	if most > largest {
		most *= math.Exp2(-math.Ceil(2*math.Log2(most/largest)) / 2)
	}
	caps := scalar.ClipRanges{Above: max(most, 1)}
	caps.Steps = capSteps(caps.Above)
	return caps.Beyond(largest), err
}

// guardedCaps are the caps of an estimate that keeps its guard, and the part of its budget that their choice gets. Those that it has without a
// design are among them, as far as they are below the bound of weights; and where no choice is paid for without which weights of 1 are wider
// than with it, one is.
func (m DPIS) guardedCaps(p Public, w weightBound, b scalar.Bounds, share float64) (scalar.ClipRanges, float64, error) {
	if p.supposes || w.largest > largestKnown || b.Caps.Above < w.largest {
		return b.Caps, share, nil
	}
	caps, err := m.capsBelow(p, b.Caps, w.largest)
	if err != nil || share != 0 {
		return caps, share, err
	}
	chosen, can := m.counted(p, b)
	if !can || !p.Design.Varies {
		return b.Caps, 0, nil
	}
	chosen.Caps = caps
	chosen.Noise.Main = b.Noise.Main / math.Sqrt(1-defaultClipShare)
	most, err := b.Foresee(allOne(), w.scatter)
	if err != nil {
		return b.Caps, 0, err
	}
	if least, err := chosen.Foresee(allOne(), w.scatter); err != nil || most <= widened*least {
		return b.Caps, 0, err
	}
	return caps, defaultClipShare, nil
}

// keeping is an estimate that keeps its guard, by guardedCaps, and the part of its budget that the choice of a cap gets.
func (m DPIS) keeping(p Public, of vouched, b scalar.Bounds, stages scalar.Stages, split splitter) (scalar.Bounds, float64, error) {
	var err error
	if b.Caps, stages.Clip, err = m.guardedCaps(p, of.weights, b, stages.Clip); err != nil {
		return b, 0, err
	}
	b.Noise, err = split(stages)
	return b, stages.Clip, err
}

// widened is how many times as wide as without a design an interval may be expected to be.
const widened = 1.02

// counted is an estimate with caps to choose from below the bound of its weights, and false where a histogram could not tell.
func (m DPIS) counted(p Public, b scalar.Bounds) (scalar.Bounds, bool) {
	r, err := meanInNoise(p)
	b.Caps.Steps = capSteps(b.Caps.Above)
	b.Noise.Main /= math.Sqrt(1 - tierShare)
	return b, err == nil && r/9 >= narrowable && m.Clip == "" && m.MaxWeight == 0 && b.Caps.Steps > 0
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
// between far apart widths and not among near ones, unless a guard is expected to be.
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
// no cap is chosen though the design bounds the weights, with a choice below that bound, also where that could be much narrower.
func (m DPIS) narrowest(p Public, of vouched, b scalar.Bounds, stages scalar.Stages, split splitter) (scalar.Bounds, float64, error) {
	with, err := b.ExpectedGuarded(of.weights.law)
	chosen, can := m.counted(p, b)
	if err != nil || stages.Clip != 0 || !can {
		return b, with, err
	}
	stages.Clip = cmp.Or(m.ClipShare, defaultClipShare)
	if chosen.Noise, err = split(stages); err != nil {
		return b, with, err
	}
	narrower, err := chosen.ExpectedGuarded(of.weights.law)
	if err != nil {
		return b, with, err
	}
	if narrower >= with {
		return b, with, nil
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
		if s.expected.HalfWidth = t.half; !p.supposes {
			s.facts["forecast"] = byWeights
		}
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
