package xmath_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-rl/discreet/internal/oracle"
	"github.com/discreet-rl/discreet/internal/xmath"
	"pgregory.net/rapid"
)

const ulp = 0x1p-52

type table struct {
	Tails       [][5]any `json:"tails"`
	Differences [][3]any `json:"differences"`
}

func load(t testing.TB) table {
	t.Helper()
	return oracle.Load[table](t, "testdata/normal.json")
}

// relative is |got/want - 1| with want given in decimal, exact to 200 bits.
func relative(t testing.TB, got float64, want any) float64 {
	t.Helper()
	w, _, err := big.ParseFloat(want.(string), 10, 200, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	if math.IsInf(got, 0) || math.IsNaN(got) {
		return math.Inf(1)
	}
	g := new(big.Float).SetPrec(200).SetFloat64(got)
	r, _ := g.Quo(g.Sub(g, w), w).Float64()
	return math.Abs(r)
}

func TestTailsMatchTable(t *testing.T) {
	var worst [4]float64
	for _, row := range load(t).Tails {
		x := row[0].(float64)
		check := func(name string, slot int, got float64, want any, bound float64) {
			err := relative(t, got, want)
			worst[slot] = max(worst[slot], err/ulp)
			if !(err <= bound) {
				t.Errorf("%s(%v) = %v, want %v: relative error %.3g, bound %.3g", name, x, got, want, err, bound)
			}
		}
		check("Mills", 0, xmath.Mills(x), row[1], 8*ulp)
		if x >= -1 {
			check("MillsComplement", 1, xmath.MillsComplement(x), row[2], 16*ulp)
		}
		check("LogNormSF", 2, xmath.LogNormSF(x), row[3], 32*ulp)
		if x < 37.5 {
			check("NormSF", 3, xmath.NormSF(x), row[4], 16*ulp)
		}
		if got, want := xmath.LogNormCDF(-x), xmath.LogNormSF(x); got != want {
			t.Errorf("LogNormCDF(%v) = %v, want LogNormSF(%v) = %v", -x, got, x, want)
		}
	}
	t.Logf("worst errors in ulp: Mills %.2f, MillsComplement %.2f, LogNormSF %.2f, NormSF %.2f", worst[0], worst[1], worst[2], worst[3])
}

func TestMillsDifferenceMatchesTable(t *testing.T) {
	worst := 0.0
	for _, row := range load(t).Differences {
		x, h := row[0].(float64), row[1].(float64)
		got := xmath.MillsDifference(x, h)
		err := relative(t, got, row[2])
		worst = max(worst, err/ulp)
		if !(err <= 48*ulp) {
			t.Errorf("MillsDifference(%v, %v) = %v, want %v: relative error %.3g", x, h, got, row[2], err)
		}
	}
	t.Logf("worst error %.2f ulp", worst)
}

func TestTailLimits(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"LogNormSF(+Inf)", xmath.LogNormSF(inf), -inf},
		{"LogNormSF(-Inf)", xmath.LogNormSF(-inf), 0},
		{"NormSF(+Inf)", xmath.NormSF(inf), 0},
		{"NormSF(-Inf)", xmath.NormSF(-inf), 1},
		{"NormSF(0)", xmath.NormSF(0), 0.5},
		{"Mills(+Inf)", xmath.Mills(inf), 0},
		{"LogNormISF(0)", xmath.LogNormISF(0), -inf},
		{"LogNormISF(-Inf)", xmath.LogNormISF(-inf), inf},
		{"NormISF(0.5)", xmath.NormISF(0.5), 0},
		{"LogAdd(-Inf, 3)", xmath.LogAdd(-inf, 3), 3},
		{"LogSumExp()", xmath.LogSumExp(nil), -inf},
	} {
		if c.got != c.want && math.Abs(c.got-c.want) > 2*ulp {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, x := range []float64{math.NaN(), 1} {
		if got := xmath.LogNormISF(x); !math.IsNaN(got) {
			t.Errorf("LogNormISF(%v) = %v, want NaN", x, got)
		}
	}
}

func TestInverseTailsReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logp := -math.Exp(rapid.Float64Range(-30, 25).Draw(t, "log of -logp"))
		x := xmath.LogNormISF(logp)
		// The condition number of the log tail turns one ulp of x into this.
		slack := 64*ulp*math.Abs(logp) + 2*ulp*math.Abs(x)/xmath.Mills(x)
		if got := xmath.LogNormSF(x); math.Abs(got-logp) > slack {
			t.Fatalf("LogNormSF(LogNormISF(%v)) = %v, off by %v, bound %v", logp, got, got-logp, slack)
		}
		p := rapid.Float64Range(1e-300, 1-1e-9).Draw(t, "p")
		if got := xmath.NormCDF(xmath.NormQuantile(p)); math.Abs(got-p) > 1e-12*p {
			t.Fatalf("NormCDF(NormQuantile(%v)) = %v", p, got)
		}
	})
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(4500).SetFloat64(x) }

func TestDirectedRoundingEnclosesExactResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 {
			m := rapid.Float64Range(1, 2).Draw(t, name)
			if rapid.Bool().Draw(t, name+" negative") {
				m = -m
			}
			return math.Ldexp(m, rapid.IntRange(-540, 500).Draw(t, name+" exponent"))
		}
		a, b := draw("a"), draw("b")
		sum := new(big.Float).SetPrec(4500).Add(exact(a), exact(b))
		product := new(big.Float).SetPrec(4500).Mul(exact(a), exact(b))
		enclosed := func(name string, lower, upper float64, truth *big.Float) {
			if exact(lower).Cmp(truth) > 0 || exact(upper).Cmp(truth) < 0 {
				t.Fatalf("%s(%v, %v) = [%v, %v] misses %v", name, a, b, lower, upper, truth.Text('g', 30))
			}
			if math.Nextafter(lower, math.Inf(1)) < upper {
				t.Fatalf("%s(%v, %v) = [%v, %v] is wider than one step", name, a, b, lower, upper)
			}
		}
		enclosed("Add", xmath.AddDown(a, b), xmath.AddUp(a, b), sum)
		lower, upper := xmath.MulDown(a, b), xmath.MulUp(a, b)
		if math.Abs(a*b) > 0x1p-900 {
			enclosed("Mul", lower, upper, product)
		} else if exact(lower).Cmp(product) > 0 || exact(upper).Cmp(product) < 0 {
			t.Fatalf("Mul(%v, %v) = [%v, %v] misses", a, b, lower, upper)
		}
		// lower <= a/b <= upper, cleared of the division.
		lower, upper = xmath.DivDown(a, b), xmath.DivUp(a, b)
		lb := new(big.Float).SetPrec(4500).Mul(exact(lower), exact(b))
		ub := new(big.Float).SetPrec(4500).Mul(exact(upper), exact(b))
		if b < 0 {
			lb, ub = ub, lb
		}
		if lb.Cmp(exact(a)) > 0 || ub.Cmp(exact(a)) < 0 {
			t.Fatalf("Div(%v, %v) = [%v, %v] misses", a, b, lower, upper)
		}
	})
}

// TestOverflowingSumIsEnclosed: a sum of finite numbers is finite.
func TestOverflowingSumIsEnclosed(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ a, b, lower, upper float64 }{
		{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, inf},
		{-math.MaxFloat64, -1e300, -inf, -math.MaxFloat64},
		{math.MaxFloat64, 0x1p970, math.MaxFloat64, inf}, // rounds to infinity by a tie
		{inf, 1, inf, inf}, {-inf, 1, -inf, -inf}, {-1, inf, inf, inf},
	} {
		if l, u := xmath.AddDown(c.a, c.b), xmath.AddUp(c.a, c.b); l != c.lower || u != c.upper {
			t.Errorf("%v + %v: [%v, %v]; want [%v, %v]", c.a, c.b, l, u, c.lower, c.upper)
		}
	}
}

func TestUpDownWiden(t *testing.T) {
	if got := xmath.Up(1, 3); got != 1+3*ulp {
		t.Errorf("Up(1, 3) = %v", got)
	}
	if got := xmath.Down(1, 2); got != 1-ulp {
		t.Errorf("Down(1, 2) = %v", got)
	}
	if lo, hi := xmath.Widen(-2, 0.25); !(lo <= -2.5 && hi >= -1.5 && lo > -2.50001 && hi < -1.49999) {
		t.Errorf("Widen(-2, 1/4) = %v, %v", lo, hi)
	}
}

func TestLogArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(-700, 700).Draw(t, "a")
		gap := math.Exp(rapid.Float64Range(-30, 5).Draw(t, "log gap"))
		b := a + gap
		gap = b - a
		// ln(e^a + (e^b - e^a)) = b
		if got := xmath.LogAdd(a, b+xmath.Log1mExp(-gap)); math.Abs(got-b) > 1e-12 {
			t.Fatalf("LogAdd(a, ln(e^b - e^a)) = %v, want b = %v (a %v)", got, b, a)
		}
		if gap > 0 {
			if got, want := xmath.LogExpm1(gap), gap+xmath.Log1mExp(-gap); math.Abs(got-want) > 1e-14*(1+math.Abs(want)) {
				t.Fatalf("LogExpm1(%v) = %v, want %v", gap, got, want)
			}
		}
		if got, want := xmath.LogSumExp([]float64{a, b, a}), xmath.LogAdd(xmath.LogAdd(a, b), a); math.Abs(got-want) > 1e-12 {
			t.Fatalf("LogSumExp = %v, want %v", got, want)
		}
	})
	if got := xmath.Log1mExp(-1e-18); math.Abs(got-math.Log(1e-18)) > 1e-13 {
		t.Errorf("Log1mExp(-1e-18) = %v", got)
	}
	if got := xmath.Log1mExp(-50); math.Abs(got/-math.Exp(-50)-1) > 1e-14 {
		t.Errorf("Log1mExp(-50) = %v", got)
	}
}

func ExampleLogNormSF() {
	fmt.Printf("%.6f\n", xmath.LogNormSF(50))
	// Output: -1254.831361
}

func BenchmarkMillsDifference(b *testing.B) {
	for _, x := range []float64{0.5, 1, 4, 30} {
		b.Run(fmt.Sprint(x), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				xmath.MillsDifference(x, 0.01)
			}
		})
	}
}
