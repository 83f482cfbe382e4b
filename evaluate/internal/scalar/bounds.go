package scalar

import (
	"math"

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

// tail is the probability with which each end fails: both ends of all together with 5%, or each by itself, less what
// the limits of estimated probabilities miss with.
func (b Bounds) tail() float64 {
	miss := 0.05
	if b.Estimated {
		miss -= bandMiss
	}
	if b.OneSided {
		return miss
	}
	return miss / float64(2*max(b.Answers, 1))
}

// Z is how many standard deviations each end allows for.
func (b Bounds) Z() float64 {
	switch {
	case b.OneSided || b.Estimated:
		return xmath.NormQuantile(1 - b.tail())
	case b.Answers <= 1:
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
