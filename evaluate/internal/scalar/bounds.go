package scalar

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Bounds is the part that DP-IS, DP-PDIS, DP-WIS and DP-DR share off-policy: one-sided
// estimates of the value from below and from above.
//
// A person adds x, the reward that their weight vouches for, and z, the loss that
// it vouches for, both in shares of Range; x + z is the person's weight. Where
// weights are cut, or the logs never tried what the target policy does, both sums
// are too small, so that the mean of x lies below the value and 1 less the mean of z
// above it: docs/proofs/overlap.md. What both leave open is the missing mass.
type Bounds struct {
	Public facts.Public
	Range  facts.Range // what the shares 0 and 1 stand for
	Caps   ClipRanges  // caps on a person's weight, to choose from
	Noise  Stages      // noise multipliers
	// SelfNormalised makes the value the ratio of the sums of x and of weights instead
	// of the middle between the two estimates.
	SelfNormalised bool
	// Estimated tells that the probabilities of logged actions are estimated.
	Estimated bool
	// Confounded tells that ratios were lowered by [Confound].
	Confounded bool
	// Fill makes the value that of the lower estimate with Fill, a share of Range, in
	// place of what is missing; nil leaves the value to SelfNormalised.
	Fill *float64
	// Usable says that a person's weight is the share of their episodes that can be used, 1
	// at most and not a matter of probabilities: on-policy.
	Usable bool
	// Laplace says that the noise is discrete Laplace, and the pair all that is paid for.
	Laplace bool
	// Together says that its pair is one of several that are one release: see [RunTogether].
	Together bool
	// TwoValued says that a person's weight is 0 or the largest cap: squares then follow from the sums.
	TwoValued bool
	// Uncut says that no weight is above the largest cap and that nothing is missing: at that cap
	// no guard is needed. nil where that is not known.
	Uncut *Uncut
	// Answers is how many intervals hold together with 95%, this one among them; 0
	// means 1. Each end then fails with probability 2.5% over Answers at most.
	Answers int
	// OneSided says that each end by itself fails with 5%, whatever other intervals do.
	OneSided bool
	// Unread is the standard deviation of the noise in the number of those who may be among the persons,
	// or not, and who count as persons of whom all is missing; 0 where there are none.
	Unread float64
}

// rare is how many persons whom the data happen not to show each end allows for:
// none of n is seen with probability 5% where 3 are expected. Normal intervals
// cannot see them.
const rare = 3

// Confidence is that of one interval out of so many that hold together with 95%
// (Bonferroni).
func Confidence(answers int) float64 { return 1 - 0.05/float64(max(answers, 1)) }

// AloneConfidence is that of this interval alone, one of Answers that rest on the same
// limits of probabilities where these are estimated.
func (b Bounds) AloneConfidence() float64 {
	if b.OneSided {
		return 0.9
	}
	if !b.Estimated {
		return Confidence(b.Answers)
	}
	return 1 - bandMiss - (0.05-bandMiss)/float64(max(b.Answers, 1))
}

// DifferenceConfidence is that of what follows from two such intervals.
func (b Bounds) DifferenceConfidence() float64 {
	if !b.Estimated {
		return 1 - 2*(1-Confidence(b.Answers))
	}
	return 1 - bandMiss - 2*(0.05-bandMiss)/float64(max(b.Answers, 1))
}

// Z is how many standard deviations each end allows for.
func (b Bounds) Z() float64 {
	if b.OneSided {
		miss := 0.05
		if b.Estimated {
			miss -= bandMiss
		}
		return xmath.NormQuantile(1 - miss)
	}
	if b.Estimated {
		// Both ends of all together miss with 5%, less what the limits of estimated
		// probabilities miss with.
		return xmath.NormQuantile(1 - (0.05-bandMiss)/float64(2*max(b.Answers, 1)))
	}
	if b.Answers <= 1 {
		return Z95
	}
	return math.Sqrt2 * math.Erfinv(Confidence(b.Answers))
}

// unseen is rare, for one interval out of several.
func (b Bounds) unseen() float64 { return rare + math.Log(float64(max(b.Answers, 1))) }

// Missing tells how much of the target policy's value the data do not vouch for.
type Missing struct {
	Share      float64 // of the weight: 0 where nothing is missing
	SD         float64 // its standard error, of noise and of the choice of persons
	Usable     bool    // the weight is the share of episodes that can be used
	Confounded bool    // part of it is what hidden circumstances may have moved
	MeanWeight float64 // 1 less the share, where it is not above 1
	Refuted    bool    // a mean weight above 1 that neither noise nor chance makes
	Unguarded  bool    // by the design nothing is missing, and the interval does not allow for it
	Doubted    bool    // more than chance makes, where by the design nothing is missing
	Scarce     bool    // it is that of cells and actions with too few persons
}

// Sums are the noisy sums that an estimate from below and above is made of, and all
// that it is made of, in shares of the range: x of rewards and z of losses that the weights
// vouch for.
type Sums struct {
	Persons float64 `json:"count"`
	X       float64 `json:"x"`
	Z       float64 `json:"z"`
	XX      float64 `json:"xx"`
	XZ      float64 `json:"xz"`
	ZZ      float64 `json:"zz"`
}

func (s *Sums) pair(sd mechanism.PairSD) mechanism.NoisyPair {
	return mechanism.NoisyPair{Count: s.Persons, X: s.X, Z: s.Z, XX: s.XX, XZ: s.XZ, ZZ: s.ZZ, SD: sd}
}

