package account_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// TestDeltasWithoutDigitsAreRefused: epsilon at the smallest delta that is taken is such
// that delta(epsilon), by a series that is an upper and a lower bound in turn, is no larger
// than it; below, where answers were off by up to twelve orders of magnitude, there is an error.
func TestDeltasWithoutDigitsAreRefused(t *testing.T) {
	const sigma = 4.0
	mu := 2 / sigma
	for _, delta := range []float64{2.3e-308, 1e-307, 1e-300} {
		eps := epsilonOf(t, sigma, delta)
		if above := gaussianDeltaAbove(mu, eps); above.Cmp(big.NewFloat(delta*(1+1e-9))) > 0 {
			t.Errorf("at delta %v epsilon %v has delta up to %v", delta, eps, above)
		}
	}
	for _, delta := range []float64{math.Nextafter(xmath.SmallestNormal, 0), 1e-308, 1e-320, 5e-324} {
		a := account.New(dp.ReplaceOne)
		if err := a.Compose(context.Background(), dp.Gaussian{NoiseMultiplier: sigma}, 1); err != nil {
			t.Fatal(err)
		}
		if b, err := a.Epsilon(context.Background(), delta); !errors.Is(err, dp.ErrBudget) {
			t.Errorf("delta %v: %v, %v", delta, b, err)
		}
		if err := (dp.Budget{Epsilon: 1, Delta: delta}).Validate(); !errors.Is(err, dp.ErrBudget) {
			t.Errorf("budget of delta %v: %v", delta, err)
		}
		if _, err := account.NewFilter(dp.ReplaceOne, dp.Budget{Epsilon: 1, Delta: delta}, account.GaussianDP, account.FilterOptions{}); !errors.Is(err, dp.ErrBudget) {
			t.Errorf("filter of delta %v: %v", delta, err)
		}
	}
	if err := (dp.Budget{Epsilon: 1}).Validate(); err != nil {
		t.Errorf("delta 0: %v", err)
	}
}

func epsilonOf(t *testing.T, sigma, delta float64) float64 {
	t.Helper()
	a := account.New(dp.ReplaceOne)
	if err := a.Compose(context.Background(), dp.Gaussian{NoiseMultiplier: sigma}, 1); err != nil {
		t.Fatal(err)
	}
	b, err := a.Epsilon(context.Background(), delta)
	if err != nil {
		t.Fatal(err)
	}
	return b.Upper
}

// gaussianDeltaAbove bounds delta(eps) = Q(a) - e^eps Q(b), a = eps/mu - mu/2, b = eps/mu +
// mu/2, from above by the asymptotic series of Mills' ratio, phi(a) (M(a) - M(b)), as
// e^eps phi(b) = phi(a): M(x) is between sums of an odd and of an even number of terms.
func gaussianDeltaAbove(mu, eps float64) *big.Float {
	mills := func(x float64, terms int) float64 {
		sum, term := 0.0, 1/x
		for k := range terms {
			sum += term
			term *= -float64(2*k+1) / (x * x)
		}
		return sum
	}
	a, b := eps/mu-mu/2, eps/mu+mu/2
	// phi(a) in two factors, as exp(-a^2/2) alone has no digits left.
	half := math.Exp(-a * a / 4)
	out := new(big.Float).Mul(big.NewFloat(half), big.NewFloat(half/math.Sqrt(2*math.Pi)))
	return out.Mul(out, big.NewFloat(mills(a, 9)-mills(b, 8)))
}
