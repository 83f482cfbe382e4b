package balle16

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= relative) {
		t.Errorf("%s is %v; want %v within %v", what, got, want, relative)
	}
}

// By hand at one state, p = .05, m = 1000, epsilon = delta = .1:
// beta = .1/(4 (1 + ln 20)) = .0062567, and with about 50 visits psi is near
// exp(-49 beta) = .736, the printed Theorem 11 6 (1/2500 + beta^2 e^-.156) =
// .0026. Theorem 32 at lambda = 10: (.005+.05)(2+5) + (.05-.0025)/10 = .38975 as
// printed, terms in (1-p)^1000 aside.
func TestOneStateByHand(t *testing.T) {
	_, beta := alphaBeta(budget(), 1)
	near(t, "beta", beta, 0.1/(4*(1+math.Log(20))), 1e-12)
	one := []float64{0.05}
	near(t, "Theorem 11 as printed", boundLSWPrinted(one, 1000, beta), 6*(0.0004+beta*beta*math.Exp(-25*beta)), 1e-4)
	near(t, "Theorem 32 as printed", boundLSL(one, [][]float64{one}, 1, 1, 1000, 10, beta, true), 0.38975, 1e-6)
	near(t, "E psi", excessOneStateLSW(1000, 0.05, beta), 0.737, 1e-3)
	near(t, "E excess of DP-LSL", excessOneStateLSL(1000, 0.05, 10, beta), 0.426, 1e-3)
}

// The corrected bounds hold for every problem of one state.
func TestCorrectedBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 400).Draw(t, "m")
		p := rapid.Float64Range(1e-3, 0.999).Draw(t, "p")
		beta := rapid.Float64Range(1e-4, 0.5).Draw(t, "beta")
		lambda := rapid.Float64Range(1.01, 1e4).Draw(t, "lambda")
		one := []float64{p}
		const rounding = 1 + 1e-9 // of a sum over Lgamma weights
		if truth, bound := excessOneStateLSW(m, p, beta), boundLSW(one, float64(m), beta); truth > bound*rounding {
			t.Errorf("DP-LSW: %v is above the bound %v", truth, bound)
		}
		if truth, bound := excessOneStateLSL(m, p, lambda, beta), boundLSL(one, [][]float64{one}, 1, 1, float64(m), lambda, beta, false); truth > bound*rounding {
			t.Errorf("DP-LSL: %v is above the bound %v", truth, bound)
		}
	})
}

// Sum and mean of a binomial.
func TestBinomialMoments(t *testing.T) {
	near(t, "sum", binomial(500, 0.3, func(int) float64 { return 1 }), 1, 1e-10)
	near(t, "mean", binomial(500, 0.3, func(x int) float64 { return float64(x) }), 150, 1e-10)
	near(t, "second moment", binomial(500, 0.3, func(x int) float64 { return float64(x * x) }), 150*150+105, 1e-10)
}

// What the captions say of the constants of the paper: their true epsilon, for
// tabular features and for pairs.
func TestTrueEpsilonOfTheConstantsOfThePaper(t *testing.T) {
	for d, want := range map[int]float64{40: 0, 20: 0} {
		alpha, beta := alphaBeta(budget(), d)
		a, b, err := account.Balle16Constants(t.Context(), budget(), d)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "alpha", a, alpha, 1e-9)
		near(t, "beta", b, beta, 1e-9)
		accountant := account.New(dp.ReplaceOne)
		if err := accountant.Compose(t.Context(), dp.SmoothGaussian{Alpha: a, Beta: b, Dimension: d}, 1); err != nil {
			t.Fatal(err)
		}
		epsilon, err := accountant.Epsilon(t.Context(), budget().Delta)
		if err != nil || math.Abs(epsilon.Upper-want) > 1e-4 {
			t.Errorf("%d features: epsilon %v, %v; want %v", d, epsilon, err, want)
		}
	}
}
