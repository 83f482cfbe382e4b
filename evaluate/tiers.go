package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// tier says whether an interval is guarded against weights that were cut and against
// what the logs never tried (2), or needs no guard by the design (0), and why.
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
	if b.Caps.Steps > 0 {
		t.clip = m.shareOfCaps()
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
	chosen.Caps.Steps, stages.Clip = capSteps(b.Caps.Above), m.shareOfCaps()
	if chosen.Noise, err = split(stages); err != nil {
		return b, with, err
	}
	narrower, err := chosen.ExpectedGuarded(of.weights.law)
	if err != nil || narrower >= with {
		return b, with, err
	}
	return chosen, narrower, nil
}

// shareOfCaps is the share of the budget that the choice of a cap gets.
func (m DPIS) shareOfCaps() float64 {
	if m.ClipShare > 0 {
		return m.ClipShare
	}
	return defaultClipShare
}

// fewInGroup is why groups are guarded.
const fewInGroup = "a group may have few persons or none, and then only an interval with a guard is valid"

// needsGuard says why the design does not make the guard needless; "" where it does.
func (m DPIS) needsGuard(p Public, of vouched) string {
	if p.share != nil {
		return fewInGroup
	}
	switch d := p.Design; {
	case p.onPolicy():
		return "nothing states that no episode was cut off and that none has to be left out; to narrow the interval, set problem.records: complete if that is so (the check refuses data that show otherwise)"
	case p.Behavior != nil:
		return "the probabilities of logged actions are estimated"
	case d == nil:
		return "no public design bounds the weights"
	case m.Confounding > 1:
		return "hidden confounding is allowed for"
	case !d.Supported:
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

// describe tells the tier in one line.
func (t tier) describe(plan *Plan, guess *WeightGuess) {
	plan.Facts["tier"] = t.number
	plan.tellDesign()
	if t.half > 0 && (guess == nil || t.number == 0) {
		plan.Expected.HalfWidth = t.half
	}
	guard := "The interval includes a guard, which allows for weight that is clipped or missing"
	if plan.public.onPolicy() {
		guard = "The interval includes a guard, which allows for what is missing"
	}
	if t.number == 0 {
		guard = "The interval needs no guard against weight that is clipped or missing"
	}
	plan.Notes = append(plan.Notes, fmt.Sprintf("%s (tier %d), because %s.", guard, t.number, t.why))
}

// tellDesign repeats the design, from which the plan follows.
func (p *Plan) tellDesign() {
	if d := p.public.Design; d != nil {
		p.Facts["design"] = *d
	}
}

// describeUncut tells what is known beforehand of an interval without a guard.
func (p *Plan) describeUncut(b scalar.Bounds) error {
	private, sampling, err := b.Expected(b.Caps.At(0).Max)
	if err != nil {
		return err
	}
	p.expect(private, sampling)
	p.Facts["clip"] = Range(b.Range)
	p.Notes = append(p.Notes, p.words("The interval allows for sampling error and for privacy noise. It assumes that the design and its probabilities are right and that no record is lost, as the curator states (problem.records: complete); the check of the data can refute that statement but not prove it. If more weight is missing than chance explains, the interval gets a guard and a note says so."))
	p.describeEpisodes()
	return nil
}
