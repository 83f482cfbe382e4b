package scalar

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// Again computes an estimate from the noisy numbers in it: whatever else it
// holds is determined by these and by the plan. n are the ranges that its clip
// was chosen from.
func (w Mean) Again(e *Estimate, n ClipRanges) (*Estimate, error) {
	out := *e
	clip, err := w.clipOf(e, n)
	if err != nil {
		return nil, err
	}
	if err := stagesOf(e, w.Noise, false); err != nil {
		return nil, err
	}
	if e.Undetermined || e.MaxWeight != nil || e.Baseline != nil && w.Noise.Baseline == 0 {
		return nil, fmt.Errorf("it holds what a mean does not")
	}
	within := w.Public.Returns
	if v := within.Clamp(e.Value); v != e.Value {
		return nil, fmt.Errorf("value %v is outside the public range of a return, [%v, %v]", e.Value, within.Min, within.Max)
	}
	m, err := w.moments(clip)
	if err != nil {
		return nil, err
	}
	countSD, sumSD, squaresSD := m.SD()
	persons := float64(w.Public.Persons)
	if w.Public.Adjacency == dp.ReplaceOne {
		out.StdPrivacy = w.withHidden(sumSD/persons, e.StdSampling, squaresSD, persons, clip)
	} else if v := e.Value; v > within.Min && v < within.Max {
		// The noisy number of persons, which is at least the public bound, shows in
		// the noise of the mean alone.
		if most := math.Hypot(math.Hypot(sumSD, (v-clip.Mid())*countSD), math.Sqrt(squaresSD)) / persons; e.StdPrivacy > most*(1+1e-9) || !(e.StdPrivacy > 0) {
			return nil, fmt.Errorf("std_privacy is %v; the noise makes at most %v", e.StdPrivacy, most)
		}
	}
	if most := clip.Width() / 2 / math.Sqrt(persons); !(e.StdSampling >= 0 && e.StdSampling <= most*(1+1e-9)) {
		return nil, fmt.Errorf("std_sampling is %v; contributions within the clip make at most %v", e.StdSampling, most)
	}
	if out.Clipping, err = w.beyondAgain(&out, persons); err != nil {
		return nil, err
	}
	out.Interval = w.lengthened(&out)
	if e.Overlap != nil {
		out.Overlap, err = (overlap{public: w.Public, cap: w.Cap, noise: w.Noise}).again(e.Overlap)
	}
	return &out, err
}

// beyondAgain is by how much the interval is lengthened. Of a noisy number of persons, which
// is not told, only limits of it are known.
func (w Mean) beyondAgain(e *Estimate, persons float64) ([2]float64, error) {
	width := w.Public.Returns.Width()
	for _, c := range e.Clipping {
		if !(c >= 0) || w.Noise.Clip == 0 && c > width*(1+1e-9) {
			return [2]float64{}, fmt.Errorf("clipping is %v; want numbers from 0 to %v", e.Clipping, width)
		}
	}
	if w.Public.Adjacency != dp.ReplaceOne {
		return e.Clipping, nil
	}
	half := Z95 * math.Hypot(e.StdSampling, e.StdPrivacy)
	out := w.unseen(e, [2]float64{half, half}, persons)
	if w.Noise.Clip != 0 {
		bias := max(e.Clipping[0]-out[0], 0)
		out[0], out[1] = out[0]+bias, out[1]+bias
	}
	return out, nil
}

// clipOf is the clip of an estimate: one of the ranges, where one was chosen.
func (w Mean) clipOf(e *Estimate, n ClipRanges) (facts.Range, error) {
	if w.Noise.Clip == 0 {
		if e.Clip != nil {
			return facts.Range{}, fmt.Errorf("diagnostics.clip: none was paid for")
		}
		return n.At(0), nil
	}
	if e.Clip == nil {
		return facts.Range{}, fmt.Errorf("diagnostics.clip is missing")
	}
	for k := range n.Steps + 1 {
		if r := n.At(k); near(r.Min, e.Clip.Min, r.Width()) && near(r.Max, e.Clip.Max, r.Width()) {
			return r, nil
		}
	}
	return facts.Range{}, fmt.Errorf("diagnostics.clip [%v, %v] is none of the ranges to choose from", e.Clip.Min, e.Clip.Max)
}

func near(a, b, scale float64) bool { return math.Abs(a-b) <= 1e-9*scale }

// stagesOf holds what an estimate tells against what was paid for.
func stagesOf(e *Estimate, paid Stages, capped bool) error {
	switch {
	case (e.Overlap != nil) != (paid.Weights != 0):
		return fmt.Errorf("diagnostics.overlap is there exactly where it was paid for")
	case (e.Baseline != nil) != (paid.Baseline != 0):
		return fmt.Errorf("diagnostics.baseline is there exactly where it was paid for")
	case (e.MaxWeight != nil) != (capped && paid.Clip != 0):
		return fmt.Errorf("diagnostics.max_weight is there exactly where it was paid for")
	}
	return nil
}

// Again computes a doubly robust estimate from the noisy numbers in it.
func (d DR) Again(e *Estimate) (*Estimate, error) {
	g, err := d.Baseline.told(e)
	if err != nil {
		return nil, err
	}
	return d.Mean.Again(e, Around(d.Public, d.Cap, g.Overall))
}

