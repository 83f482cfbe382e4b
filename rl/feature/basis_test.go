package feature_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/feature"
)

func unitBox(d int) ([]string, []feature.Range) {
	names, ranges := make([]string, d), make([]feature.Range, d)
	for i := range names {
		names[i], ranges[i] = string(rune('a'+i)), feature.Range{Low: 0, High: 1}
	}
	return names, ranges
}

func close(t *testing.T, what string, want, got []float64, tolerance float64) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, tolerance)); d != "" {
		t.Errorf("%s (-want +got)\n%s", what, d)
	}
}

// By hand: cos(0) = 1, cos(pi/3) = 1/2, cos(2 pi/3) = -1/2 and so on, at
// (x, y) = (1/3, 1/2).
func TestFourierMatchesHandComputation(t *testing.T) {
	names, ranges := unitBox(2)
	m := must(feature.NewFourier(2, names, ranges))
	phi, ok := apply(t, m, names, 1.0/3, 0.5)
	root := math.Sqrt(3) / 2
	want := []float64{
		1, 0, -1, // c = (0, 0), (0, 1), (0, 2)
		0.5, -root, -0.5, // cos(pi/3 + k pi/2)
		-0.5, -root, 0.5, // cos(2 pi/3 + k pi/2)
	}
	if !ok {
		t.Fatal("not read")
	}
	close(t, "fourier", want, phi, 1e-15)
}

func TestPolynomialMatchesHandComputation(t *testing.T) {
	names, ranges := unitBox(2)
	phi, _ := apply(t, must(feature.NewPolynomial(2, names, ranges, false)), names, 0.5, 0.1)
	close(t, "polynomial", []float64{1, 0.1, 0.01, 0.5, 0.05, 0.005, 0.25, 0.025, 0.0025}, phi, 1e-16)
	phi, _ = apply(t, must(feature.NewPolynomial(3, names[:1], ranges[:1], true)), names[:1], 0.25)
	close(t, "symmetric", []float64{1, -0.5, 0.25, -0.125}, phi, 0)
}

func TestRBFMatchesHandComputation(t *testing.T) {
	names, ranges := unitBox(2)
	// Width 1/2: at (0, 1/2) the exponents are 2 |x - c|^2.
	e := math.Exp
	want := []float64{e(-0.5), 1, e(-0.5), e(-1), e(-0.5), e(-1), e(-2.5), e(-2), e(-2.5)}
	phi, _ := apply(t, must(feature.NewRBF(3, 0.5, false, names, ranges)), names, 0, 0.5)
	close(t, "rbf", want, phi, 1e-15)
	floats.Scale(1/floats.Sum(want), want)
	phi, _ = apply(t, must(feature.NewRBF(3, 0.5, true, names, ranges)), names, 0, 0.5)
	close(t, "normalised rbf", want, phi, 1e-15)
}

// Every feature of every basis is computed directly from its definition, and
// values outside the ranges are those of the nearest end.
func TestBasesMatchTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, order := rapid.IntRange(1, 3).Draw(t, "columns"), rapid.IntRange(1, 6).Draw(t, "order")
		names, ranges := unitBox(d)
		obs, x := make([]float64, d), make([]float64, d)
		for i := range obs {
			ranges[i] = feature.Range{Low: -2, High: 6}
			obs[i] = rapid.Float64Range(-4, 8).Draw(t, "x")
			x[i] = (min(max(obs[i], -2), 6) + 2) / 8
		}
		width := rapid.Float64Range(0.1, 2).Draw(t, "width")
		for name, c := range map[string]struct {
			m  feature.Map
			of func(c []int) float64
		}{
			"fourier": {must(feature.NewFourier(order, names, ranges)), func(c []int) float64 {
				dot := 0.0
				for i, k := range c {
					dot += float64(k) * x[i]
				}
				return math.Cos(math.Pi * dot)
			}},
			"polynomial": {must(feature.NewPolynomial(order, names, ranges, false)), func(c []int) float64 {
				product := 1.0
				for i, k := range c {
					product *= math.Pow(x[i], float64(k))
				}
				return product
			}},
			"rbf": {must(feature.NewRBF(order+1, width, false, names, ranges)), func(c []int) float64 {
				sum := 0.0
				for i, k := range c {
					sum += math.Pow(x[i]-float64(k)/float64(order), 2)
				}
				return math.Exp(-sum / (2 * width * width))
			}},
		} {
			b, phi := must(c.m.Bind(names)), make([]float64, c.m.Dim())
			if !b.Apply(phi, obs) || len(phi) != int(math.Pow(float64(order+1), float64(d))) {
				t.Fatalf("%s: %d features", name, len(phi))
			}
			index := make([]int, d)
			for i, got := range phi {
				for j, rest := d-1, i; j >= 0; j, rest = j-1, rest/(order+1) {
					index[j] = rest % (order + 1)
				}
				if want := c.of(index); !(math.Abs(got-want) <= 1e-13) {
					t.Fatalf("%s at %v: feature %v is %v, want %v", name, obs, index, got, want)
				}
			}
		}
	})
}

