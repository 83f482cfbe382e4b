package scalar

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// ClipSteps is how often the clip of a mean may be divided by sqrt 2.
const ClipSteps = 12

// Mean is the part that DP-IS, DP-PDIS and DP-DR share: the private mean of one
// number a person, with its second moment, within a clip that is public or paid
// for.
type Mean struct {
	Public facts.Public
	Ranges ClipRanges
	Cap    float64 // of weights, in diagnostics
	Noise  Stages  // noise multipliers
	Tail   Tail
	// Laplace says that the noise is discrete Laplace, and the mean all that is paid for.
	Laplace bool
}

// Event is that of the mean alone.
func (w Mean) Event() (dp.Event, error) {
	m, err := w.moments(w.Ranges.At(0))
	if err != nil {
		return nil, err
	}
	return m.Event(), nil
}

// half is half of a 95% interval at both errors.
func (w Mean) half(sampling, private float64) float64 {
	return Bounds{Laplace: w.Laplace}.half(sampling, private)
}

func (w Mean) moments(clip facts.Range) (*mechanism.Moments, error) {
	if w.Laplace {
		return mechanism.NewLaplaceMoments(clip.Min, clip.Max, w.Noise.Main, w.Public.Adjacency)
	}
	return mechanism.NewMoments(clip.Min, clip.Max, w.Noise.Main, w.Public.Adjacency, w.Public.Noise)
}

// Expected is the error that is known beforehand, at the widest clip: standard
// deviation of what the noise makes, and a bound on that of sampling.
func (w Mean) Expected() (private, sampling float64, err error) {
	clip := w.Ranges.At(0)
	m, err := w.moments(clip)
	if err != nil {
		return 0, 0, err
	}
	count, sum, _ := m.SD()
	persons := float64(w.Public.Persons)
	half := clip.Width() / 2
	private = math.Hypot(sum, expectedOffset(w.Public.Returns, clip.Mid())*count) / persons
	return private, half / math.Sqrt(persons), nil
}

// expectedOffset is the mean distance from centre of a value that may lie
// anywhere in g.
func expectedOffset(g facts.Range, centre float64) float64 {
	below, above := centre-g.Min, g.Max-centre
	if below <= 0 || above <= 0 {
		return math.Abs(g.Mid() - centre)
	}
	return (below*below + above*above) / (2 * (below + above))
}

// Run makes the releases from the clip onward: x holds every person's number and
// weight their importance weight; n are the ranges to choose from.
func (w Mean) Run(x, weight Numbers, n ClipRanges, src *noise.Source) (*Estimate, error) {
	clip := choice{clip: n.At(0)}
	if w.Noise.Clip != 0 {
		var err error
		if clip, err = w.clipper(n).choose(func(x, _ float64) float64 { return x }, x, weight, n, src); err != nil {
			return nil, err
		}
	}
	var diagnostics *Overlap
	if w.Noise.Weights != 0 {
		cut := func(yield func(weight float64, cut bool) bool) {
			for x, weight := range Pairs(x, weight) {
				if !yield(weight, !(x >= clip.clip.Min && x <= clip.clip.Max)) {
					return
				}
			}
		}
		var err error
		if diagnostics, err = (overlap{public: w.Public, cap: w.Cap, noise: w.Noise}).release(cut, src); err != nil {
			return nil, err
		}
	}
	m, err := sum(func() (*mechanism.Moments, error) { return w.moments(clip.clip) }, x,
		func(m *mechanism.Moments, part, i int) error { return m.Add(x[part][i]) })
	if err != nil {
		return nil, err
	}
	noisy, _, err := m.Release(src)
	if err != nil {
		return nil, err
	}
	e := w.estimate(noisy, clip)
	e.Overlap = diagnostics
	if w.Noise.Clip != 0 {
		e.Clip = &clip.clip
	}
	return e, nil
}

// clipper spends the clip's share.
func (w Mean) clipper(n ClipRanges) clipper {
	return clipper{multiplier: w.Noise.Clip, adjacency: w.Public.Adjacency, kind: w.Public.Noise,
		persons: w.Public.Persons, tail: w.Tail, price: w.Noise.Main * (n.Below + n.Above) / 2 / max(n.Below, n.Above)}
}

