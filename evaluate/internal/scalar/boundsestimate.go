package scalar

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// estimate turns noisy sums into an interval and a point in it. All of it is
// post-processing.
func (b Bounds) estimate(noisy mechanism.NoisyPair, cap float64) *Estimate {
	persons := noisy.Count
	if b.Public.Adjacency == dp.AddRemoveOne {
		persons = max(persons, b.Public.AtLeast())
	}
	x, z := noisy.X/persons, noisy.Z/persons
	low := x - b.margin(noisy, x, noisy.XX, persons, cap)
	high := 1 - z + b.margin(noisy, z, noisy.ZZ, persons, cap)
	e := b.point(noisy, persons, cap)
	e.Sums = &Sums{noisy.Count, noisy.X, noisy.Z, noisy.XX, noisy.XZ, noisy.ZZ}
	if e.Missing = b.missing(noisy, persons, cap); e.Missing.Refuted {
		low, high = 0, 1 // the bounds hold with right probabilities alone
	} else if b.Uncut != nil && cap >= b.Caps.At(0).Max {
		if e.Missing.Doubted = e.Missing.Sure(); !e.Missing.Doubted && !e.Undetermined {
			e.Missing.Unguarded = true
			low, high = b.uncut(noisy, e, persons, cap)
		}
	}
	half := b.half(e.StdSampling, e.StdPrivacy)
	ends := [2]float64{e.Value - half, e.Value + half}
	e.Clipping = [2]float64{max(ends[0]-low, 0), max(high-ends[1], 0)}
	e.Interval = [2]float64{ends[0] - e.Clipping[0], ends[1] + e.Clipping[1]}
	if b.Usable { // the value needs no interval of its own: nothing was divided by its weight
		e.Interval = [2]float64{min(low, e.Value), max(high, e.Value)}
	}
	e.Margins = [2]float64{e.Value - e.Interval[0], e.Interval[1] - e.Value}
	b.scale(e)
	return e
}

// margin is what one end allows for: the noise in its mean and the sampling error,
// with what noise may hide of that, and rare outcomes.
func (b Bounds) margin(noisy mechanism.NoisyPair, mean, squares, persons, cap float64) float64 {
	private := math.Hypot(noisy.SD.Sum, mean*noisy.SD.Count) / persons
	variance, sd := squares/persons-mean*mean, noisy.SD.Square/persons
	if b.Usable {
		// x^2 = x - x z - x o, the last of which is what is missing: left out, it is an upper
		// limit with the noise of one product in place of two.
		variance = mean*(1-mean) - noisy.XZ/persons
		sd = math.Hypot(noisy.SD.Product, (1-2*mean)*noisy.SD.Sum) / persons
	}
	variance = max(variance, 0) + allowance(b.Z(), variance, private*private*persons, sd)
	// Numbers in [0, cap] vary by no more than cap times their mean.
	most, unseen := cap*(max(mean, 0)+private), b.unseen()/persons
	if b.Usable {
		// Nor than their mean times what it lacks to the cap (Bhatia and Davis 2000); and persons
		// whom the data happen not to show may be worth an end of the range in place of the mean.
		near := min(max(mean, 0)+private, cap)
		most = min(most, near*min(cap-max(mean, 0)+private, cap))
		unseen *= near / cap
	}
	sampling := math.Sqrt(min(variance, cap*cap/4, max(most, 0)) / persons)
	return math.Hypot(b.half(sampling, private), unseen)
}

// missing is what the mean weight lacks to 1.
func (b Bounds) missing(noisy mechanism.NoisyPair, persons, cap float64) *Missing {
	mean := (noisy.X + noisy.Z) / persons
	private := math.Hypot(noisy.SD.Both, mean*noisy.SD.Count) / persons
	variance := (noisy.XX+2*noisy.XZ+noisy.ZZ)/persons - mean*mean
	// No less than noise could hide, no more than weights up to the cap allow.
	variance = min(max(variance, noisy.SD.Square/persons), max(mean*(cap-mean), 0))
	sampling := math.Sqrt(variance / persons)
	sd := math.Hypot(private, sampling)
	return &Missing{Share: min(max(1-noisy.X/persons-noisy.Z/persons, 0), 1), SD: sd, Confounded: b.Confounded, MeanWeight: mean, Usable: b.Usable, Refuted: !b.Usable && Refuted(mean, b.Refuting(sampling, private), persons)}
}

// point is the value, with its errors.
func (b Bounds) point(noisy mechanism.NoisyPair, persons, cap float64) *Estimate {
	switch {
	case b.Fill != nil:
		return b.filled(noisy, persons, *b.Fill)
	case b.Usable && !b.missing(noisy, persons, cap).Sure():
		return b.filled(noisy, persons, 0.5) // the mean, as far as anybody can tell
	case b.SelfNormalised:
		return b.ratio(noisy, persons, cap)
	}
	return b.filled(noisy, persons, 0.5)
}

