package mechanism_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// near holds an average of n draws against its mean at five standard errors.
func near(t *testing.T, what string, got, want, sd float64, n int) {
	t.Helper()
	if !(math.Abs(got-want) <= 5*sd/math.Sqrt(float64(n))) {
		t.Errorf("%s is %v on average; want %v within %v", what, got, want, 5*sd/math.Sqrt(float64(n)))
	}
}

const draws = 4000

func TestMomentsAreUnbiasedAndSayTheirNoise(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		src := noise.NewSeeded(2)
		var sums, squares, counts [2]float64 // of x and of x^2 over draws
		var last mechanism.NoisyMoments
		for range draws {
			m, err := mechanism.NewMoments(0, 10, 1, adjacency, mechanism.Exact)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []float64{0, 2, 4, 99} { // centred: -5, -3, -1, 5
				if err := m.Add(x); err != nil {
					t.Fatal(err)
				}
			}
			last, _, err = m.Release(src)
			if err != nil {
				t.Fatal(err)
			}
			note := func(to *[2]float64, x float64) {
				to[0] += x / draws
				to[1] += x * x / draws
			}
			note(&sums, last.Sum)
			note(&squares, last.Squares)
			note(&counts, last.Count)
		}
		for name, c := range map[string]struct {
			got      [2]float64
			want, sd float64
		}{
			"sum": {sums, -4, last.SumSD}, "sum of squares": {squares, 60, last.SquaresSD}, "count": {counts, 4, last.CountSD},
		} {
			near(t, fmt.Sprint(adjacency, " ", name), c.got[0], c.want, c.sd+1e-9, draws)
			sd := math.Sqrt(max(c.got[1]-c.got[0]*c.got[0], 0))
			if math.Abs(sd-c.sd) > 5*c.sd/math.Sqrt(2*draws)+1e-5 {
				t.Errorf("%v: noise in the %s has standard deviation %v; the release says %v", adjacency, name, sd, c.sd)
			}
		}
	}
}

func TestSmoothAddsTheRoundingToTheBound(t *testing.T) {
	const bound, alpha = 0.5, 4.0
	s := mechanism.Smooth{Alpha: alpha, Beta: 0.1, Step: 0.25}
	src := noise.NewSeeded(3)
	value := []float64{1, 2, 3, 4}
	mean, square := 0.0, 0.0
	for range draws {
		out, event, err := s.Release(value, bound, src)
		if err != nil {
			t.Fatal(err)
		}
		if event != (dp.SmoothGaussian{Alpha: alpha, Beta: 0.1, Dimension: 4}) {
			t.Fatalf("event %v", event)
		}
		for i, v := range out {
			if v != math.Trunc(v/s.Step)*s.Step {
				t.Fatalf("%v is not on the lattice", v)
			}
			mean += (v - value[i]) / (4 * draws)
			square += (v - value[i]) * (v - value[i]) / (4 * draws)
		}
	}
	// The noise is scaled to the bound plus step * sqrt(4); its rounding to the
	// lattice adds step^2/12 to the variance.
	want := math.Sqrt(math.Pow(alpha*(bound+0.25*2), 2) + 0.25*0.25/12)
	near(t, "noise", mean, 0, want, 4*draws)
	if sd := math.Sqrt(square); math.Abs(sd/want-1) > 5/math.Sqrt(8*draws) {
		t.Errorf("noise has standard deviation %v; want %v", sd, want)
	}
}

func TestSmoothErrorsDoNotTellThePrivateScale(t *testing.T) {
	s := mechanism.Smooth{Alpha: 1, Beta: 0.1, Step: 1}
	for _, bound := range []float64{1e30, math.NaN(), math.Inf(1)} {
		_, _, err := s.Release([]float64{1}, bound, noise.NewSeeded(1))
		if !errors.Is(err, mechanism.ErrParameter) || err.Error() != "invalid mechanism parameter: the noise does not fit the public lattice of step 1" {
			t.Errorf("bound %v: %v", bound, err)
		}
	}
	if _, _, err := s.Release([]float64{math.NaN()}, 1, noise.NewSeeded(1)); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("a value that is not a number: %v; want ErrParameter", err)
	}
}

func TestSmoothStepIsFineAndFits(t *testing.T) {
	for _, c := range [][2]float64{{1, 1}, {1e-6, 1}, {1e-9, 1e-2}, {3, 5}} {
		step, err := mechanism.SmoothStep(c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		if step > c[0]/256 || c[1]/step > 1<<40 {
			t.Errorf("SmoothStep(%v, %v) = %v", c[0], c[1], step)
		}
	}
	for _, c := range [][2]float64{{0, 1}, {2, 1}, {1e-12, 1}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if _, err := mechanism.SmoothStep(c[0], c[1]); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("SmoothStep(%v, %v): %v; want ErrParameter", c[0], c[1], err)
		}
	}
}

func Example() {
	sum, err := mechanism.NewVectorSum(2, 1, 0.01, mechanism.Exact)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 100 {
		if err := sum.Add([]float64{30, 40}); err != nil { // clipped to (.6, .8)
			fmt.Println(err)
			return
		}
	}
	noisy, event, err := sum.Release(noise.NewSeeded(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f %.0f %s\n", noisy[0], noisy[1], event.Kind())
	// Output: 60 80 gaussian
}

func BenchmarkVectorSum(b *testing.B) {
	for _, dim := range []int{1, 40, 1000} {
		b.Run(fmt.Sprint("dimension=", dim), func(b *testing.B) {
			sum, err := mechanism.NewVectorSum(dim, 1, 1, mechanism.Exact)
			if err != nil {
				b.Fatal(err)
			}
			x := make([]float64, dim)
			for i := range x {
				x[i] = math.Sin(float64(i))
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := sum.Add(x); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "persons/s")
		})
	}
}
