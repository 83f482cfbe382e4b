package scalar

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Span is what the shares 0 and 1 of an outcome stand for, in shares of its public range: it
// holds that range.
type Span struct{ Min, Max float64 }

// Full is the range itself, whose middle is the anchor.
var Full = Span{0, 1}

// Width is Max - Min.
func (s Span) Width() float64 { return s.Max - s.Min }

// of is a share of the range as a share of the span.
func (s Span) of(share float64) float64 { return (share - s.Min) / s.Width() }

// anchorSteps is how finely an anchor is told.
const anchorSteps = 256

// RunFrom is Run for a difference whose weights cancel on average, so that outcomes may be
// measured from anywhere: from where they are worth on average the sampling error of the weights
// is least. level is what everybody adds to the mean of both policies, from which the
// anchor is paid for, and from says what everybody adds where outcomes are shares of a span.
func (b Bounds) RunFrom(level [2]Numbers, from func(Span) (x, z Numbers), src *noise.Source) (*Estimate, error) {
	if b.Noise.Anchor == 0 {
		x, z := from(Full)
		return b.Run(x, z, src)
	}
	noisy, err := b.roundOf(b.Noise.Anchor, level[0], level[1], src)
	if err != nil {
		return nil, err
	}
	square, err := b.spread(from, src)
	if err != nil {
		return nil, err
	}
	anchor := 0.5
	if both := noisy.X + noisy.Z; both > 4*noisy.SD.Both {
		anchor = math.Round(anchorSteps*min(max(noisy.X/both, 0), 1)) / anchorSteps
	}
	if narrower, err := b.gains(anchor, square); err != nil {
		return nil, err
	} else if !narrower {
		anchor = 0.5
	}
	span := spanOf(anchor)
	x, z := from(span)
	e, err := b.within(span).Run(x, z, src)
	if err != nil {
		return nil, err
	}
	e.Anchor = &anchor
	return e, nil
}

// spanOf is the span around an anchor that holds the range.
func spanOf(anchor float64) Span {
	far := max(anchor, 1-anchor)
	return Span{anchor - far, anchor + far}
}

// spread is the mean square of a difference at the middle, where it is not paid for what its design makes expect.
func (b Bounds) spread(from func(Span) (x, z Numbers), src *noise.Source) (float64, error) {
	if b.Noise.Spread == 0 {
		return b.Uncut.Scatter * b.Uncut.Square, nil
	}
	x, z := from(Full)
	noisy, err := b.roundOf(b.Noise.Spread, x, z, src)
	square := (noisy.XX - 2*noisy.XZ + noisy.ZZ) / float64(b.Public.Persons)
	return min(max(square, 0), b.Uncut.Square), err
}

// roundOf pays for sums with a small part of the budget.
func (b Bounds) roundOf(multiplier float64, x, z Numbers, src *noise.Source) (mechanism.NoisyPair, error) {
	return added(func() (*mechanism.Pair, error) { return b.round(multiplier) }, x, z, src)
}

func (b Bounds) round(multiplier float64) (*mechanism.Pair, error) {
	if b.Laplace {
		return mechanism.NewLaplacePair(b.Caps.At(0).Max, multiplier, b.Public.Adjacency, true)
	}
	return mechanism.NewPair(b.Caps.At(0).Max, multiplier, b.Public.Adjacency, b.Public.Noise)
}

// AnchorNoise is the standard deviation of the noise in an anchor, as a share of the range, at a multiplier.
func (b Bounds) AnchorNoise(multiplier float64) (float64, error) {
	m, err := b.round(multiplier)
	if err != nil {
		return 0, err
	}
	return m.SD().Sum / float64(b.Public.Persons), nil
}

// gains tells whether the interval is expected to be narrower at the anchor than at the middle:
// there is up to twice the noise, and where outcomes are nearly all at one end of the range next
// to nothing of the sampling error.
func (b Bounds) gains(anchor, square float64) (bool, error) {
	m, err := b.pair(b.Caps.At(0).Max)
	if err != nil {
		return false, err
	}
	persons := float64(b.Public.Persons)
	half := func(anchor, share float64) float64 {
		width := spanOf(anchor).Width()
		noise, sampling := width*m.SD().Difference/2/persons, math.Sqrt(square*share/persons)
		return math.Hypot(b.half(sampling, noise), width*b.unseen()*b.Caps.At(0).Max/2/persons)
	}
	return half(anchor, anchor*(1-anchor)) < half(0.5, 0.25), nil
}

// ForeseeAt is [Bounds.Foresee] of a difference that pays for an anchor, for outcomes that are worth such a share of their
// range on average and lie at its ends: measured from there or, where that is expected to be narrower, from the middle.
func (b Bounds) ForeseeAt(share float64, law []Atom, scatter float64) (half float64, err error) {
	half, err = b.Foresee(law, scatter)
	if err != nil {
		return 0, err
	}
	span := spanOf(share)
	near, err := b.within(span).Foresee(law, scatter*4*share*(1-share)/(span.Width()*span.Width()))
	return min(half, near), err
}

// within are the bounds of a difference of outcomes that are shares of a span.
func (b Bounds) within(s Span) Bounds {
	b.Range.Min *= s.Width()
	b.Range.Max *= s.Width()
	return b
}

// anchored are the bounds by which an estimate was made.
func (b Bounds) anchored(e *Estimate) (Bounds, error) {
	if b.Noise.Anchor == 0 {
		return b, nil
	}
	if a := *e.Anchor; !(a >= 0 && a <= 1) || a*anchorSteps != math.Trunc(a*anchorSteps) {
		return b, fmt.Errorf("diagnostics.anchor is %v; want a multiple of 1/%d from 0 to 1", a, anchorSteps)
	}
	return b.within(spanOf(*e.Anchor)), nil
}

// Measured writes x and z again with outcomes as shares of a span.
func (s Span) Measured(x, z Numbers) (mx, mz Numbers) {
	mx, mz = x.zeros(), z.zeros()
	for i, part := range x {
		for j, v := range part {
			w := v + z[i][j]
			mx[i][j] = max((v-s.Min*w)/s.Width(), 0)
			mz[i][j] = max(w-mx[i][j], 0)
		}
	}
	return mx, mz
}
