package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// usable is the mean return where episodes may be missing: a person's weight is the share of
// their episodes that can be used.
func (m DPIS) usable(method string, p Public) (draft, error) {
	if m.Clip == clipAuto || m.ClipShare != 0 {
		return draft{}, fmt.Errorf("%w: %s: on-policy a chosen clip narrows the range of returns, and an episode that is missing may be worth anything in it; leave clip and clip_share out, or, without by, set problem.records: complete if no episode was cut off and none has to be left out", ErrMethod, method)
	}
	if p.Privacy.byLaplace() && p.share.some() {
		return draft{}, fmt.Errorf("%w: %s: delta is 0, or the noise Laplace, and groups have Gaussian noise: set delta above 0 and noise_family to gaussian, or leave by out", dp.ErrBudget, method)
	}
	of := wholeReturns(p)
	of.selfNormalised = true
	if d, err := m.usableByLaplace(method, p, of); err != nil || d.event != nil {
		return d, err
	}
	return m.offPolicy(method, p, of, nil)
}

// usableByLaplace is the same with Laplace noise, where that is asked for or expected to be
// narrower; its draft has no event elsewhere.
func (m DPIS) usableByLaplace(method string, p Public, of vouched) (draft, error) {
	b := p.boundsOf(of)
	b.Caps.Above, b.Laplace, b.Noise.Main = 1, true, p.laplaceScale()
	laplace, err := m.laplace(method, p, m.stages(0), func() (bool, error) {
		found, err := multipliers(*p.Privacy, 1)
		if err != nil || p.share.some() || !(of.within.Width() > 0) {
			return false, err
		}
		other := b
		other.Laplace, other.Noise.Main = false, found[0]
		mine, err := b.ExpectedMean()
		if err != nil {
			return false, err
		}
		theirs, err := other.ExpectedMean()
		return theirs > mine, err
	})
	if err != nil || !laplace || !(of.within.Width() > 0) {
		return draft{}, err
	}
	event, err := b.Event()
	if err != nil {
		return draft{}, err
	}
	about, err := p.aboutBounds(b, 1, 0, nil)
	about.byLaplace()
	about.inMiddle(p.Returns().nearEnd(about.expected.HalfWidth, about.expected.StdPrivacy))
	return draft{
		method: method, public: p, event: event, outcome: estimateAgain(b.Again, nil), laplace: true,
		prepare: guarded(scalar.Filled{Bounds: b}, of, nil, p), slim: true,
		summary: about.and(m.shares(1, 0)), lowers: true, needsEnds: of.needsEnds, onMeans: of.stepwise, uncut: true,
	}, err
}