// filled is doubly robust: the mean of fill + (x - fill (x + z)), right where fill is
// and right where weights are 1 on average. At a half it is the middle between the two
// estimates.
func (b Bounds) filled(noisy mechanism.NoisyPair, persons, fill float64) *Estimate {
	v := ((noisy.X-noisy.Z)/2 + (0.5-fill)*(noisy.X+noisy.Z)) / persons
	square := (1-fill)*(1-fill)*noisy.XX - 2*fill*(1-fill)*noisy.XZ + fill*fill*noisy.ZZ
	noise := math.Hypot(math.Hypot(noisy.SD.Difference/2, (0.5-fill)*noisy.SD.Both), v*noisy.SD.Count)
	e := inShares(fill + v)
	e.StdSampling, e.StdPrivacy = deviations(square-v*v*persons, noise, noisy.SD.Square, persons)
	return e
}

// inShares is an estimate of a share, which noise may have taken beyond its range.
func inShares(v float64) *Estimate {
	within := min(max(v, 0), 1)
	return &Estimate{Value: within, Beyond: v - within}
}

// deviations are the standard deviations of sampling and of noise in a sum over scale: square
// is the sum's variance as far as it is known, with noise of standard deviation sd in it,
// noise the standard deviation of the noise in the sum. What noise may hide of the variance,
// up to a quarter of sd, is an error of privacy.
func deviations(square, noise, sd, scale float64) (sampling, privacy float64) {
	square = max(square, 0)
	return math.Sqrt(square) / scale, math.Hypot(noise, math.Sqrt(max(sd/4-square, 0))) / scale
}

// ratio is the self-normalised estimate, as if what is missing were like what is
// not, with its errors. A sum of weights that noise could have made draws it to the
// middle of the range.
func (b Bounds) ratio(noisy mechanism.NoisyPair, persons, cap float64) *Estimate {
	both := noisy.X + noisy.Z
	weight := max(both, 4*noisy.SD.Both)
	e := inShares(0.5 + (noisy.X-noisy.Z)/2/weight)
	v := e.Value
	// Of the residuals d(x - v), d the weight: (1-v) x - v z with these x and z.
	square := (1-v)*(1-v)*noisy.XX - 2*v*(1-v)*noisy.XZ + v*v*noisy.ZZ
	noise := math.Hypot(noisy.SD.Difference/2, (v-0.5)*noisy.SD.Both)
	// No more than weights up to the cap allow (Bhatia and Davis 2000), at a value that is
	// one standard deviation of its noise nearer to the middle.
	off := max(math.Abs(v-0.5)-noise/weight, 0)
	most := cap * weight * (0.25 - off*off)
	e.Undetermined = both < weight
	e.StdSampling, e.StdPrivacy = deviations(min(square, most), noise, min(noisy.SD.Square, 4*most), weight)
	return e
}

// scale turns shares of the range into returns, within their public range.
func (b Bounds) scale(e *Estimate) {
	width := b.Range.Width()
	e.Value, e.Interval = b.at(e.Value), [2]float64{b.at(e.Interval[0]), b.at(e.Interval[1])}
	for side := range e.Clipping {
		e.Clipping[side] *= width
		e.Margins[side] *= width
	}
	e.Beyond *= width
	e.StdSampling *= width
	e.StdPrivacy *= width
}

// at is the return of a share of the range.
func (b Bounds) at(share float64) float64 {
	return b.Public.Returns.Clamp(b.Range.Min + b.Range.Width()*share)
}

// Again computes an estimate from the noisy sums in it.
func (b Bounds) Again(e *Estimate) (*Estimate, error) {
	if err := stagesOf(e, b.Noise, true); err != nil {
		return nil, err
	}
	if e.Sums == nil {
		return nil, fmt.Errorf("diagnostics.sums is missing")
	}
	b, err := b.anchored(e)
	if err != nil {
		return nil, err
	}
	cap, err := b.capOf(e)
	if err != nil {
		return nil, err
	}
	m, err := b.pair(cap)
	if err != nil {
		return nil, err
	}
	noisy := e.Sums.pair(b.sd(m))
	if b.Public.Adjacency == dp.ReplaceOne && noisy.Count != float64(b.Public.Persons) {
		return nil, fmt.Errorf("diagnostics.sums.count is %v; want %d, which is public", noisy.Count, b.Public.Persons)
	}
	out := b.estimate(noisy, cap)
	out.MaxWeight, out.Anchor, out.Baseline, out.Counts, out.Rounds = e.MaxWeight, e.Anchor, e.Baseline, e.Counts, e.Rounds
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
