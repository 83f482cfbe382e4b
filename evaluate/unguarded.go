package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// byNoise fixes the noise of a single value: that of a plan with Gaussian noise or, where no guard is needed and that is asked
// for or expected to be narrower, Laplace noise in one pair that all is paid for.
func (m DPIS) byNoise(method string, p Public, of vouched, b scalar.Bounds, gaussian func() (scalar.Bounds, tier, error)) (planned scalar.Bounds, t tier, err error) {
	why, asked := m.needsGuard(p, of), p.Privacy.byLaplace()
	if why == "" {
		why = lost(p)
	}
	if !asked {
		if planned, t, err = gaussian(); err != nil || why != "" {
			return planned, t, err
		}
	} else if why != "" {
		fault := ErrMethod
		if p.Privacy.NoiseFamily == "" {
			fault = dp.ErrBudget
		}
		return b, t, fmt.Errorf("%w: %s: delta is 0, or the noise Laplace, which off-policy serves intervals without a guard alone, and this one has a guard: %s. Set delta above 0 and noise_family to gaussian", fault, method, why)
	}
	pure := b
	pure.Laplace, pure.Noise = true, scalar.Stages{Main: p.laplaceScale()}
	pure.Uncut, pure.Caps = of.weights.uncut(), scalar.ClipRanges{Above: of.weights.largest}
	pure.TwoValued = !p.Design.Varies && (p.Episodes == 1 || p.Horizon <= 1) && of.weights.square >= of.weights.largest*(1-1e-9)
	laplace, err := m.laplace(method, p, m.stages(0), func() (bool, error) { return m.narrower(method, pure, planned, p, of.weights) })
	if err != nil || !laplace {
		return planned, t, err
	}
	half, err := pure.Foresee(of.weights.law, of.weights.scatter)
	return pure, tier{half: half, why: fmt.Sprintf("%s. The expected half width is %.3g", needless(of), half)}, err
}

// narrower tells that one plan is expected to be narrower than another and, where the law of weights is a guess, that it would be hardly
// wider than without a design if all were 1.
func (m DPIS) narrower(method string, one, other scalar.Bounds, p Public, w weightBound) (bool, error) {
	mine, err := one.Foresee(w.law, w.scatter)
	if err != nil {
		return false, err
	}
	theirs, err := other.Foresee(w.law, w.scatter)
	if err != nil || !(mine < theirs) || !p.Design.Varies {
		return mine < theirs, err
	}
	plain, share := other, 0.0
	plain.Uncut = nil
	if plain.Caps, share, err = m.caps(method, p, math.Inf(1)); err != nil {
		return false, err
	}
	if plain.Noise, err = splitStages(method, *p.Privacy, m.stages(share)); err != nil {
		return false, err
	}
	if mine, err = one.Foresee(allOne(), w.scatter); err != nil {
		return false, err
	}
	theirs, err = plain.Foresee(allOne(), w.scatter)
	return mine <= widened*theirs, err
}
