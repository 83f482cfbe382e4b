package evaluate

import (
	"cmp"
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
	pure := p.unguardedBy(b, of.weights)
	laplace, err := m.laplace(method, p, m.stages(0), func() (bool, error) { return m.narrower(method, p, pure, planned, of.weights) })
	if err != nil || !laplace {
		return planned, t, err
	}
	half, err := pure.Foresee(of.weights.law, of.weights.scatter)
	return pure, tier{half: half, why: fmt.Sprintf("%s. The expected half width is %.3g", needless(of), half)}, err
}

// unguardedBy are bounds without a guard and with Laplace noise.
func (p Public) unguardedBy(b scalar.Bounds, w weightBound) scalar.Bounds {
	b.Laplace, b.Noise = true, scalar.Stages{Main: p.laplaceScale()}
	b.Uncut, b.Caps = w.uncut(), scalar.ClipRanges{Above: w.largest}
	b.TwoValued = !p.Design.Varies && (p.Episodes == 1 || p.Horizon <= 1) && w.square >= w.largest*(1-1e-9)
	return b
}

// narrower tells that one plan is expected to be narrower than another and, where the law of weights is a guess, that it would be hardly
// wider than without a design if all were 1.
func (m DPIS) narrower(method string, p Public, one, other scalar.Bounds, w weightBound) (bool, error) {
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

// answersByNoise plans all answers: with Gaussian noise or, of a contrast that is asked for alone and of values that are one release, without
// a guard, with Laplace noise where that is asked for or expected to be narrower.
func (m DPIS) answersByNoise(method string, p Public, of vouched) (planned quantities, err error) {
	asked, t := p.Privacy.byLaplace(), p.Targets
	alone := len(t.Contrasts) == 1 && len(t.Levels) == 0 && !t.Best && !t.unanchored
	var pure quantities
	why := cmp.Or(m.needsGuard(p, of), lost(p))
	if why == "" {
		if alone {
			pure, err = m.contrastByLaplace(p, of)
		} else {
			pure, err = m.valuesByLaplace(p, of)
		}
	}
	if err != nil {
		return planned, err
	}
	if pure.answers == nil && p.Privacy.Budget.Delta == 0 {
		return planned, fmt.Errorf("%w: %s: delta is 0, which serves one contrast alone, and values of policies that each always take another action, without a guard: %s. Set privacy.delta above 0", dp.ErrBudget, method, cmp.Or(why, "more than that is asked for"))
	}
	if !asked || pure.answers == nil {
		if planned, err = m.answersFor(method, p, of); err != nil || pure.answers == nil {
			return planned, err
		}
	}
	laplace, err := m.laplace(method, p, m.stages(0), func() (bool, error) {
		if alone {
			return m.narrowerContrast(method, p, of, pure, planned)
		}
		mine, err := pure.forecasts(of.weights)
		if err != nil {
			return false, err
		}
		theirs, err := planned.forecasts(of.weights)
		return mine < theirs, err
	})
	if err != nil || !laplace {
		return planned, err
	}
	return pure, nil
}

// forecasts is the sum of the half widths that are expected of all answers.
func (a quantities) forecasts(w weightBound) (sum float64, err error) {
	halves := make([]float64, len(a.answers))
	for i := range a.answers {
		q := &a.answers[i]
		if q.values != nil {
			halves[i] = q.both(halves[q.values[0]], halves[q.values[1]])
		} else {
			of := q.weights(a.public.Targets, w)
			if halves[i], err = q.bounds.Foresee(of.law, of.scatter); err != nil {
				return 0, err
			}
		}
		sum += halves[i]
	}
	return sum, nil
}

// contrastByLaplace plans a contrast with Laplace noise, in the form that is expected to be narrower; it has no
// answers where no form is without a guard.
func (m DPIS) contrastByLaplace(p Public, of vouched) (out quantities, err error) {
	t, best := p.Targets, math.Inf(1)
	p = p.sharing(1, 1)
	for _, f := range []form{{}, {both: []string{t.estimands()[0].name}}} {
		q := t.quantities(p, of, f)[0]
		q.bind(t, of, p.boundsOf(of), of.weights.largest)
		w := q.weights(t, of.weights)
		if w.largest > largestKnown {
			continue
		}
		q.bounds = p.unguardedBy(q.bounds, w)
		// Its mean square is a bound, which two policies of other weights, or the difference of weights, do not reach.
		q.bounds.TwoValued = q.bounds.TwoValued && q.apart == nil && p.Design.Each == nil
		noise, err := q.bounds.AnchorNoise(p.laplaceScale())
		if err != nil {
			return out, err
		}
		q.anchor = min(max(noise/anchorError, 0.01), 0.15)
		q.bounds.Noise = scalar.Stages{Anchor: p.laplaceScale() / q.anchor, Main: p.laplaceScale() / (1 - q.anchor)}
		event, err := q.bounds.Event()
		if err != nil {
			return out, err
		}
		half, err := q.bounds.Foresee(w.law, w.scatter)
		if err != nil {
			return out, err
		}
		if half < best {
			best = half
			out = quantities{public: p, answers: []quantity{q}, event: event, cap: of.weights.largest,
				guard: tier{why: fmt.Sprintf("%s. The expected half width is %.3g", needless(of), half)}}
		}
	}
	return out, nil
}

// anchorError is the standard deviation of the noise in an anchor, as a share of the range, that its part of epsilon is to buy: from there
// outcomes scatter little more than from their mean.
const anchorError = 0.05

// narrowerContrast tells that a contrast is expected to be narrower by Laplace noise, of outcomes in the middle of their range and near
// an end, and where the law of weights is a guess hardly wider than without a design if all were 1.
func (m DPIS) narrowerContrast(method string, p Public, of vouched, pure, other quantities) (bool, error) {
	halves := func(a quantities, law []scalar.Atom) (middle, near float64, err error) {
		q := a.answers[0]
		w := q.weights(p.Targets, of.weights)
		if law == nil {
			law = w.law
		}
		if middle, err = q.bounds.Foresee(law, w.scatter); err != nil || q.anchor == 0 {
			return middle, middle, err
		}
		near, err = q.bounds.ForeseeAt(nearShare, law, w.scatter)
		return middle, near, err
	}
	mine, near, err := halves(pure, nil)
	if err != nil {
		return false, err
	}
	theirs, their, err := halves(other, nil)
	if err != nil || !(mine < theirs && near < their) || !p.Design.Varies {
		return mine < theirs && near < their, err
	}
	recorded := of
	recorded.weights = weightBound{largest: math.Inf(1), square: math.Inf(1)}
	plain, err := m.answersFor(method, p.undesigned(), recorded)
	if err != nil {
		return false, err
	}
	if mine, _, err = halves(pure, allOne()); err != nil {
		return false, err
	}
	theirs, _, err = halves(plain, allOne())
	return mine <= widened*theirs, err
}
