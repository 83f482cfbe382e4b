package account

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// The privacy profile of the Gaussian mechanism (Balle and Wang 2018, Theorem 8)
// is
//
//	delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu).
//
// With x = eps/mu - mu/2 the two densities satisfy e^eps phi(x+mu) = phi(x), so
// delta = phi(x) (M(x) - M(x+mu)) with the Mills ratio M: nothing overflows and
// nothing cancels. For x below 0 the complement 1 - delta =
// phi(x) (M(-x) + M(x+mu)) is a sum of positive terms.

// profileError bounds the relative error of delta (or of its complement) as
// computed here: 48 ulp for the difference of Mills ratios, the rest for the
// density and the products (docs/proofs/accounting.md).
const profileError = 0x1p-46

// GaussianDelta brackets the smallest delta at which a Gaussian mechanism whose
// sensitivity is mu standard deviations is (epsilon, delta)-private. For mu from
// 2^-900 to 2^40 the ends lie within 2^-45 relative of each other where they are
// not denormal. It panics unless mu >= 0 and epsilon >= 0.
func GaussianDelta(mu, epsilon float64) Bracket {
	if !(mu >= 0 && epsilon >= 0) || math.IsInf(epsilon, 1) {
		panic(fmt.Sprintf("account: GaussianDelta(%v, %v): want mu >= 0 and a finite epsilon >= 0", mu, epsilon))
	}
	if mu == 0 {
		return Bracket{}
	}
	if math.IsInf(mu, 1) {
		return Bracket{1, 1}
	}
	return gaussianDelta(mu, epsilon)
}

// gaussianDelta is GaussianDelta for a finite mu > 0. It answers by cruder bounds
// where the arithmetic of profileAt would underflow or lose the exponent.
func gaussianDelta(mu, epsilon float64) Bracket {
	p := profileAt(mu, epsilon)
	far := farTail + mu*0x1p-100 // x is the difference of numbers near mu/2
	switch {
	case p.x > far:
		// delta <= 1 - Phi(x), and that is below every float64.
		return Bracket{0, math.SmallestNonzeroFloat64}
	case p.x < -far:
		// 1 - delta <= phi(x) (M(-x) + M(0)) is below 1e-340.
		return Bracket{xmath.Down(1, 1), 1}
	case mu > largestMu:
		return Bracket{0, 1}
	case mu < smallestMu && epsilon > 0:
		// delta <= the total variation, which is below mu/sqrt(2 pi).
		return Bracket{0, xmath.MulUp(mu, 0.4)}
	}
	return p.delta()
}

// GaussianEpsilon brackets the smallest epsilon at which a Gaussian mechanism
// whose sensitivity is mu standard deviations is (epsilon, delta)-private. It is
// 0 where delta is at least the total variation, erf(mu/sqrt 8). A delta of 0
// is refused: Gaussian noise is never purely private.
func GaussianEpsilon(mu, delta float64) (Bracket, error) {
	if !(mu >= 0) || math.IsInf(mu, 1) {
		return Bracket{}, fmt.Errorf("%w: mu is %v; want a finite number, 0 or above", dp.ErrEvent, mu)
	}
	if err := checkDelta(delta); err != nil {
		return Bracket{}, err
	}
	if mu == 0 {
		return Bracket{}, nil
	}
	if delta == 0 {
		return Bracket{}, fmt.Errorf("%w: delta is 0; Gaussian noise needs delta above 0", dp.ErrBudget)
	}
	if mu > largestMu || mu < smallestMu {
		return crudeEpsilon(mu, delta)
	}
	target := math.Log(delta)
	// 1-Phi(x) <= e^(-x^2/2), so at this epsilon delta is met for certain.
	high := mu*mu/2 + mu*math.Sqrt(-2*target)
	root := newton(0, xmath.Up(high, 4), func(epsilon float64) (value, slope float64) {
		p := profileAt(mu, epsilon)
		return p.logDelta() - target, -p.slopeEpsilon()
	})
	upper, err := outward(root, 1, func(epsilon float64) bool {
		return profileAt(mu, epsilon).atMost(delta)
	})
	if err != nil {
		return Bracket{}, err
	}
	lower, err := outward(root, -1, func(epsilon float64) bool {
		return profileAt(mu, epsilon).atLeast(delta)
	})
	return Bracket{lower, upper}, err
}

