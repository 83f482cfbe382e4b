package feature_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func apply(t testing.TB, m feature.Map, columns []string, obs ...float64) ([]float64, bool) {
	t.Helper()
	b, err := m.Bind(columns)
	if err != nil {
		t.Fatal(err)
	}
	phi := make([]float64, m.Dim())
	for i := range phi {
		phi[i] = math.NaN() // whatever was there must be overwritten
	}
	ok := b.Apply(phi, obs)
	return phi, ok
}

func TestMapsGiveTheVectorsOfTheirDefinitions(t *testing.T) {
	unit := must(feature.NewColumns([]string{"b", "a"}, []feature.Range{{Low: 0, High: 10}, {Low: -2, High: 2}},
		feature.ColumnsOptions{Intercept: true}))
	symmetric := must(feature.NewColumns([]string{"a"}, []feature.Range{{Low: 0, High: 4}},
		feature.ColumnsOptions{Symmetric: true}))
	both := [][]string{{"b", "a"}}
	products := must(feature.NewColumns([]string{"b", "a"}, []feature.Range{{Low: 0, High: 10}, {Low: -2, High: 2}},
		feature.ColumnsOptions{Intercept: true, Products: both}))
	signed := must(feature.NewColumns([]string{"b", "a"}, []feature.Range{{Low: 0, High: 10}, {Low: -2, High: 2}},
		feature.ColumnsOptions{Symmetric: true, Products: both}))
	for _, test := range []struct {
		name string
		m    feature.Map
		obs  []float64
		want []float64
	}{
		{"tabular", must(feature.NewTabular(3, "b")), []float64{9, 2}, []float64{0, 0, 1}},
		{"tabular, first", must(feature.NewTabular(3, "b")), []float64{9, math.Copysign(0, -1)}, []float64{1, 0, 0}},
		{"groups of two", must(feature.NewAggregation(5, 2, "a")), []float64{3, 0}, []float64{0, 1, 0}},
		{"a smaller last group", must(feature.NewAggregation(5, 2, "a")), []float64{4, 0}, []float64{0, 0, 1}},
		{"columns in the map's order", unit, []float64{1, 2.5}, []float64{1, 0.25, 0.75}},
		{"columns clipped", unit, []float64{-7, 1e308}, []float64{1, 1, 0}},
		{"products of scaled columns", products, []float64{1, 2.5}, []float64{1, 0.25, 0.75, 0.1875}},
		{"products of clipped columns", products, []float64{7, 1e308}, []float64{1, 1, 1, 1}},
		{"products of both signs", signed, []float64{1, 2.5}, []float64{-0.5, 0.5, -0.25}},
		{"products of clipped columns of both signs", signed, []float64{-7, 1e308}, []float64{1, -1, -1}},
		{"symmetric", symmetric, []float64{1, 0}, []float64{-0.5}},
		{"symmetric clipped", symmetric, []float64{-1e308, 0}, []float64{-1}},
	} {
		got, ok := apply(t, test.m, []string{"a", "b"}, test.obs...)
		if !ok || !floats.Equal(got, test.want) {
			t.Errorf("%s: %v, %v; want %v", test.name, got, ok, test.want)
		}
	}
}

func TestUnreadableObservationsAreZeroVectors(t *testing.T) {
	tabular := must(feature.NewTabular(3, "a"))
	columns := must(feature.NewColumns([]string{"a"}, []feature.Range{{Low: 0, High: 1}}, feature.ColumnsOptions{Intercept: true}))
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, m := range []feature.Map{tabular, columns} {
			if phi, ok := apply(t, m, []string{"a"}, x); ok || floats.Norm(phi, 1) != 0 {
				t.Errorf("%T at %v: %v, %v; want zeros, false", m, x, phi, ok)
			}
		}
	}
	for _, x := range []float64{-1, -1e-300, 0.5, 2.0000001, 3, 1e300} {
		if phi, ok := apply(t, tabular, []string{"a"}, x); ok || floats.Norm(phi, 1) != 0 {
			t.Errorf("tabular at %v: %v, %v; want zeros, false", x, phi, ok)
		}
	}
}

