package local

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
)

// hostile are vectors of length 3 that an input may be: every one of them must be
// as private as any other.
func hostile() [][]float64 {
	nan, inf := math.NaN(), math.Inf(1)
	return [][]float64{
		{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {.3, -.2, .9}, {-.3, .2, -.9}, {1e308, 1e308, -1e308}, {-1e308, -1e308, 1e308},
		{5e-324, 0, -5e-324}, {nan, 1, 1}, {1, inf, 0}, {-inf, 0, inf}, {1e-310, 1, 0}, {0, 7, 7}, {0, -7, -7},
	}
}

func vectorLaws(randomize func(x []float64, c coins) []byte) []map[string]float64 {
	var laws []map[string]float64
	for _, x := range hostile() {
		laws = append(laws, law(func(c coins) []byte { return randomize(x, c) }))
	}
	return laws
}

// matrix returns the projection's entries with their factor sqrt 3.
func (p projection) matrix() [][]float64 {
	e := p.entries()
	m := make([][]float64, p.rows)
	for i := range m {
		m[i] = make([]float64, p.dim)
		for j := range m[i] {
			m[i][j] = math.Sqrt(3) * float64(e.next())
		}
	}
	return m
}

func TestReducedDimension(t *testing.T) {
	for _, c := range []struct {
		dim     int
		epsilon float64
		want    int
	}{{100, .5, 1}, {100, 2.4, 1}, {100, 5, 2}, {100, 10, 4}, {2, 10, 2}, {100, 64, 25}} {
		if got := ReducedDim(c.dim, c.epsilon); got != c.want {
			t.Errorf("ReducedDim(%d, %v) = %d; want %d", c.dim, c.epsilon, got, c.want)
		}
	}
}

func TestSignPRSSpendsItsEpsilonExactly(t *testing.T) {
	for _, epsilon := range []float64{.1, 1, 5, 8} {
		for seed := range byte(20) {
			r, err := NewSignPRS(3, epsilon, Seed{seed})
			if err != nil {
				t.Fatal(err)
			}
			laws := vectorLaws(func(x []float64, c coins) []byte { return r.randomize(nil, x, signPlace, c) })
			tight := 1 - 1e-9
			for _, row := range r.matrix() {
				if near(row, []float64{0, 0, 0}, 0) {
					tight = 0 // this bit says nothing
				}
			}
			checkLaws(t, fmt.Sprintf("sign-PRS, epsilon %v, seed %d", epsilon, seed), laws, epsilon, tight)
		}
	}
}

func TestPRSSpendsItsEpsilonExactly(t *testing.T) {
	for _, rows := range []int{1, 2, 3} {
		for seed := range byte(20) {
			r, err := NewPRS(3, rows, .5, 3, Seed{seed})
			if err != nil {
				t.Fatal(err)
			}
			laws := vectorLaws(func(x []float64, c coins) []byte { return r.randomize(nil, x, r.place, c) })
			tight := 1 - 1e-9
			if rows == 3 {
				tight = .5 // no pair above has all three projections clipped apart
			}
			for _, row := range r.matrix() {
				if near(row, []float64{0, 0, 0}, 0) {
					tight = 0
				}
			}
			checkLaws(t, fmt.Sprintf("PRS, %d rows, seed %d", rows, seed), laws, 3, tight)
		}
	}
}

// The zero vector, one that is not finite and one that a projection does not see
// give fair bits.
func TestSignPRSOnNothingIsUniform(t *testing.T) {
	r, _ := NewSignPRS(3, 5, Seed{})
	for s := range byte(100) { // a projection that does not see one of the axes
		r, _ = NewSignPRS(3, 5, Seed{s})
		if m := r.matrix(); m[0][1] == 0 && m[1][1] == 0 {
			break
		}
	}
	for _, x := range [][]float64{{0, 0, 0}, {0, 2, 0}, {math.NaN(), 1, 1}, {1, math.Inf(1), 1}} {
		l := law(func(c coins) []byte { return r.randomize(nil, x, signPlace, c) })
		for report, p := range l {
			if len(l) != 4 || math.Abs(p-.25) > 1e-12 {
				t.Errorf("x = %v: report % x has probability %v of %d; want .25 of 4", x, report, p, len(l))
			}
		}
	}
}

// For a given projection, the expected report of PRS is M clip(Mx), which is
// computed here from the matrix itself.
func TestPRSHasTheMeanOfThePaper(t *testing.T) {
	x := []float64{.3, -.2, .9}
	for seed := range byte(30) {
		r, err := NewPRS(3, 2, 1, 2, Seed{seed})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, 3)
		for _, row := range r.matrix() {
			u := 0.0
			for j := range x {
				u += row[j] * x[j]
			}
			u = min(1, max(-1, u))
			for j := range want {
				want[j] += row[j] * u / 2 // divided by the number of rows
			}
		}
		got := mean(t, r, law(func(c coins) []byte { return r.randomize(nil, x, r.place, c) }))
		if !near(got, want, 1e-9) {
			t.Errorf("seed %d: mean estimate %v; want %v", seed, got, want)
		}
	}
}