// crudeEpsilon is GaussianEpsilon where mu is so large or so small that the
// arithmetic of profileAt is not to be relied on. Delta is met at x = 40 for
// certain, and at x = -40 for certain not: see gaussianDelta.
func crudeEpsilon(mu, delta float64) (Bracket, error) {
	if mu < smallestMu && delta >= mu {
		return Bracket{}, nil // delta covers the total variation
	}
	b := Bracket{
		max(xmath.MulDown(mu, xmath.AddDown(mu/2, -farTail)), 0),
		xmath.MulUp(mu, xmath.AddUp(mu/2, farTail)),
	}
	if math.IsInf(b.Upper, 1) {
		return Bracket{}, fmt.Errorf("%w: at mu %v epsilon exceeds every float64; the events need more noise", ErrUncertified, mu)
	}
	return b, nil
}

// GaussianMu brackets the largest mu, the ratio of sensitivity to standard
// deviation, at which a Gaussian mechanism meets the budget. Noise that must
// meet it uses the Lower end: a standard deviation of sensitivity / Lower.
func GaussianMu(b dp.Budget) (Bracket, error) {
	if err := b.Validate(); err != nil {
		return Bracket{}, err
	}
	if b.Delta == 0 {
		return Bracket{}, fmt.Errorf("%w: delta is 0; Gaussian noise needs delta above 0", dp.ErrBudget)
	}
	target := math.Log(b.Delta)
	tail := math.Sqrt(-2 * target)
	low := math.Log(2*b.Epsilon/(tail+math.Sqrt(tail*tail+2*b.Epsilon))) - 1e-9
	high := low + 1
	for profileAt(math.Exp(high), b.Epsilon).delta().Lower < b.Delta {
		if high += 1; high > low+100 {
			return Bracket{}, fmt.Errorf("%w: no mu is certain to exceed delta %v", ErrUncertified, b.Delta)
		}
	}
	root := math.Exp(newton(low, high, func(logMu float64) (value, slope float64) {
		p := profileAt(math.Exp(logMu), b.Epsilon)
		return target - p.logDelta(), -p.slopeLogMu()
	}))
	lower, err := outward(root, -1, func(mu float64) bool {
		return profileAt(mu, b.Epsilon).atMost(b.Delta)
	})
	if err != nil {
		return Bracket{}, err
	}
	upper, err := outward(root, 1, func(mu float64) bool {
		return profileAt(mu, b.Epsilon).atLeast(b.Delta)
	})
	if err != nil {
		return Bracket{}, err
	}
	if !(lower >= smallestMu && lower <= upper && upper <= largestMu) {
		return Bracket{}, fmt.Errorf("%w: no mu is certain to meet epsilon %v, delta %v within float64 arithmetic", ErrUncertified, b.Epsilon, b.Delta)
	}
	return Bracket{lower, upper}, nil
}

func checkDelta(delta float64) error {
	if !(delta >= 0 && delta < 1) {
		return fmt.Errorf("%w: delta is %v; want 0 <= delta < 1", dp.ErrBudget, delta)
	}
	if delta > 0 && delta < xmath.SmallestNormal {
		return fmt.Errorf("%w: delta is %v; want 0, or %v at least", dp.ErrBudget, delta, xmath.SmallestNormal)
	}
	return nil
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return fmt.Errorf("%w: epsilon is %v; want a finite number, 0 or above", dp.ErrBudget, epsilon)
	}
	return nil
}

// profile is one point of the Gaussian privacy profile.
type profile struct {
	mu         float64
	x          float64 // eps/mu - mu/2, the distance at which the densities' ratio is e^eps
	h, l       float64 // x^2/2 as a sum, with the rounding of x made good
	factor     float64 // delta / phi(x), or (1-delta)/phi(x)
	complement bool
}