// Expected is the error that is known beforehand at a cap: the standard deviation
// that the noise makes where nothing is missing, and a bound on that of sampling.
func (b Bounds) Expected(cap float64) (private, sampling float64, err error) {
	m, err := b.pair(cap)
	if err != nil {
		return 0, 0, err
	}
	persons, width := float64(b.Public.Persons), b.Range.Width()
	return width * m.SD().Difference / 2 / persons, width / 2 * math.Sqrt(cap/persons), nil
}

// ExpectedMean is half the width that is expected where nothing is missing, for a value in
// the middle of the range that varies as much as numbers in it can.
func (b Bounds) ExpectedMean() (float64, error) {
	m, err := b.pair(1)
	if err != nil {
		return 0, err
	}
	persons := float64(b.Public.Persons)
	noisy := mechanism.NoisyPair{Count: persons, SD: b.sd(m)}
	return b.Range.Width() * b.margin(noisy, 0.5, persons/2, persons, 1), nil
}

func (b Bounds) diagnostics() overlap {
	return overlap{public: b.Public, cap: b.Caps.At(0).Max, noise: b.Noise}
}

// sd are the standard deviations of the noise in sums and in the number of persons.
func (b Bounds) sd(m noisy) mechanism.PairSD {
	sd := m.SD()
	sd.Count = math.Hypot(sd.Count, b.Unread)
	return sd
}

// noisy are sums that say how much noise is in them.
type noisy interface{ SD() mechanism.PairSD }

// pair is what is released at a cap.
func (b Bounds) pair(cap float64) (noisy, error) {
	if b.Together {
		m, err := b.pairs([]float64{cap})
		return member{m}, err
	}
	return b.alone(cap)
}

// alone is a pair that is a release of its own.
func (b Bounds) alone(cap float64) (*mechanism.Pair, error) {
	if b.Laplace {
		return mechanism.NewLaplacePair(cap, b.Noise.Main, b.Public.Adjacency, b.Usable || b.TwoValued)
	}
	return mechanism.NewPair(cap, b.Noise.Main, b.Public.Adjacency, b.Public.Noise)
}

// Run makes the releases in the order of the event.
func (b Bounds) Run(x, z Numbers, src *noise.Source) (*Estimate, error) {
	cap, chosen, err := b.capped(x, z, src)
	if err != nil {
		return nil, err
	}
	var diagnostics *Overlap
	if b.Noise.Weights != 0 {
		if diagnostics, err = b.diagnostics().release(cutAbove(cap, weights(x, z)), src); err != nil {
			return nil, err
		}
	}
	noisy, err := added(func() (*mechanism.Pair, error) { return b.alone(cap) }, x, z, src)
	if err != nil {
		return nil, err
	}
	e := b.estimate(noisy, cap)
	e.MaxWeight, e.Overlap = chosen, diagnostics
	return e, nil
}

// capped is the cap on weights, and tells it where a paid histogram chooses it.
func (b Bounds) capped(x, z Numbers, src *noise.Source) (cap float64, chosen *float64, err error) {
	if b.Noise.Clip == 0 {
		return b.Caps.At(0).Max, nil, nil
	}
	c := clipper{multiplier: b.Noise.Clip, adjacency: b.Public.Adjacency, kind: b.Public.Noise, persons: b.Public.Persons}
	counts, sd, err := c.count(func(x, z float64) float64 { return x + z }, x, z, b.Caps, src)
	if err != nil {
		return 0, nil, err
	}
	beyond := c.tails(counts)
	for k := range beyond {
		beyond[k] = max(beyond[k]-c.tailSD(sd, k, len(beyond)), 0)
	}
	cap, err = b.choose(beyond)
	return cap, &cap, err
}

// surely is how many times as wide an interval is taken to be without a guard: its noise is certain, and what
// sampling adds to both is supposed.
const surely = 1.1

// choose takes the cap at which the interval is expected to be narrowest, by the
// numbers of persons beyond each: noisy ones less a standard deviation, since far out
// a single person weighs much. From cap to cap outward the mean of the cut weights,
// which the missing mass lacks to 1, and their second moment grow with the number of
// persons beyond; where a design makes the mean of uncut weights 1, no more is missing than
// its law has beyond a cap. The interval holds the value at every cap, so that nothing rests on
// these counts but its width.
func (b Bounds) choose(beyond []float64) (cap float64, err error) {
	persons := float64(b.Public.Persons)
	k := len(beyond) - 1
	cap = b.Caps.At(k).Max
	mean, square, best, narrowest, total := 0.0, cap, cap, math.Inf(1), math.Inf(1)
	for ; ; k-- {
		m, err := b.pair(cap)
		if err != nil {
			return 0, err
		}
		width := 2*b.Z()*math.Hypot(m.SD().Sum/persons, math.Sqrt(square/persons)/2) - mean
		if u := b.Uncut; u != nil {
			noisy, square := mechanism.NoisyPair{Count: persons, SD: m.SD()}, min(square, u.Square)
			width = 2*b.guardedHalf(noisy, 1, square, u.Scatter, cap) - mean
			if total = min(total, mean+u.lost(cap)); k == 0 {
				total = min(total, mean)
				width = 2*surely*b.bareHalf(noisy, u.Scatter*square, cap) - total
			}
		}
		if width < narrowest {
			best, narrowest = cap, width
		}
		if k == 0 {
			return best, nil
		}
		wider := b.Caps.At(k - 1).Max
		share := (beyond[k] + beyond[k-1]) / 2 / persons
		mean += share * (wider - cap)
		square += share * (wider*wider - cap*cap)
		cap = wider
	}
}

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