// Equation (24) of the paper: the probability of a plus.
func TestPRSFlipsAsPrinted(t *testing.T) {
	const clip, epsilon = 2.0, 1.5
	r, _ := NewPRS(1, 1, clip, epsilon, Seed{})
	sign := 0.0
	for s := range byte(50) { // a seed with an entry other than 0
		r, _ = NewPRS(1, 1, clip, epsilon, Seed{s})
		if sign = r.matrix()[0][0]; sign != 0 {
			break
		}
	}
	for _, x := range []float64{-9, -1, -.5, 0, .1, .7, 9} {
		u := min(clip, max(-clip, sign*x))
		e := math.Exp(epsilon)
		want := 1/(e+1) + (u+clip)/(2*clip)*(e-1)/(e+1)
		got := law(func(c coins) []byte { return r.randomize(nil, []float64{x}, r.place, c) })["\x14\x01"]
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("x = %v: probability %v; want %v", x, got, want)
		}
	}
}

// Over seeds, PRS without clipping is unbiased and sign-PRS points the right way.
// 7 standard errors of 40000 independent reports: false alarm below 1e-10 over
// the coordinates, with a fixed seed.
func TestProjectionsAreUnbiasedOverSeeds(t *testing.T) {
	const n, dim = 40_000, 40
	x := make([]float64, dim)
	norm := 0.0
	src := noise.NewSeeded(3)
	for i := range x {
		x[i] = float64(src.Uint64n(2001))/1000 - 1
		norm += x[i] * x[i]
	}
	norm = math.Sqrt(norm)
	sum, sumSign, one := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	var squares, squaresSign float64
	var report []byte
	for i := range n {
		seed := Seed{byte(i), byte(i >> 8), byte(i >> 16), 1}
		p, err := NewPRS(dim, 2, 60, 4, seed) // |Mx| <= sqrt 3 |x|_1 < 70
		if err != nil {
			t.Fatal(err)
		}
		report = p.Randomize(report[:0], x, src)
		squares += add(t, p, sum, one, report)
		s, err := NewSignPRS(dim, 4, seed)
		if err != nil {
			t.Fatal(err)
		}
		report = s.Randomize(report[:0], x, src)
		squaresSign += add(t, s, sumSign, one, report)
	}
	for i := range x {
		if se := math.Sqrt(squares/n/dim/n) * 7; math.Abs(sum[i]/n-x[i]) > se {
			t.Errorf("PRS: coordinate %d is %v on average; want %v within %v", i, sum[i]/n, x[i], se)
		}
		// The limit theorem is good to some per cent at 40 coordinates.
		if se := math.Sqrt(squaresSign/n/dim/n) * 7; math.Abs(sumSign[i]/n-x[i]/norm) > se+.05*math.Abs(x[i]/norm) {
			t.Errorf("sign-PRS: coordinate %d is %v on average; want %v within %v", i, sumSign[i]/n, x[i]/norm, se)
		}
	}
}