// estimate turns noisy moments into an estimate. All of it is post-processing.
func (w Mean) estimate(noisy mechanism.NoisyMoments, c choice) *Estimate {
	count := noisy.Count
	if w.Public.Adjacency == dp.AddRemoveOne {
		count = max(count, float64(w.Public.Persons))
	}
	offset := noisy.Sum / count
	private := math.Hypot(noisy.SumSD, offset*noisy.CountSD) / count
	sampling := math.Sqrt(min(max(noisy.Squares/count-offset*offset, 0), w.most(c.clip)) / count)
	private = w.withHidden(private, sampling, noisy.SquaresSD, count, c.clip)
	e := &Estimate{Value: w.Public.Returns.Clamp(noisy.Centre + offset), StdSampling: sampling, StdPrivacy: private}
	e.Clipping = w.beyond(e, noisy, count)
	for side := range e.Clipping {
		e.Clipping[side] += c.bias / count
	}
	e.Interval = w.lengthened(e)
	return e
}

// beyond is by how much the normal interval is too short below and above. Where an outcome
// is so rare that the data happen not to show it, it may be worth up to an end of the
// public range. A noisy number of persons, of which the mean is a ratio, is allowed for
// to all orders (Fieller 1954): where the noise might leave none of them, it tells nothing.
func (w Mean) beyond(e *Estimate, noisy mechanism.NoisyMoments, count float64) [2]float64 {
	half := w.half(e.StdSampling, e.StdPrivacy)
	sides := [2]float64{half, half}
	within := w.Public.Returns
	if noisy.CountSD > 0 {
		offset, g := noisy.Sum/count, math.Pow(w.half(0, noisy.CountSD)/count, 2)
		if g >= 1 {
			return [2]float64{within.Width(), within.Width()}
		}
		spread := math.Sqrt(g*offset*offset + (1-g)*max(half*half-g*offset*offset, 0))
		sides[0] = e.Value - (noisy.Centre + (offset-spread)/(1-g))
		sides[1] = noisy.Centre + (offset+spread)/(1-g) - e.Value
	}
	return w.unseen(e, sides, count)
}

// unseen is by how much an interval that reaches so far to both sides is lengthened, over
// the normal one, with what is allowed for outcomes that the data do not show.
func (w Mean) unseen(e *Estimate, sides [2]float64, count float64) [2]float64 {
	half := w.half(e.StdSampling, e.StdPrivacy)
	within := w.Public.Returns
	for side, far := range [2]float64{e.Value - within.Min, within.Max - e.Value} {
		sides[side] = max(math.Hypot(max(sides[side], half), rare*far/count)-half, 0)
	}
	return sides
}

// ExpectedHalf is half the width that is expected of an interval at these errors, for a
// value in the middle of the range.
func (w Mean) ExpectedHalf(private, sampling float64) float64 {
	return math.Hypot(w.half(sampling, private), rare*w.Public.Returns.Width()/2/float64(w.Public.Persons))
}

// most is the largest variance of numbers within a clip.
func (w Mean) most(clip facts.Range) float64 { return clip.Width() * clip.Width() / 4 }

// withHidden adds to the standard deviation of the noise in a mean over count persons what
// noise in their second moment, of standard deviation squares, may hide of the sampling
// error.
func (w Mean) withHidden(private, sampling, squares, count float64, clip facts.Range) float64 {
	variance := sampling * sampling * count
	hidden := allowance(Z95, variance, private*private*count, squares/count)
	return math.Hypot(private, math.Sqrt(max(min(hidden, w.most(clip)-variance), 0)/count))
}

// lengthened is the normal interval, lengthened by what an estimate says and cut to the
// public range.
func (w Mean) lengthened(e *Estimate) [2]float64 {
	half, within := w.half(e.StdSampling, e.StdPrivacy), w.Public.Returns
	return [2]float64{max(e.Value-half-e.Clipping[0], within.Min), min(e.Value+half+e.Clipping[1], within.Max)}
}

// PersonWeights is every person's mean importance weight.
func PersonWeights(s *value.Sample) []float64 {
	num, den := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
	value.ISContributions(num, den, s)
	return den
}

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
