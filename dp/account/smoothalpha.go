package account

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// SmoothGaussianAlpha brackets the smallest alpha at which the mechanism meets
// the budget at this beta. Noise of standard deviation Upper times the smooth
// bound on the local sensitivity is safe, and so is any larger alpha; Upper
// exceeds the exact value by about 1e-4 relative. beta >= 0, d >= 1.
//
// A beta so large that the variances alone distinguish the neighbours is refused with
// [ErrUncertified]: no alpha helps. [smoothGaussianBeta] is the limit.
func SmoothGaussianAlpha(ctx context.Context, b dp.Budget, beta float64, d int) (Bracket, error) {
	w, err := newAlphaSweep(ctx, b, beta, d)
	if err != nil {
		return Bracket{}, err
	}
	return w.alphaSearch(b.Delta).bracket(smoothStart(b), 1/smoothMaxAlpha, smoothMaxAlpha)
}

// smoothGaussianBeta brackets the largest beta that leaves room for the budget
// in d dimensions: below Lower some finite alpha meets it, from Upper on none
// does. Near the limit the alpha is huge; useful betas are well below.
func smoothGaussianBeta(ctx context.Context, b dp.Budget, d int) (Bracket, error) {
	if err := b.Validate(); err != nil {
		return Bracket{}, err
	}
	if err := checkSmoothDelta(b.Delta); err != nil {
		return Bracket{}, err
	}
	if err := checkSmoothShape(0, d, b.Epsilon); err != nil {
		return Bracket{}, err
	}
	lower, upper := 0.0, 1e-9
	for {
		if err := ctx.Err(); err != nil {
			return Bracket{}, err
		}
		if !smoothInRange(upper, d) {
			return Bracket{}, fmt.Errorf("%w: smooth_gaussian: no beta is certain to exceed epsilon %v, delta %v", ErrUncertified, b.Epsilon, b.Delta)
		}
		if equalMeans(upper, b.Epsilon, d).Lower >= b.Delta {
			break
		}
		if equalMeans(upper, b.Epsilon, d).Upper < b.Delta {
			lower = upper
		}
		upper *= 2
	}
	for range 60 {
		if err := ctx.Err(); err != nil {
			return Bracket{}, err
		}
		mid := lower + (upper-lower)/2
		switch at := equalMeans(mid, b.Epsilon, d); {
		case at.Upper < b.Delta:
			lower = mid
		case at.Lower >= b.Delta:
			upper = mid
		default: // as close as rounding lets us see
			return Bracket{lower, upper}, nil
		}
	}
	return Bracket{lower, upper}, nil
}

// SmoothGaussianPair returns the beta, and the safe alpha at it, for which cost
// is smallest. The cost must be a function of public facts only, such as the
// expected noise on a public guess of the data; it is evaluated on a grid of 24
// betas that spans three decades below the limit. NaN counts as +Inf.
func SmoothGaussianPair(ctx context.Context, b dp.Budget, d int, cost func(alpha, beta float64) float64) (alpha, beta float64, err error) {
	limit, err := smoothGaussianBeta(ctx, b, d)
	if err != nil {
		return 0, 0, err
	}
	const points, decades = 24, 3
	best := math.Inf(1)
	for i := range points {
		x := 0.95 * limit.Lower * math.Pow(10, -decades*float64(i)/(points-1))
		w, err := newAlphaSweep(ctx, b, x, d)
		if err != nil {
			return 0, 0, err
		}
		a, _, err := w.alphaSearch(b.Delta).root(smoothStart(b), 1/smoothMaxAlpha, smoothMaxAlpha)
		if err != nil {
			return 0, 0, err
		}
		if c := cost(a, x); c < best {
			best, beta = c, x
		}
	}
	if math.IsInf(best, 1) {
		return 0, 0, fmt.Errorf("%w: smooth_gaussian: the cost is infinite at every beta below %v", ErrUncertified, limit.Lower)
	}
	// The grid was ranked by uncertified values; what is returned is certified.
	certified, err := SmoothGaussianAlpha(ctx, b, beta, d)
	return certified.Upper, beta, err
}

func newAlphaSweep(ctx context.Context, b dp.Budget, beta float64, d int) (*smoothSweep, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if err := checkSmoothDelta(b.Delta); err != nil {
		return nil, err
	}
	if err := checkSmoothShape(beta, d, b.Epsilon); err != nil {
		return nil, err
	}
	if least := equalMeans(beta, b.Epsilon, d); !(least.Upper < b.Delta) {
		return nil, fmt.Errorf("%w: smooth_gaussian: at dimension %d, beta %v alone costs delta %.3g at epsilon %v, and the budget is %v; no alpha meets it, lower beta",
			ErrUncertified, d, beta, least.Upper, b.Epsilon, b.Delta)
	}
	return &smoothSweep{integral: smoothIntegral{ctx: ctx}, beta: beta, epsilon: b.Epsilon, d: d, rtol: smoothSearchTolerance}, nil
}

func (w *smoothSweep) alphaSearch(delta float64) smoothSearch {
	return smoothSearch{w, delta, "alpha", func(x float64) { w.mu = 1 / x }}
}

// smoothStart is where the search for alpha begins: the textbook constant of the
// Gaussian mechanism, or what large budgets come near to.
func smoothStart(b dp.Budget) float64 {
	return math.Sqrt(2*math.Log(1.25/b.Delta))/b.Epsilon + 1/math.Sqrt(2*b.Epsilon)
}

// equalMeans brackets the divergence that beta costs where the means coincide,
// the larger of both orders. Adding noise to both laws brings their variances
// together, so it grows with beta.
func equalMeans(beta, epsilon float64, d int) Bracket {
	var worst Bracket
	for _, r := range [2]float64{beta, -beta} {
		k := newSmoothKernel(d, r)
		hockey, tail := k.at(-float64(d)*r/2 - epsilon)
		slack := 32*smoothUlp*(64+epsilon+float64(d)*(2+math.Abs(r)))*tail + smoothFloor
		worst.Lower = max(worst.Lower, hockey-slack)
		worst.Upper = max(worst.Upper, hockey+slack)
	}
	return worst
}

// smoothInRange reports that the chi-squared terms do not underflow where the
// kernel leaves its direct formulas, up to |r| = beta.
func smoothInRange(beta float64, d int) bool {
	for _, r := range [2]float64{beta, -beta} {
		for _, k := range [2]int{d - 1, d} {
			if s := newSmoothKernel(k, r); r != 0 && k > 0 && !(s.prefix(s.cut) > 1e-200) {
				return false
			}
		}
	}
	return true
}
