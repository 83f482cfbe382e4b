package account_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/oracle"
	"pgregory.net/rapid"
)

type profileRow struct {
	mu, epsilon       float64
	delta, complement *big.Float
}

// gaussianTable holds the Gaussian privacy profile to 25 digits.
func gaussianTable(t testing.TB) []profileRow {
	t.Helper()
	rows := oracle.Load[[][5]any](t, "testdata/gaussian.json")
	out := make([]profileRow, len(rows))
	for i, r := range rows {
		out[i] = profileRow{r[0].(float64), r[1].(float64), decimal(t, r[2].(string)), decimal(t, r[3].(string))}
	}
	return out
}

func decimal(t testing.TB, s string) *big.Float {
	t.Helper()
	x, _, err := big.ParseFloat(s, 10, 120, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func encloses(b account.Bracket, truth *big.Float) bool {
	return big.NewFloat(b.Lower).Cmp(truth) <= 0 && big.NewFloat(b.Upper).Cmp(truth) >= 0
}

func TestGaussianDeltaEnclosesTable(t *testing.T) {
	worst := 0.0
	for _, r := range gaussianTable(t) {
		b := account.GaussianDelta(r.mu, r.epsilon)
		if !encloses(b, r.delta) {
			t.Errorf("GaussianDelta(%v, %v) = %v misses %v", r.mu, r.epsilon, b, r.delta.Text('g', 20))
		}
		width := (b.Upper - b.Lower) / b.Upper
		if b.Upper > 1e-305 && !(width < 1e-12) {
			t.Errorf("GaussianDelta(%v, %v) = %v is %.2g wide", r.mu, r.epsilon, b, width)
		}
		// How much of the certified half-width the actual error uses.
		mid := new(big.Float).SetPrec(120).SetFloat64(b.Lower + (b.Upper-b.Lower)/2)
		e, _ := mid.Quo(mid.Sub(mid, r.delta), r.delta).Float64()
		if b.Upper > 1e-250 {
			worst = max(worst, math.Abs(e))
		}
	}
	t.Logf("worst relative error of the midpoint %.3g (certified: %.3g)", worst, 0x1p-46)
}

func TestGaussianEpsilonAndMuInvertTheTable(t *testing.T) {
	tried := 0
	for _, r := range gaussianTable(t) {
		delta, _ := r.delta.Float64()
		if delta < 1e-300 || delta >= 1 {
			continue
		}
		tried++
		// The table's delta rounded to a float64 moves the root by the
		// condition number, so the exact root lies between the brackets at the
		// two neighbouring deltas.
		below, err1 := account.GaussianEpsilon(r.mu, math.Nextafter(delta, 1))
		above, err2 := account.GaussianEpsilon(r.mu, math.Nextafter(delta, 0))
		if err := errors.Join(err1, err2); err != nil {
			t.Errorf("GaussianEpsilon(%v, %v): %v", r.mu, delta, err)
		} else if !(below.Lower <= r.epsilon && r.epsilon <= above.Upper) {
			t.Errorf("GaussianEpsilon(%v, %v) = %v..%v misses %v", r.mu, delta, below, above, r.epsilon)
		}
		if r.epsilon == 0 {
			continue
		}
		low, err1 := account.GaussianMu(dp.Budget{Epsilon: r.epsilon, Delta: math.Nextafter(delta, 0)})
		high, err2 := account.GaussianMu(dp.Budget{Epsilon: r.epsilon, Delta: math.Nextafter(delta, 1)})
		if err := errors.Join(err1, err2); err != nil {
			if delta > 1-1e-15 && errors.Is(err, account.ErrUncertified) {
				continue // the float64 next to 1 leaves no room
			}
			t.Errorf("GaussianMu(%v, %v): %v", r.epsilon, delta, err)
		} else if !(low.Lower <= r.mu && r.mu <= high.Upper) {
			t.Errorf("GaussianMu(%v, %v) = %v..%v misses %v", r.epsilon, delta, low, high, r.mu)
		}
	}
	if tried < 200 {
		t.Errorf("only %d rows of the table were usable", tried)
	}
}

func TestGaussianInversesAreTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(math.Log(1e-9), math.Log(1e4)).Draw(t, "ln mu"))
		delta := math.Exp(rapid.Float64Range(-600, -0.1).Draw(t, "ln delta"))
		b, err := account.GaussianEpsilon(mu, delta)
		if err != nil {
			t.Fatal(err)
		}
		if account.GaussianDelta(mu, b.Upper).Upper > delta {
			t.Fatalf("GaussianEpsilon(%v, %v).Upper = %v is not certified", mu, delta, b.Upper)
		}
		if b.Lower > 0 && account.GaussianDelta(mu, b.Lower).Lower < delta {
			t.Fatalf("GaussianEpsilon(%v, %v).Lower = %v is not certified", mu, delta, b.Lower)
		}
		// Near epsilon 0 the root is ill-conditioned relative to itself, never
		// relative to the scale of the privacy loss.
		if scale := mu + b.Upper; b.Upper-b.Lower > 1e-12*scale {
			t.Fatalf("GaussianEpsilon(%v, %v) = %v is %v wide", mu, delta, b, b.Upper-b.Lower)
		}
		if b.Lower == 0 || b.Lower < 1e-6*mu {
			return
		}
		m, err := account.GaussianMu(dp.Budget{Epsilon: b.Upper, Delta: delta})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m.Lower-mu) > 1e-11*mu || m.Upper-m.Lower > 1e-12*mu || m.Lower > m.Upper {
			t.Fatalf("GaussianMu(%v, %v) = %v, want %v", b.Upper, delta, m, mu)
		}
	})
}

func TestGaussianExtremes(t *testing.T) {
	if b := account.GaussianDelta(0, 1); b != (account.Bracket{}) {
		t.Errorf("mu 0: %v, want 0", b)
	}
	if b := account.GaussianDelta(math.Inf(1), 1); b.Lower != 1 || b.Upper != 1 {
		t.Errorf("mu infinite: %v, want 1", b)
	}
	if b := account.GaussianDelta(1e-9, 1e4); b.Lower != 0 || !(b.Upper < 1e-300) {
		t.Errorf("far tail: %v", b)
	}
	for _, delta := range []float64{0, 1, -1, math.NaN(), math.SmallestNonzeroFloat64} {
		if _, err := account.GaussianEpsilon(1, delta); !errors.Is(err, dp.ErrBudget) {
			t.Errorf("GaussianEpsilon(1, %v): %v; want ErrBudget", delta, err)
		}
	}
	if _, err := account.GaussianEpsilon(math.NaN(), 0.1); !errors.Is(err, dp.ErrEvent) {
		t.Errorf("GaussianEpsilon(NaN): %v; want ErrEvent", err)
	}
	for _, b := range []dp.Budget{{Epsilon: 1}, {Epsilon: 0, Delta: 0.1}, {Epsilon: 1, Delta: 1}} {
		if _, err := account.GaussianMu(b); !errors.Is(err, dp.ErrBudget) {
			t.Errorf("GaussianMu(%v): %v; want ErrBudget", b, err)
		}
	}
	if b, err := account.GaussianEpsilon(1, 0x1p-1022); err != nil || !(b.Upper < 40 && b.Lower > 37) {
		t.Errorf("smallest delta: %v, %v", b, err)
	}
}

func BenchmarkGaussianEpsilon(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := account.GaussianEpsilon(0.7, 1e-5); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGaussianMu(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := account.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-5}); err != nil {
			b.Fatal(err)
		}
	}
}