// fits tells whether a paid baseline has the numbers of its kind, all in the
// public range.
func (d Baseline) fits(g *Guess) error {
	actions, states := 0, 0
	switch d.Kind {
	case BaselineAction:
		actions = d.Public.Target.Actions()
	case BaselineState:
		states = d.States
	}
	if len(g.Action) != actions || len(g.State) != states {
		return fmt.Errorf("diagnostics.baseline holds %d action_values and %d state_values; a baseline of kind %s has %d and %d", len(g.Action), len(g.State), d.Kind, actions, states)
	}
	for _, list := range [][]float64{{g.Overall}, g.Action, g.State} {
		for _, v := range list {
			if r := d.Public.Returns; !(v >= r.Min && v <= r.Max) {
				return fmt.Errorf("diagnostics.baseline holds %v, outside the public range of a return, [%v, %v]", v, r.Min, r.Max)
			}
		}
	}
	return nil
}

// Again computes an estimate from the noisy sums in it.
func (b Bounds) Again(e *Estimate) (*Estimate, error) {
	if err := stagesOf(e, b.Noise, true); err != nil {
		return nil, err
	}
	if e.Sums == nil {
		return nil, fmt.Errorf("diagnostics.sums is missing")
	}
	cap, err := b.capOf(e)
	if err != nil {
		return nil, err
	}
	m, err := b.pair(cap)
	if err != nil {
		return nil, err
	}
	noisy := e.Sums.pair(m.SD())
	if b.Public.Adjacency == dp.ReplaceOne && noisy.Count != float64(b.Public.Persons) {
		return nil, fmt.Errorf("diagnostics.sums.count is %v; want %d, which is public", noisy.Count, b.Public.Persons)
	}
	out := b.estimate(noisy, cap)
	out.MaxWeight, out.Baseline = e.MaxWeight, e.Baseline
	if e.Overlap != nil {
		out.Overlap, err = b.diagnostics().again(e.Overlap)
	}
	return out, err
}

// capOf is the cap on weights of an estimate: one of those to choose from, where
// one was chosen.
func (b Bounds) capOf(e *Estimate) (float64, error) {
	if b.Noise.Clip == 0 {
		return b.Caps.At(0).Max, nil
	}
	for k := range b.Caps.Steps + 1 {
		if cap := b.Caps.At(k).Max; near(cap, *e.MaxWeight, cap) {
			return cap, nil
		}
	}
	return 0, fmt.Errorf("diagnostics.max_weight %v is none of the caps to choose from", *e.MaxWeight)
}

// again computes diagnostics from the noisy numbers in them.
func (o overlap) again(d *Overlap) (*Overlap, error) {
	sumSD, squaresSD, persons, err := o.noises(d)
	if err != nil {
		return nil, err
	}
	out := *d
	out.MeanWeightSD, out.ClippedShareSD = sumSD/persons, o.countSD()/persons
	switch {
	case !(d.MeanWeight >= 0 && d.MeanWeight <= o.cap):
		return nil, fmt.Errorf("diagnostics.overlap.mean_weight is %v, outside [0, %v]", d.MeanWeight, o.cap)
	case !(d.ClippedShare >= 0 && d.ClippedShare <= 1):
		return nil, fmt.Errorf("diagnostics.overlap.clipped_share is %v, outside [0, 1]", d.ClippedShare)
	case !(d.EffectiveSampleSize >= 0 && d.EffectiveSampleSize <= persons*(1+1e-9)):
		return nil, fmt.Errorf("diagnostics.overlap.effective_sample_size is %v, above the number of persons", d.EffectiveSampleSize)
	case d.EffectiveSampleSize == 0:
		out.EffectiveSD = 0
	case d.MeanWeight > 0 && d.MeanWeight < o.cap && d.EffectiveSampleSize < persons*(1-1e-9):
		sum := d.MeanWeight * persons
		squares := sum * sum / d.EffectiveSampleSize
		if !(sum > 2*sumSD*(1-1e-9) && squares > 2*squaresSD*(1-1e-9)) {
			return nil, fmt.Errorf("diagnostics.overlap.effective_sample_size is %v, which the noise hides", d.EffectiveSampleSize)
		}
		out.EffectiveSD = d.EffectiveSampleSize * math.Hypot(2*sumSD/sum, squaresSD/squares)
	}
	return &out, nil
}

// noises are the standard deviations of the sums of weights and of their squares,
// and the number of persons that they were divided by.
func (o overlap) noises(d *Overlap) (sum, squares, persons float64, err error) {
	m, err := o.moments()
	if err != nil {
		return 0, 0, 0, err
	}
	count, first, second := m.SD()
	c := o.cap / 2
	sum = math.Hypot(first, c*count)
	squares = math.Hypot(second+c*c*count, 2*c*first)
	persons = float64(o.public.Persons)
	if o.public.Adjacency == dp.ReplaceOne {
		return sum, squares, persons, nil
	}
	// Their noisy number, which is at least the public bound, shows in both.
	found := sum / d.MeanWeightSD
	if !(found >= persons*(1-1e-9)) || math.IsInf(found, 0) {
		return 0, 0, 0, fmt.Errorf("diagnostics.overlap.mean_weight_std is %v; the noise makes at most %v", d.MeanWeightSD, sum/persons)
	}
	return sum, squares, found, nil
}
