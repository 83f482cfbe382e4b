package account_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/oracle"
	"pgregory.net/rapid"
)

func ExampleSmoothGaussianAlpha() {
	budget := dp.Budget{Epsilon: 1, Delta: 1e-5}
	paper, beta, err := account.Balle16Constants(context.Background(), budget, 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	alpha, err := account.SmoothGaussianAlpha(context.Background(), budget, beta, 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("beta %.5f: alpha %.2f in the paper, %.2f needed\n", beta, paper, alpha.Upper)
	// Output: beta 0.00776: alpha 24.70 in the paper, 3.95 needed
}

type smoothOracle struct {
	D       int     `json:"d"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Balle16 float64 `json:"alpha_balle16"`
	Beta    float64 `json:"beta"`
	Exact   float64 `json:"alpha_min_exact"`
	True    float64 `json:"delta_true_at_alpha_balle16"`
}

func readSmoothOracle(t *testing.T) []smoothOracle {
	t.Helper()
	cases := oracle.Load[[]smoothOracle](t, "testdata/smooth_sensitivity.json")
	if len(cases) < 27 {
		t.Fatalf("%d cases; want the 27 of the table", len(cases))
	}
	return cases
}

// smoothEncloses fails unless want lies in b, give or take the relative error of want
// itself, and the ends of b are within a relative width of each other.
func smoothEncloses(t *testing.T, what string, b account.Bracket, want, error, width float64) {
	t.Helper()
	if b.Lower > want*(1+error) || b.Upper < want*(1-error) {
		t.Errorf("%s: %v misses %v", what, b, want)
	}
	if !(b.Upper-b.Lower <= width*want) {
		t.Errorf("%s: %v is wider than %v relative", what, b, width)
	}
}

func TestSmoothGaussianAgreesWithTheOracle(t *testing.T) {
	for i, c := range readSmoothOracle(t) {
		if i%everyRow != 0 {
			continue
		}
		what := fmt.Sprintf("d %d, epsilon %v, delta %v", c.D, c.Epsilon, c.Delta)
		budget := dp.Budget{Epsilon: c.Epsilon, Delta: c.Delta}
		paper, beta, err := account.Balle16Constants(t.Context(), budget, c.D)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if math.Abs(paper-c.Balle16) > 1e-12*paper || math.Abs(beta-c.Beta) > 1e-12*beta {
			t.Errorf("%s: constants %v, %v; want %v, %v", what, paper, beta, c.Balle16, c.Beta)
		}
		alpha, err := account.SmoothGaussianAlpha(t.Context(), budget, c.Beta, c.D)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		smoothEncloses(t, "alpha at "+what, alpha, c.Exact, 1e-8, 1e-4)
		delta, err := account.SmoothGaussianDelta(t.Context(), c.Balle16, c.Beta, c.D, c.Epsilon)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		smoothEncloses(t, "delta at "+what, delta, c.True, 1e-8, 1e-5)
		epsilon, err := account.SmoothGaussianEpsilon(t.Context(), c.Exact, c.Beta, c.D, c.Delta)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		smoothEncloses(t, "epsilon at "+what, epsilon, c.Epsilon, 1e-8, 2e-4)
	}
}

// With equal variances the mechanism is the Gaussian one, whose calibration
// Balle and Wang 2018 give in closed form.
func TestSmoothGaussianWithoutBetaIsTheGaussianMechanism(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.3, 1, 8, 20, 100} {
		for _, delta := range []float64{0.3, 1e-2, 1e-6, 1e-15, 1e-60} {
			budget := dp.Budget{Epsilon: epsilon, Delta: delta}
			mu, err := account.GaussianMu(budget)
			if err != nil {
				t.Fatal(err)
			}
			for _, beta := range []float64{0, 1e-12} {
				alpha, err := account.SmoothGaussianAlpha(t.Context(), budget, beta, 7)
				if err != nil {
					t.Fatalf("epsilon %v, delta %v: %v", epsilon, delta, err)
				}
				what := fmt.Sprintf("epsilon %v, delta %v, beta %v", epsilon, delta, beta)
				smoothEncloses(t, what, alpha, 1/mu.Lower, 1e-7, 1e-4)
			}
		}
	}
}

// In one dimension, and in three with the orthogonal radius written out, the
// divergence is an integral of densities alone: no chi-squared tail, no panels.
func TestSmoothGaussianAgreesWithDirectQuadrature(t *testing.T) {
	for _, c := range []struct {
		d                    int
		alpha, beta, epsilon float64
	}{
		{1, 1.5, 0.4, 0.5}, {1, 0.6, 0.1, 2}, {1, 4, 1.2, 1}, {1, 0.9, 0.02, 0},
		{3, 1.5, 0.4, 0.5}, {3, 0.6, 0.1, 2}, {3, 4, 0.8, 0.7},
	} {
		b, err := account.SmoothGaussianDelta(t.Context(), c.alpha, c.beta, c.d, c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := -4; i <= 4; i++ {
			worst = max(worst, directDivergence(c.d, 1/c.alpha, c.beta*float64(i)/4, c.epsilon))
		}
		// The midpoint rule errs by its step squared at the kink: below 1e-4.
		smoothEncloses(t, fmt.Sprintf("%+v", c), b, worst, 1e-4, 1e-4)
	}
}

// directDivergence integrates (p - e^eps q)+ by the midpoint rule, for unit
// smaller deviation and the larger one at log-ratio |r| on the side of its sign.
func directDivergence(d int, gap, r, epsilon float64) float64 {
	s1, s2 := 1.0, 1.0
	if r > 0 {
		s1 = math.Exp(r / 2)
	} else {
		s2 = math.Exp(-r / 2)
	}
	limit := 9 * max(s1, s2)
	along := func(square float64, steps int) float64 {
		sum, h := 0.0, (2*limit+gap)/float64(steps)
		for i := range steps {
			x := -limit + h*(float64(i)+0.5)
			p := math.Exp(-(x*x+square)/(2*s1*s1)) / math.Pow(2*math.Pi*s1*s1, float64(d)/2)
			q := math.Exp(-((x-gap)*(x-gap)+square)/(2*s2*s2)) / math.Pow(2*math.Pi*s2*s2, float64(d)/2)
			sum += h * max(0, p-math.Exp(epsilon)*q)
		}
		return sum
	}
	if d == 1 {
		return along(0, 20000)
	}
	sum, h := 0.0, limit/400
	for i := range 400 { // d = 3: circles of radius rho
		rho := h * (float64(i) + 0.5)
		sum += h * 2 * math.Pi * rho * along(rho*rho, 700)
	}
	return sum
}

// A larger alpha or epsilon can only lower delta; a larger beta allows more
// pairs, and a further dimension is undone by dropping it.
func TestSmoothGaussianIsMonotone(t *testing.T) {
	few(t, func(t *rapid.T) {
		alpha := math.Exp(rapid.Float64Range(-1, 4).Draw(t, "ln alpha"))
		beta := math.Exp(rapid.Float64Range(-7, -1).Draw(t, "ln beta"))
		epsilon := rapid.Float64Range(0, 5).Draw(t, "epsilon")
		d := rapid.IntRange(1, 60).Draw(t, "d")
		grow := rapid.Float64Range(1, 1.5).Draw(t, "grow")
		delta := func(alpha, beta float64, d int, epsilon float64) account.Bracket {
			b, err := account.SmoothGaussianDelta(t.Context(), alpha, beta, d, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if b.Upper > 1e-280 && b.Upper > b.Lower*(1+5e-5) {
				t.Fatalf("%v is too wide for the comparison to say anything", b)
			}
			return b
		}
		base := delta(alpha, beta, d, epsilon)
		change := rapid.SampledFrom([]string{"alpha", "beta", "epsilon", "dimension"}).Draw(t, "change")
		switch change {
		case "alpha":
			alpha *= grow
		case "beta":
			beta /= grow
		case "epsilon":
			epsilon *= grow
		case "dimension":
			d = max(1, int(float64(d)/grow))
		}
		if less := delta(alpha, beta, d, epsilon); less.Lower > base.Upper {
			t.Fatalf("%s: %v above %v", change, less, base)
		}
	})
}

// Delta, epsilon and alpha are three views of one curve.
func TestSmoothGaussianInversesAgree(t *testing.T) {
	few(t, func(t *rapid.T) {
		budget := dp.Budget{
			Epsilon: math.Exp(rapid.Float64Range(-3, 3).Draw(t, "ln epsilon")),
			Delta:   math.Exp(rapid.Float64Range(-40, -1).Draw(t, "ln delta")),
		}
		d := rapid.IntRange(1, 300).Draw(t, "d")
		limit, err := account.SmoothGaussianBeta(t.Context(), budget, d)
		if err != nil {
			t.Fatal(err)
		}
		beta := limit.Lower * rapid.Float64Range(0, 0.6).Draw(t, "share of the limit")
		alpha, err := account.SmoothGaussianAlpha(t.Context(), budget, beta, d)
		if err != nil {
			t.Fatal(err)
		}
		if alpha.Upper > alpha.Lower*(1+5e-4) {
			t.Fatalf("alpha %v is too wide", alpha)
		}
		for _, end := range []struct {
			alpha float64
			safe  bool
		}{{alpha.Upper, true}, {alpha.Lower, false}} {
			delta, err := account.SmoothGaussianDelta(t.Context(), end.alpha, beta, d, budget.Epsilon)
			if err != nil {
				t.Fatal(err)
			}
			epsilon, err := account.SmoothGaussianEpsilon(t.Context(), end.alpha, beta, d, budget.Delta)
			if err != nil {
				t.Fatal(err)
			}
			if end.safe && (delta.Lower > budget.Delta || epsilon.Lower > budget.Epsilon) {
				t.Fatalf("at the safe alpha %v: delta %v, epsilon %v", end.alpha, delta, epsilon)
			}
			if !end.safe && (delta.Upper < budget.Delta || epsilon.Upper < budget.Epsilon) {
				t.Fatalf("at the unsafe alpha %v: delta %v, epsilon %v", end.alpha, delta, epsilon)
			}
		}
	})
}

func TestSmoothGaussianBetaParts(t *testing.T) {
	for _, d := range []int{1, 20, 1000} {
		budget := dp.Budget{Epsilon: 1, Delta: 1e-5}
		limit, err := account.SmoothGaussianBeta(t.Context(), budget, d)
		if err != nil {
			t.Fatal(err)
		}
		if !(limit.Lower > 0 && limit.Upper < limit.Lower*(1+1e-8)) {
			t.Errorf("d %d: limit %v is not sharp", d, limit)
		}
		if _, err := account.SmoothGaussianAlpha(t.Context(), budget, limit.Upper, d); !errors.Is(err, account.ErrUncertified) {
			t.Errorf("d %d, beta %v: error %v; want ErrUncertified", d, limit.Upper, err)
		}
		if _, err := account.SmoothGaussianAlpha(t.Context(), budget, 0.99*limit.Lower, d); err != nil {
			t.Errorf("d %d, beta %v: %v", d, 0.99*limit.Lower, err)
		}
	}
}

// The cost here is that of a bound that decays as e^-(k beta/2) over k persons;
// the best pair must beat both the paper's and its neighbours on the grid.
func TestSmoothGaussianPairBeatsOtherPairs(t *testing.T) {
	budget := dp.Budget{Epsilon: 1, Delta: 1e-5}
	cost := func(alpha, beta float64) float64 { return alpha * math.Exp(0.02/beta) }
	alpha, beta, err := account.SmoothGaussianPair(t.Context(), budget, 20, cost)
	if err != nil {
		t.Fatal(err)
	}
	delta, err := account.SmoothGaussianDelta(t.Context(), alpha, beta, 20, 1)
	if err != nil || delta.Upper > budget.Delta*(1+1e-5) {
		t.Fatalf("delta at the pair is %v, %v; want at most %v", delta, err, budget.Delta)
	}
	for _, share := range []float64{0.02, 0.1, 0.4, 2.5, 6} {
		other, err := account.SmoothGaussianAlpha(t.Context(), budget, beta*share, 20)
		if err != nil {
			continue
		}
		if cost(other.Upper, beta*share) < cost(alpha, beta) {
			t.Errorf("beta %v costs less than the chosen %v", beta*share, beta)
		}
	}
	paperAlpha, paperBeta, err := account.Balle16Constants(t.Context(), budget, 20)
	if err != nil {
		t.Fatal(err)
	}
	if paper := cost(paperAlpha, paperBeta); cost(alpha, beta) > paper/10 {
		t.Errorf("the pair costs %v, the paper's %v", cost(alpha, beta), paper)
	}
	infinite := func(alpha, beta float64) float64 { return math.NaN() }
	if _, _, err := account.SmoothGaussianPair(t.Context(), budget, 20, infinite); !errors.Is(err, account.ErrUncertified) {
		t.Errorf("a cost of NaN: %v; want ErrUncertified", err)
	}
}

func TestSmoothGaussianRefuses(t *testing.T) {
	delta := func(alpha, beta float64, d int, epsilon float64) error {
		_, err := account.SmoothGaussianDelta(t.Context(), alpha, beta, d, epsilon)
		return err
	}
	alpha := func(epsilon, delta, beta float64, d int) error {
		_, err := account.SmoothGaussianAlpha(t.Context(), dp.Budget{Epsilon: epsilon, Delta: delta}, beta, d)
		return err
	}
	paper := func(epsilon, delta float64, d int) error {
		_, _, err := account.Balle16Constants(t.Context(), dp.Budget{Epsilon: epsilon, Delta: delta}, d)
		return err
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		got  error
		want error
	}{
		{"alpha 0", delta(0, 0.1, 1, 1), dp.ErrEvent},
		{"alpha NaN", delta(nan, 0.1, 1, 1), dp.ErrEvent},
		{"alpha infinite", delta(inf, 0.1, 1, 1), dp.ErrEvent},
		{"alpha tiny", delta(1e-12, 0.1, 1, 1), account.ErrUncertified},
		{"beta negative", delta(1, -0.1, 1, 1), dp.ErrEvent},
		{"beta NaN", delta(1, nan, 1, 1), dp.ErrEvent},
		{"beta beyond the tails", delta(1, 5, 1000, 1), account.ErrUncertified},
		{"dimension 0", delta(1, 0.1, 0, 1), dp.ErrEvent},
		{"dimension huge", delta(1, 1e-9, 1<<30, 1), account.ErrUncertified},
		{"epsilon negative", delta(1, 0.1, 1, -1), dp.ErrBudget},
		{"epsilon huge", delta(1, 0.1, 1, 1e4), account.ErrUncertified},
		{"budget without delta", alpha(1, 0, 0.1, 1), dp.ErrBudget},
		{"budget with delta 1", alpha(1, 1, 0.1, 1), dp.ErrBudget},
		{"budget without epsilon", alpha(0, 1e-5, 0.1, 1), dp.ErrBudget},
		{"delta below what is computed", alpha(1, 1e-290, 0.1, 1), account.ErrUncertified},
		{"beta infeasible", alpha(1, 1e-5, 0.5, 1000), account.ErrUncertified},
		{"paper beyond 20", paper(20.01, 1e-5, 1), account.ErrUncertified},
		{"paper without delta", paper(1, 0, 1), dp.ErrBudget},
		{"paper without dimension", paper(1, 1e-5, 0), dp.ErrEvent},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v; want %v", c.name, c.got, c.want)
		}
	}
}

func BenchmarkSmoothGaussianAlpha(b *testing.B) {
	budget := dp.Budget{Epsilon: 1, Delta: 1e-5}
	for _, d := range []int{1, 20, 1000} {
		_, beta, err := account.Balle16Constants(b.Context(), budget, d)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := account.SmoothGaussianAlpha(b.Context(), budget, beta, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