func profileAt(mu, epsilon float64) profile {
	// x in double the working precision: its square is the exponent of delta.
	q := epsilon / mu
	x, e := xmath.TwoSum(q, -mu/2)
	if r := math.FMA(-q, mu, epsilon) / mu; !math.IsNaN(r) {
		e += r
	}
	x, e = xmath.TwoSum(x, e)
	square := x * x
	p := profile{mu: mu, x: x, h: square / 2, l: math.FMA(x, x, -square)/2 + x*e}
	if x < 0 && mu >= 1 {
		p.complement = true
		p.factor = xmath.Mills(-x) + xmath.Mills(x+mu)
	} else {
		p.factor = xmath.MillsDifference(x, mu)
	}
	return p
}

// delta brackets the profile's value.
func (p profile) delta() Bracket {
	lower, upper := p.scaled(p.factor)
	if p.complement {
		lower, upper = xmath.Down(1-upper, 1), xmath.Up(1-lower, 1)
	}
	return Bracket{max(lower, 0), min(upper, 1)}
}

// atMost reports that the profile's value is certain not to exceed delta.
func (p profile) atMost(delta float64) bool {
	if p.h < plainLimit {
		return p.delta().Upper <= delta
	}
	return p.logDelta()+p.logError() <= math.Log(delta)
}

// atLeast reports that the profile's value is certain not to fall below delta.
func (p profile) atLeast(delta float64) bool {
	if p.h < plainLimit {
		return p.delta().Lower >= delta
	}
	return p.logDelta()-p.logError() >= math.Log(delta)
}

// logError bounds the error of logDelta and of a logarithm it is compared with.
func (p profile) logError() float64 {
	return profileError + (p.h+math.Abs(math.Log(p.factor)))*0x1p-51
}

// scaled brackets phi(x) factor.
func (p profile) scaled(factor float64) (lower, upper float64) {
	if p.h < plainLimit {
		return xmath.Widen(math.Exp(-p.h)*(1-p.l)*factor*invSqrt2Pi, profileError)
	}
	// The exponential may be denormal: all is done on the logarithm.
	log := p.logScaled(factor)
	lower, _ = xmath.Widen(math.Exp(log-p.logError()), profileError)
	_, upper = xmath.Widen(math.Exp(log+p.logError()), profileError)
	return max(lower, 0), upper
}

func (p profile) logScaled(factor float64) float64 {
	return -p.h - (p.l + halfLog2Pi) + math.Log(factor)
}

func (p profile) logDelta() float64 {
	if p.complement {
		return math.Log1p(-math.Exp(p.logScaled(p.factor)))
	}
	return p.logScaled(p.factor)
}

// slopeEpsilon is the derivative of -ln delta in epsilon, positive.
func (p profile) slopeEpsilon() float64 {
	if p.complement {
		return math.Exp(p.logScaled(xmath.Mills(p.x+p.mu)) - p.logDelta())
	}
	return xmath.Mills(p.x+p.mu) / p.factor
}

// slopeLogMu is the derivative of ln delta in ln mu: d delta/d mu is phi(x).
func (p profile) slopeLogMu() float64 {
	if p.complement {
		return p.mu * math.Exp(p.logScaled(1)-p.logDelta())
	}
	return p.mu / p.factor
}

const (
	// largestMu and smallestMu are where profileAt has x to the accuracy that
	// profileError supposes, 2^-53 for |x| <= farTail: beyond the first x is the
	// difference of numbers above 2^39, known to 2^-106 relative; below the other
	// the remainder of the quotient underflows.
	largestMu  = 0x1p40
	smallestMu = 0x1p-900
	// farTail is a distance beyond which the normal tail is below every float64.
	farTail    = 40
	plainLimit = 650 // beyond it e^-h nears the denormal range
	invSqrt2Pi = 0.39894228040143267794
	halfLog2Pi = 0.91893853320467274178
)
