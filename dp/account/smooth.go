package account

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// The smooth-sensitivity Gaussian mechanism releases f(X) + N(0, sigma_X^2 I) in
// d dimensions, where neighbours X, X' satisfy
//
//	min(sigma_X, sigma_X') >= alpha ||f(X) - f(X')||_2,
//	|ln sigma_X^2 - ln sigma_X'^2| <= beta.
//
// Beta bounds the ratio of the variances, as in Balle et al. 2016, Lemma 1: a
// bound on the local sensitivity that is beta/2-smooth in the sense of Nissim,
// Raskhodnikova and Smith 2007. The adjacency enters through X and X' alone.

const (
	smoothMaxEpsilon   = 500
	smoothMaxDimension = 1 << 20
	smoothMinDelta     = 1e-250
	smoothMaxAlpha     = 1e9 // and of 1/alpha
	// balle16MaxEpsilon is how far the constants of Balle et al. 2016 are used.
	balle16MaxEpsilon = 20
)

// smoothGaussianDelta brackets the smallest delta at which the mechanism is
// (epsilon, delta)-private: the largest hockey-stick divergence over every pair
// of Gaussians that alpha and beta allow, in both orders. Upper is proven, with
// the discretisation and the rounding inside; it is usually within a relative
// 1e-5 of Lower where they exceed 1e-280. alpha > 0, beta >= 0, d >= 1,
// 0 <= epsilon <= 500. See docs/proofs/smooth-sensitivity.md.
func smoothGaussianDelta(ctx context.Context, alpha, beta float64, d int, epsilon float64) (Bracket, error) {
	if err := checkSmooth(alpha, beta, d, epsilon); err != nil {
		return Bracket{}, err
	}
	w := smoothSweep{integral: smoothIntegral{ctx: ctx}, mu: 1 / alpha, beta: beta, epsilon: epsilon, d: d, rtol: 5e-6}
	b := w.largest(0)
	return b, ctx.Err()
}

// smoothGaussianEpsilon brackets the smallest epsilon at which the mechanism is
// (epsilon, delta)-private, at most 500. It is 0 where delta covers the largest
// total variation. Otherwise the ends are usually within a relative 1e-4.
func smoothGaussianEpsilon(ctx context.Context, alpha, beta float64, d int, delta float64) (Bracket, error) {
	if err := checkSmooth(alpha, beta, d, 0); err != nil {
		return Bracket{}, err
	}
	if err := checkSmoothDelta(delta); err != nil {
		return Bracket{}, err
	}
	w := smoothSweep{integral: smoothIntegral{ctx: ctx}, mu: 1 / alpha, beta: beta, d: d, rtol: smoothSearchTolerance}
	if w.atMost(delta) {
		return Bracket{}, ctx.Err()
	}
	s := smoothSearch{&w, delta, "epsilon", func(x float64) { w.epsilon = x }}
	return s.bracket(1, 1e-12, smoothMaxEpsilon)
}

// Balle16Constants returns the alpha and beta of Balle et al. 2016, Lemma 1,
//
//	alpha = 5 sqrt(2 ln(2/delta)) / epsilon,  beta = epsilon / (4 (d + ln(2/delta))).
//
// They need several times more noise than [SmoothGaussianAlpha] at the same beta. The paper prints
// no proof for them (its appendix has other constants, for epsilon <= 5) and they fail for some
// budgets of epsilon 60, so each call certifies what it returns, as [smoothGaussianDelta] would.
// Epsilon above 20 is refused with [ErrUncertified].
func Balle16Constants(ctx context.Context, b dp.Budget, d int) (alpha, beta float64, err error) {
	if err := b.Validate(); err != nil {
		return 0, 0, err
	}
	if err := checkSmoothDelta(b.Delta); err != nil {
		return 0, 0, err
	}
	if d < 1 {
		return 0, 0, fmt.Errorf("%w: smooth_gaussian: dimension is %d; want at least 1", dp.ErrEvent, d)
	}
	if b.Epsilon > balle16MaxEpsilon {
		return 0, 0, fmt.Errorf("%w: the constants of Balle et al. 2016 are not known to hold at epsilon %v; keep epsilon at or below %d, or use the calibrated alpha",
			ErrUncertified, b.Epsilon, balle16MaxEpsilon)
	}
	log := math.Ln2 - math.Log(b.Delta) // ln(2/delta), also where 2/delta overflows
	alpha, beta = 5*math.Sqrt(2*log)/b.Epsilon, b.Epsilon/(4*(float64(d)+log))
	if err := checkSmooth(alpha, beta, d, b.Epsilon); err != nil {
		return 0, 0, err
	}
	w := smoothSweep{integral: smoothIntegral{ctx: ctx}, mu: 1 / alpha, beta: beta, epsilon: b.Epsilon, d: d, rtol: 1e-2}
	certain := w.atMost(b.Delta)
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	if !certain {
		return 0, 0, fmt.Errorf("%w: the constants of Balle et al. 2016 are not certain to meet epsilon %v, delta %v at dimension %d; use the calibrated alpha",
			ErrUncertified, b.Epsilon, b.Delta, d)
	}
	return alpha, beta, nil
}

func checkSmooth(alpha, beta float64, d int, epsilon float64) error {
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return fmt.Errorf("%w: smooth_gaussian: alpha is %v; want a finite number above 0", dp.ErrEvent, alpha)
	}
	if alpha > smoothMaxAlpha || alpha < 1/smoothMaxAlpha {
		return fmt.Errorf("%w: smooth_gaussian: alpha is %v; want %v to %v", ErrUncertified, alpha, 1/smoothMaxAlpha, smoothMaxAlpha)
	}
	return checkSmoothShape(beta, d, epsilon)
}

// checkSmoothShape checks what does not depend on alpha.
func checkSmoothShape(beta float64, d int, epsilon float64) error {
	if !(beta >= 0) || math.IsInf(beta, 1) {
		return fmt.Errorf("%w: smooth_gaussian: beta is %v; want a finite number, 0 or above", dp.ErrEvent, beta)
	}
	if d < 1 {
		return fmt.Errorf("%w: smooth_gaussian: dimension is %d; want at least 1", dp.ErrEvent, d)
	}
	if err := checkEpsilon(epsilon); err != nil {
		return err
	}
	if epsilon > smoothMaxEpsilon {
		return fmt.Errorf("%w: smooth_gaussian: epsilon is %v; want at most %d", ErrUncertified, epsilon, smoothMaxEpsilon)
	}
	if d > smoothMaxDimension {
		return fmt.Errorf("%w: smooth_gaussian: dimension is %d; want at most %d", ErrUncertified, d, smoothMaxDimension)
	}
	if !smoothInRange(beta, d) {
		return fmt.Errorf("%w: smooth_gaussian: beta %v is too large at dimension %d for the tails of the chi-squared law; lower beta", ErrUncertified, beta, d)
	}
	return nil
}

func checkSmoothDelta(delta float64) error {
	if err := checkDelta(delta); err != nil {
		return err
	}
	if delta == 0 {
		return fmt.Errorf("%w: delta is 0; Gaussian noise needs delta above 0", dp.ErrBudget)
	}
	if delta < smoothMinDelta {
		return fmt.Errorf("%w: smooth_gaussian: delta is %v; want at least %v", ErrUncertified, delta, smoothMinDelta)
	}
	return nil
}