// Normalised features share 1 among them, wherever the observation is.
func TestNormalisedRBFAddUpToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, ranges := unitBox(2)
		centers := rapid.IntRange(2, 12).Draw(t, "centers")
		width := rapid.Float64Range(0.05/float64(centers-1), 50).Draw(t, "width")
		m := must(feature.NewRBF(centers, width, true, names, ranges))
		phi := make([]float64, m.Dim())
		must(m.Bind(names)).Apply(phi, []float64{rapid.Float64().Draw(t, "x"), rapid.Float64().Draw(t, "y")})
		if !(math.Abs(floats.Sum(phi)-1) <= 1e-12) || floats.Min(phi) < 0 {
			t.Fatalf("%v", phi)
		}
	})
}

// The bounds are reached, or nearly: a bound twice too large would cost every
// private method dearly, and unnoticed.
func TestNormBoundsAreTight(t *testing.T) {
	names, ranges := unitBox(2)
	for name, c := range map[string]struct {
		m    feature.Map
		at   float64
		want float64 // least share of the bound
	}{
		"fourier":    {must(feature.NewFourier(3, names, ranges)), 0, 1 - 1e-15},
		"polynomial": {must(feature.NewPolynomial(3, names, ranges, false)), 1, 1 - 1e-15},
		"narrow rbf": {must(feature.NewRBF(11, 0.03, false, names, ranges)), 0.5, 1 - 1e-11},
		"medium rbf": {must(feature.NewRBF(11, 0.1, false, names, ranges)), 0.5, 1 - 1e-11},
		"wide rbf":   {must(feature.NewRBF(3, 50, false, names, ranges)), 0.5, 0.999},
		"normalised": {must(feature.NewRBF(11, 0.01, true, names, ranges)), 0, 1 - 1e-11},
	} {
		phi, _ := apply(t, c.m, names, c.at, c.at)
		norm := floats.Norm(phi, 2)
		if share := norm / c.m.NormBound(); !(share <= 1 && share >= c.want) {
			t.Errorf("%s: norm %v, bound %v", name, norm, c.m.NormBound())
		}
	}
}

func TestRateScalesAreInverseFrequencies(t *testing.T) {
	names, ranges := unitBox(2)
	got := must(feature.NewFourier(2, names, ranges)).(interface{ RateScales() []float64 }).RateScales()
	r := func(n float64) float64 { return 1 / math.Sqrt(n) }
	close(t, "scales", []float64{1, 1, 0.5, 1, r(2), r(5), 0.5, r(5), r(8)}, got, 1e-16)
}

func TestBasesReadNothingUnreadable(t *testing.T) {
	names, ranges := unitBox(2)
	for _, m := range []feature.Map{
		must(feature.NewFourier(2, names, ranges)), must(feature.NewPolynomial(2, names, ranges, false)), must(feature.NewRBF(3, 0.5, true, names, ranges)),
	} {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if phi, ok := apply(t, m, names, 0.5, x); ok || floats.Norm(phi, 1) != 0 {
				t.Errorf("%T at %v: %v, %v; want zeros, false", m, x, phi, ok)
			}
		}
		if _, err := m.Bind(names[:1]); err == nil || !strings.Contains(err.Error(), `"b"`) {
			t.Errorf("%T without column b: %v", m, err)
		}
		b, phi, obs := must(m.Bind(names)), make([]float64, m.Dim()), []float64{0.3, 0.7}
		if n := testing.AllocsPerRun(100, func() { b.Apply(phi, obs) }); n != 0 {
			t.Errorf("%T: Apply allocates %v times", m, n)
		}
	}
}

func TestSpecsBuildBases(t *testing.T) {
	names, ranges := []string{"x", "y"}, []feature.Range{{Low: -1, High: 3}, {Low: 0, High: 2}}
	for text, want := range map[string]feature.Map{
		`{"kind":"fourier","order":3,"names":["x","y"],"low":[-1,0],"high":[3,2]}`:                             must(feature.NewFourier(3, names, ranges)),
		`{"kind":"polynomial","order":2,"symmetric":true,"names":["x","y"],"low":[-1,0],"high":[3,2]}`:         must(feature.NewPolynomial(2, names, ranges, true)),
		`{"kind":"rbf","centers":4,"width":0.3,"normalized":true,"names":["x","y"],"low":[-1,0],"high":[3,2]}`: must(feature.NewRBF(4, 0.3, true, names, ranges)),
	} {
		var s feature.Spec
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		got, err := s.Map()
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		a, _ := apply(t, want, names, 0.5, 1.5)
		b, _ := apply(t, got, names, 0.5, 1.5)
		if !floats.Equal(a, b) || fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) || got.NormBound() != want.NormBound() {
			t.Errorf("%s: %T of %v, want %T of %v", text, got, b, want, a)
		}
	}
}

func BenchmarkFourier(b *testing.B) {
	names, ranges := unitBox(6)
	m := must(feature.NewFourier(3, names, ranges))
	bound, phi, obs := must(m.Bind(names)), make([]float64, m.Dim()), []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
	n := 0
	for b.Loop() {
		bound.Apply(phi, obs)
		n += len(phi)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(n), "ns/feature")
}