func drawMap(t *rapid.T) feature.Map {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return must(feature.NewTabular(rapid.IntRange(1, 50).Draw(t, "states"), "x"))
	case 1:
		n := rapid.IntRange(1, 50).Draw(t, "states")
		return must(feature.NewAggregation(n, rapid.IntRange(1, n).Draw(t, "of"), "x"))
	}
	low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
	r := feature.Range{Low: low, High: low + rapid.Float64Range(1e-3, 1e6).Draw(t, "width")}
	names, ranges := []string{"x", "y"}, []feature.Range{r, {Low: -1, High: 1}}
	switch order := rapid.IntRange(1, 9).Draw(t, "order"); rapid.IntRange(0, 3).Draw(t, "basis") {
	case 0:
		return must(feature.NewFourier(order, names, ranges))
	case 1:
		return must(feature.NewPolynomial(order, names, ranges, rapid.Bool().Draw(t, "symmetric")))
	case 2:
		return must(feature.NewRBF(order+1, rapid.Float64Range(0.06, 3).Draw(t, "width"), rapid.Bool().Draw(t, "normalized"), names, ranges))
	}
	o := feature.ColumnsOptions{Symmetric: rapid.Bool().Draw(t, "symmetric"), Intercept: rapid.Bool().Draw(t, "intercept")}
	if rapid.Bool().Draw(t, "products") {
		o.Products = [][]string{{"y", "x"}}
	}
	return must(feature.NewColumns(names, ranges, o))
}

// A product moves with its columns, so that the norm is largest in a corner of the
// ranges. In every corner, and beyond it, it is within the bound, and in one of them
// it is the bound: noise for more than that would be wasted.
func TestNormOfProductsIsLargestInACornerAndWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "columns")
		names, ranges := make([]string, n), make([]feature.Range, n)
		for i := range names {
			low := rapid.Float64Range(-1e3, 1e3).Draw(t, "low")
			names[i], ranges[i] = string(rune('a'+i)), feature.Range{Low: low, High: low + rapid.Float64Range(1e-3, 1e3).Draw(t, "width")}
		}
		o := feature.ColumnsOptions{Symmetric: rapid.Bool().Draw(t, "symmetric"), Intercept: rapid.Bool().Draw(t, "intercept")}
		for _, set := range rapid.SliceOfNDistinct(rapid.IntRange(0, 1<<n-1).Filter(func(set int) bool { return bits.OnesCount(uint(set)) > 1 }), 1, -1, rapid.ID[int]).Draw(t, "products") {
			var of []string
			for i, name := range names {
				if set>>i&1 == 1 {
					of = append(of, name)
				}
			}
			o.Products = append(o.Products, of)
		}
		m := must(feature.NewColumns(names, ranges, o))
		b, phi, obs, largest := must(m.Bind(names)), make([]float64, m.Dim()), make([]float64, n), 0.0
		beyond := rapid.Float64Range(0, 1e6).Draw(t, "beyond")
		for corner := range 1 << n {
			for i, r := range ranges {
				obs[i] = r.Low - beyond
				if corner>>i&1 == 1 {
					obs[i] = r.High + beyond
				}
			}
			if !b.Apply(phi, obs) {
				t.Fatalf("%v is not read", obs)
			}
			sum := 0.0 // of coordinates that are -1, 0 or 1: exact
			for _, x := range phi {
				sum += x * x
			}
			largest = max(largest, sum)
		}
		if bound := m.NormBound(); !(largest <= bound*bound) || largest != float64(m.Dim()) {
			t.Fatalf("%v: the largest squared norm of %d features is %v, the bound %v", o.Products, m.Dim(), largest, bound)
		}
	})
}

func TestNormBoundHoldsForEveryObservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		b := must(m.Bind([]string{"y", "x"}))
		phi := make([]float64, m.Dim())
		obs := []float64{rapid.Float64().Draw(t, "y"), rapid.Float64().Draw(t, "x")}
		b.Apply(phi, obs)
		// Every coordinate is at most 1 in size, so the sum of squares is exact to
		// within Dim ulps; the bound's own rounding is tested below.
		if !(floats.Norm(phi, 2) <= m.NormBound()*(1+1e-14)) {
			t.Fatalf("%#v at %v: |%v| exceeds %v", m, obs, phi, m.NormBound())
		}
	})
}

func TestNormBoundOfColumnsIsRoundedUp(t *testing.T) {
	for n := 1; n <= 300; n++ {
		names, ranges := make([]string, n), make([]feature.Range, n)
		for i := range names {
			names[i], ranges[i] = strings.Repeat("x", i+1), feature.Range{Low: 0, High: 1}
		}
		b := must(feature.NewColumns(names, ranges, feature.ColumnsOptions{})).NormBound()
		// b^2 >= n exactly, by a fused multiply-add, and b is no further off than
		// one ulp.
		if math.FMA(b, b, -float64(n)) < 0 || b > math.Nextafter(math.Sqrt(float64(n)), 1e9) {
			t.Errorf("bound of %d columns is %v", n, b)
		}
	}
}

