package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Uncut is what a public design says of weights that are never cut and whose mean is 1.
type Uncut struct {
	Square float64 // bound on the mean of their squares
	// Scatter is what is supposed of returns, by which a paid histogram chooses: see [Bounds.Foresee].
	Scatter float64
}

// Sure tells that more is missing than noise and the choice of persons make where nothing
// is.
func (m Missing) Sure() bool { return m.Share >= 0.005 && m.Share >= 2*m.SD }

// uncut are the ends of the interval of the value itself, where the mean weight is known
// to be 1: the value is unbiased, and neither end allows for missing mass. Both allow
// for the sampling error with what noise may hide of it, for the noise, and for outcomes
// that the data happen not to show, each of which is worth up to a whole weight.
func (b Bounds) uncut(noisy mechanism.NoisyPair, e *Estimate, persons, cap float64) (low, high float64) {
	v, fill := e.Value, b.fillOf(e.Value)
	variance, private := e.StdSampling*e.StdSampling*persons, e.StdPrivacy
	variance += allowance(b.Z(), variance, private*private*persons, noisy.SD.Square/persons)
	half := b.half(math.Sqrt(min(variance, b.mostVariance(v, private, cap))/persons), private)
	unseen := b.unseen() / persons
	return v - math.Hypot(half, unseen*(cap*fill+v-fill)), v + math.Hypot(half, unseen*(cap*(1-fill)+fill-v))
}

// mostVariance is the largest variance that weights up to the cap with mean 1 allow for,
// w (r - fill) at a value v that may be off by so much: (r - fill)^2 lies below its chord.
func (b Bounds) mostVariance(v, off, cap float64) float64 {
	if b.Fill == nil && b.SelfNormalised { // the value itself stands in place of what is missing
		near := min(max(0.5, v-off), v+off)
		return cap * near * (1 - near)
	}
	fill := b.fillOf(v)
	return cap * (fill*fill + v*(1-2*fill) + off*math.Abs(1-2*fill))
}

// fillOf is the share that stands in place of what is missing, at a value.
func (b Bounds) fillOf(value float64) float64 {
	switch {
	case b.Fill != nil:
		return *b.Fill
	case b.SelfNormalised:
		return value
	}
	return 0.5
}

// ExpectedUncut is half the width, in shares of the range, that is expected without a
// guard, for a value anywhere in the range.
func (b Bounds) ExpectedUncut() (float64, error) {
	cap := b.Caps.At(0).Max
	m, err := b.pair(cap)
	if err != nil {
		return 0, err
	}
	return b.uncutHalf(m.SD(), b.Uncut.Square, cap), nil
}

// lost is what of the mean weight can lie above a cap: w - c is at most w^2/(4c).
func (u Uncut) lost(cap float64) float64 { return u.Square / (4 * cap) }

// uncutHalf is the same for weights of a mean square.
func (b Bounds) uncutHalf(sd mechanism.PairSD, square, cap float64) float64 {
	persons := float64(b.Public.Persons)
	half := b.half(math.Sqrt(square/persons)/2, sd.Difference/2/persons)
	return math.Hypot(half, b.unseen()*cap/2/persons)
}

// Bare tells that no guard is needed, whatever the data are like.
func (b Bounds) Bare() bool { return b.Uncut != nil && b.Noise.Clip == 0 }

// Atom is a weight and the share of persons who have it.
type Atom struct{ Weight, Share float64 }

// cutAt are the mean weight of a law, cut at a cap, and the mean square.
func cutAt(cap float64, law []Atom) (mean, square float64) {
	for _, a := range law {
		kept := min(a.Weight, cap)
		mean += a.Share * kept
		square += a.Share * kept * kept
	}
	return mean, square
}

// ExpectedGuarded is half the width, in shares of the range, that is expected with the
// guard at the cap that suits best, for weights of a law with mean 1.
func (b Bounds) ExpectedGuarded(law []Atom) (float64, error) {
	persons, best := float64(b.Public.Persons), math.Inf(1)
	for k := range b.Caps.Steps + 1 {
		cap := b.Caps.At(k).Max
		m, err := b.pair(cap)
		if err != nil {
			return 0, err
		}
		mean, square := cutAt(cap, law)
		half := b.half(math.Sqrt(square/persons)/2, m.SD().Sum/persons)
		best = min(best, math.Hypot(half, b.unseen()/persons)+max(1-mean, 0)/2)
	}
	return best, nil
}

// refuting and unseenMost say when a mean weight refutes the probabilities that weights
// are made of. With right ones it is 1 at most, whatever is cut or missing. It lies
// more than refuting of its standard errors above by chance once in 30,000 releases,
// as a normal number does; outcomes of weight 0 that the data happen not to show, which
// lower neither mean nor standard error, are fewer than unseenMost persons in all but
// one of 20,000 logs.
const (
	refuting   = 4
	unseenMost = 10
)

// Refuted tells whether a mean weight is above what chance and noise make of 1.
func Refuted(mean, sd, persons float64) bool {
	return mean > 1 && mean-unseenMost*mean/persons > 1+refuting*sd
}

// Doubt is an estimate whose probabilities are refuted, by it or by another estimate
// of the same release: its interval is all of the public range.
func (b Bounds) Doubt(e *Estimate) *Estimate {
	out := *e
	if e.Missing != nil {
		missing := *e.Missing
		missing.Unguarded, out.Missing = false, &missing
	}
	whole := [2]float64{b.at(0), b.at(1)}
	half := b.half(e.StdSampling, e.StdPrivacy)
	out.Clipping = [2]float64{max(e.Value-half-whole[0], 0), max(whole[1]-e.Value-half, 0)}
	out.Interval = whole
	return &out
}