// add adds an estimate to sum and returns its squared norm.
func add(t *testing.T, r Vector, sum, one []float64, report []byte) float64 {
	t.Helper()
	if err := r.Estimate(one, report); err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for i, v := range one {
		sum[i] += v
		squares += v * v
	}
	return squares
}

// The matrix is part of the protocol: both sides must make the same one, in every
// version. Frequencies of the entries: 7 standard errors of 60000.
func TestProjectionIsWhatBothSidesAgreedOn(t *testing.T) {
	p := projection{dim: 24, rows: 1, seed: Seed{1, 2, 3}}
	var got []int
	for _, v := range p.matrix()[0] {
		got = append(got, int(math.Round(v/math.Sqrt(3))))
	}
	// From Python's hashlib and the description at projection.
	const want = "[0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 1 0]"
	if fmt.Sprint(got) != want {
		t.Errorf("the projection of the seed changed: %v", got)
	}
	count := map[int]float64{}
	e := projection{seed: Seed{9}}.entries()
	const n = 60_000
	for range n {
		count[e.next()]++
	}
	for v, p := range map[int]float64{-1: 1. / 6, 0: 2. / 3, 1: 1. / 6} {
		if se := math.Sqrt(p * (1 - p) / n); math.Abs(count[v]/n-p) > 7*se {
			t.Errorf("entry %d has frequency %v; want %v", v, count[v]/n, p)
		}
	}
}

func TestProjectionParametersOutOfRangeAreRefused(t *testing.T) {
	nan := math.NaN()
	for _, f := range []func() error{
		func() error { _, err := NewSignPRS(0, 1, Seed{}); return err },
		func() error { _, err := NewSignPRS(maxDim+1, 1, Seed{}); return err },
		func() error { _, err := NewSignPRS(3, nan, Seed{}); return err },
		func() error { _, err := NewSignPRS(3, 0, Seed{}); return err },
		func() error { _, err := NewPRS(3, 4, 1, 1, Seed{}); return err },
		func() error { _, err := NewPRS(3, 0, 1, 1, Seed{}); return err },
		func() error { _, err := NewPRS(5000, 5000, 1, 1, Seed{}); return err },
		func() error { _, err := NewPRS(3, 1, nan, 1, Seed{}); return err },
		func() error { _, err := NewPRS(3, 1, 0, 1, Seed{}); return err },
		func() error { _, err := NewPRS(3, 1, math.Inf(1), 1, Seed{}); return err },
	} {
		if err := f(); !errors.Is(err, ErrParameter) {
			t.Errorf("%v; want ErrParameter", err)
		}
	}
}

func FuzzProjectionEstimate(f *testing.F) {
	s, _ := NewSignPRS(6, 10, Seed{1})
	p, _ := NewPRS(12, 9, 1, 20, Seed{1})
	f.Add(s.Randomize(nil, make([]float64, 6), noise.NewSeeded(1)))
	f.Add(p.Randomize(nil, make([]float64, 12), noise.NewSeeded(1)))
	f.Add([]byte{0x23, 0})
	f.Add([]byte{0x13, 1 << 4})    // a bit beyond the last
	f.Add([]byte{0x14, 0xff, 0x2}) // likewise
	f.Add([]byte{0x14, 0xff, 0x1})
	f.Fuzz(func(t *testing.T, report []byte) {
		accepted(t, s, report, len(report) == 2 && report[0] == 0x13 && report[1] < 16)
		accepted(t, p, report, len(report) == 3 && report[0] == 0x14 && report[2] < 2)
	})
}

// accepted asserts that a report is accepted exactly if it is valid, and that an
// accepted one has a finite estimate.
func accepted(t *testing.T, r Vector, report []byte, valid bool) {
	t.Helper()
	dst := make([]float64, r.Dim())
	before := bytes.Clone(report)
	err := r.Estimate(dst, report)
	if (err == nil) != valid || err != nil && !errors.Is(err, ErrReport) {
		t.Errorf("%T on % x: %v; valid: %v", r, report, err, valid)
	}
	if !bytes.Equal(before, report) {
		t.Errorf("%T changed the report", r)
	}
	for _, v := range dst {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%T on % x: estimate %v", r, report, dst)
		}
	}
}