func TestFiniteMapsAgreeWithTheirVectors(t *testing.T) {
	for _, m := range []feature.Finite{
		must(feature.NewTabular(7, "s")),
		must(feature.NewAggregation(7, 3, "s")),
	} {
		for s := range m.States() {
			phi, ok := apply(t, m, []string{"s"}, float64(s))
			if !ok || phi[m.Cell(s)] != 1 || floats.Sum(phi) != 1 {
				t.Errorf("%#v: phi(%d) = %v, cell %d", m, s, phi, m.Cell(s))
			}
		}
	}
}

func TestMissingColumnsAreNamed(t *testing.T) {
	for _, m := range []feature.Map{
		must(feature.NewTabular(3, "obs_state")),
		must(feature.NewAggregation(4, 2, "obs_state")),
		must(feature.NewColumns([]string{"obs_state"}, []feature.Range{{Low: 0, High: 1}}, feature.ColumnsOptions{})),
	} {
		b, err := m.Bind([]string{"obs_a", "obs_b"})
		if b != nil || !errors.Is(err, feature.ErrColumn) {
			t.Errorf("Bind(%T) = %v, %v; want ErrColumn", m, b, err)
			continue
		}
		for _, want := range []string{`"obs_state"`, "obs_a, obs_b"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: does not say %s", err, want)
			}
		}
	}
}

func TestSpecsBuildTheirMaps(t *testing.T) {
	for text, want := range map[string]feature.Map{
		`{"kind":"tabular","states":40,"column":"s"}`:          must(feature.NewTabular(40, "s")),
		`{"kind":"aggregate","states":40,"of":4,"column":"s"}`: must(feature.NewAggregation(40, 4, "s")),
		`{"kind":"columns","names":["x"],"low":[-1],"high":[3],"intercept":true}`: must(feature.NewColumns(
			[]string{"x"}, []feature.Range{{Low: -1, High: 3}}, feature.ColumnsOptions{Intercept: true})),
		`{"kind":"columns","names":["x","y"],"scale":{"y":2,"x":4}}`: must(feature.NewColumns(
			[]string{"x", "y"}, []feature.Range{{Low: -4, High: 4}, {Low: -2, High: 2}}, feature.ColumnsOptions{Symmetric: true})),
		`{"kind":"columns","names":["x","y"],"scale":{"y":2,"x":4},"products":[["y","x"]]}`: must(feature.NewColumns(
			[]string{"x", "y"}, []feature.Range{{Low: -4, High: 4}, {Low: -2, High: 2}}, feature.ColumnsOptions{Symmetric: true, Products: [][]string{{"y", "x"}}})),
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
		if d := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("%s: (-want +got)\n%s", text, d)
		}
	}
}

func TestImpossibleSpecsAreRefused(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"kind":"fourier"}`, `{"kind":"wavelet"}`,
		`{"kind":"fourier","names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"fourier","order":-1,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"fourier","order":300,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"fourier","order":3,"names":["x"],"low":[0]}`,
		`{"kind":"fourier","order":3,"names":["x"],"scale":{"x":1}}`,
		`{"kind":"fourier","order":3,"names":["x","x"],"low":[0,0],"high":[1,1]}`,
		`{"kind":"fourier","order":3,"names":["x"],"low":[1],"high":[1]}`,
		`{"kind":"fourier","order":3,"states":2,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"fourier","order":15,"names":["a","b","c","d","e","f"],"low":[0,0,0,0,0,0],"high":[1,1,1,1,1,1]}`,
		`{"kind":"polynomial","order":0,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"polynomial","order":2,"width":1,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"rbf","centers":1,"width":1,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"rbf","centers":3,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"rbf","centers":3,"width":0.001,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"rbf","centers":3,"width":1,"order":2,"names":["x"],"low":[0],"high":[1]}`,
		`{"kind":"tabular","column":"s"}`,
		`{"kind":"tabular","states":-1,"column":"s"}`,
		`{"kind":"tabular","states":1000000000000,"column":"s"}`,
		`{"kind":"tabular","states":4}`,
		`{"kind":"tabular","states":4,"column":"s","of":2}`,
		`{"kind":"aggregate","states":4,"column":"s"}`,
		`{"kind":"aggregate","states":4,"of":5,"column":"s"}`,
		`{"kind":"aggregate","states":4,"of":2,"column":"s","names":["x"]}`,
		`{"kind":"columns"}`,
		`{"kind":"columns","names":["x"]}`,
		`{"kind":"columns","names":["x"],"low":[0],"high":[0]}`,
		`{"kind":"columns","names":["x"],"low":[1],"high":[0]}`,
		`{"kind":"columns","names":["x"],"low":[-1e308],"high":[1e308]}`,
		`{"kind":"columns","names":["x"],"low":[0],"high":[5e-324]}`,
		`{"kind":"columns","names":["x","x"],"low":[0,0],"high":[1,1]}`,
		`{"kind":"columns","names":[""],"low":[0],"high":[1]}`,
		`{"kind":"columns","names":["x"],"scale":{"y":1}}`,
		`{"kind":"columns","names":["x"],"scale":{"x":1,"y":1}}`,
		`{"kind":"columns","names":["x"],"scale":{"x":0}}`,
		`{"kind":"columns","names":["x"],"scale":{"x":1},"low":[0]}`,
		`{"kind":"columns","names":["x"],"low":[0],"high":[1],"states":3}`,
		`{"kind":"columns","names":["x","y"],"low":[0,0],"high":[1,1],"products":[[]]}`,
		`{"kind":"columns","names":["x","y"],"low":[0,0],"high":[1,1],"products":[["x"]]}`,
		`{"kind":"columns","names":["x","y"],"low":[0,0],"high":[1,1],"products":[["x","z"]]}`,
		`{"kind":"columns","names":["x","y"],"low":[0,0],"high":[1,1],"products":[["x","y","x"]]}`,
		`{"kind":"columns","names":["x","y"],"scale":{"x":1,"y":1},"products":[["x","y"],["y","x"]]}`,
		`{"kind":"polynomial","order":2,"names":["x","y"],"low":[0,0],"high":[1,1],"products":[["x","y"]]}`,
	} {
		var s feature.Spec
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if m, err := s.Map(); m != nil || !errors.Is(err, feature.ErrMap) {
			t.Errorf("%s: %v, %v; want ErrMap", text, m, err)
		}
	}
}

func TestCheckNamesTheRowAndNoValue(t *testing.T) {
	d := &trajectory.Dataset{
		Columns: []string{"s"}, PersonStart: []int{0, 1, 2}, EpisodeStart: []int{0, 1, 3},
		Obs: []float64{1, 0, 1}, Reward: make([]float64, 3), Terminated: []bool{false, false},
		Final: []float64{0, 7777}, HasFinal: []bool{false, true},
		Origin: []string{"a.csv", "b.csv"}, FirstRow: []int{2, 41},
	}
	m := must(feature.NewTabular(2, "s"))
	err := feature.Check(m, d)
	if !errors.Is(err, feature.ErrObservation) || !errors.Is(err, trajectory.ErrInput) {
		t.Fatalf("Check: %v; want ErrObservation", err)
	}
	if text := err.Error(); !strings.HasPrefix(text, "b.csv:41: s: step 2 ") || strings.Contains(text, "7777") {
		t.Errorf("Check: %s", text)
	}
	d.Terminated[1] = true // what follows a terminal decision is never read
	if err := feature.Check(m, d); err != nil {
		t.Errorf("Check after termination: %v", err)
	}
	if _, left, err := feature.Repair(m, d); err != nil || left != 0 {
		t.Errorf("Repair after termination: %d left out, %v", left, err)
	}
	d.Terminated[1] = false
	if got, left, err := feature.Repair(m, d); err != nil || left != 1 || got.Persons() != 2 || feature.Check(m, got) != nil {
		t.Errorf("Repair: %d left out, %v, of %+v", left, err, got)
	}
	d.Terminated[1] = true
	d.Obs[1] = math.NaN()
	if err := feature.Check(m, d); err == nil || !strings.HasPrefix(err.Error(), "b.csv:41: s: step 0 ") {
		t.Errorf("Check: %v", err)
	}
}

func TestApplyAllocatesNothing(t *testing.T) {
	for _, m := range []feature.Map{
		must(feature.NewTabular(40, "s")), must(feature.NewAggregation(40, 2, "s")),
		must(feature.NewColumns([]string{"s", "t"}, []feature.Range{{Low: 0, High: 1}, {Low: 0, High: 1}}, feature.ColumnsOptions{Products: [][]string{{"s", "t"}}})),
	} {
		b, phi, obs := must(m.Bind([]string{"s", "t"})), make([]float64, m.Dim()), []float64{1, 0}
		if n := testing.AllocsPerRun(100, func() { b.Apply(phi, obs) }); n != 0 {
			t.Errorf("%T: Apply allocates %v times", m, n)
		}
	}
}
