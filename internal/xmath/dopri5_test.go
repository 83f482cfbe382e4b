package xmath_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// problem is an initial value problem with a solution in closed form.
type problem struct {
	name     string
	f        func(dst []float64, t float64, y []float64)
	from, to float64
	solution func(t float64) []float64
}

func problems() []problem {
	return []problem{
		{"decay", func(dst []float64, _ float64, y []float64) { dst[0] = -3 * y[0] },
			0, 2, func(t float64) []float64 { return []float64{2 * math.Exp(-3*t)} }},
		{"oscillator", func(dst []float64, _ float64, y []float64) { dst[0], dst[1] = y[1], -y[0] },
			0, 10, func(t float64) []float64 { return []float64{math.Sin(t), math.Cos(t)} }},
		{"logistic", func(dst []float64, _ float64, y []float64) { dst[0] = y[0] * (1 - y[0]) },
			-5, 5, func(t float64) []float64 { return []float64{1 / (1 + math.Exp(-t))} }},
		{"time alone", func(dst []float64, t float64, _ []float64) { dst[0] = 1 / (1 + t*t) },
			-1, 3, func(t float64) []float64 { return []float64{math.Atan(t)} }},
		{"bell", func(dst []float64, t float64, y []float64) { dst[0] = -2 * t * y[0] },
			-1, 2, func(t float64) []float64 { return []float64{math.Exp(-t * t)} }},
		{"backwards", func(dst []float64, t float64, y []float64) { dst[0] = y[0] / (t + 1) },
			4, 0, func(t float64) []float64 { return []float64{t + 1} }},
	}
}

func distance(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
		if math.IsNaN(a[i]) {
			return math.Inf(1)
		}
	}
	return worst
}

func TestDopri5MatchesClosedForms(t *testing.T) {
	for _, p := range problems() {
		for _, tol := range []float64{1e-4, 1e-7, 1e-10, 1e-13} {
			y := p.solution(p.from)
			d := xmath.NewDopri5(len(y), p.f)
			d.RelTol, d.AbsTol = tol, tol
			if err := d.Integrate(y, p.from, p.to); err != nil {
				t.Errorf("%s at %v: %v", p.name, tol, err)
				continue
			}
			// Local errors of size tol add up over the span; none of these problems
			// enlarges them by more than the factor 30 that is left here.
			if err := distance(y, p.solution(p.to)); !(err <= 30*tol+1e-14) {
				t.Errorf("%s: tolerance %v: error %v", p.name, tol, err)
			}
		}
	}
}

// The weights of a method of order 5 integrate t^4 exactly and t^5 not.
func TestDopri5IntegratesPowersUpToFourExactly(t *testing.T) {
	for power := range 7 {
		d := xmath.NewDopri5(1, func(dst []float64, t float64, _ []float64) { dst[0] = math.Pow(t, float64(power)) })
		d.RelTol, d.AbsTol, d.FirstStep = 1e9, 1e9, 1
		y := []float64{0}
		if err := d.Integrate(y, 0, 1); err != nil || d.Steps() != 1 {
			t.Fatalf("power %d: %d steps, %v", power, d.Steps(), err)
		}
		err := math.Abs(y[0] - 1/float64(power+1))
		if exact := power <= 4; exact != (err <= 4e-16) {
			t.Errorf("integral of t^%d in one step: error %v", power, err)
		}
	}
}

// fixed is the error of a number of equal steps at the end, and the worst error
// of the interpolant on the way.
func fixed(t *testing.T, p problem, steps int) (atEnd, between float64) {
	y := p.solution(p.from)
	d := xmath.NewDopri5(len(y), p.f)
	d.RelTol, d.AbsTol = 1e9, 1e9
	d.FirstStep = math.Abs(p.to-p.from) / float64(steps)
	d.MaxStep = d.FirstStep
	if err := d.Start(y, p.from, p.to); err != nil {
		t.Fatal(err)
	}
	for before := p.from; !d.Done(); before = d.Time() {
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []float64{0.2, 0.5, 0.9} {
			at := before + s*(d.Time()-before)
			d.At(y, at)
			between = max(between, distance(y, p.solution(at)))
		}
	}
	if d.Steps() != steps {
		t.Fatalf("%s: %d steps, want %d", p.name, d.Steps(), steps)
	}
	return distance(d.Value(), p.solution(p.to)), between
}

// Halving the step divides the error at the end by 2^5. The interpolant has a
// local error of order 5, which the steps before it do not enlarge beyond the
// method's own.
func TestDopri5ConvergesWithItsOrder(t *testing.T) {
	for _, p := range problems()[:5] {
		end0, between0 := fixed(t, p, 64)
		end1, between1 := fixed(t, p, 128)
		if order := math.Log2(end0 / end1); !(order > 4.6 && order < 6.5) {
			t.Errorf("%s: order %v at the end (errors %v, %v)", p.name, order, end0, end1)
		}
		if order := math.Log2(between0 / between1); !(order > 4.3 && order < 6.5) {
			t.Errorf("%s: order %v between steps (errors %v, %v)", p.name, order, between0, between1)
		}
	}
}

// The interpolant meets the step's ends and is as accurate as the tolerance
// asks.
func TestDopri5InterpolatesWithinTheTolerance(t *testing.T) {
	for _, p := range problems() {
		y := p.solution(p.from)
		d := xmath.NewDopri5(len(y), p.f)
		d.RelTol, d.AbsTol = 1e-9, 1e-9
		if err := d.Start(y, p.from, p.to); err != nil {
			t.Fatal(err)
		}
		for !d.Done() {
			before := d.Time()
			begin := append([]float64(nil), d.Value()...)
			if err := d.Step(); err != nil {
				t.Fatal(err)
			}
			for i := range 11 {
				at := before + float64(i)/10*(d.Time()-before)
				if i == 10 {
					at = d.Time()
				}
				d.At(y, at)
				if err := distance(y, p.solution(at)); !(err <= 1e-7) {
					t.Fatalf("%s at %v: error %v", p.name, at, err)
				}
			}
			if distance(y, d.Value()) > 1e-15 {
				t.Fatalf("%s: the interpolant ends at %v, the step at %v", p.name, y, d.Value())
			}
			if d.At(y, before); distance(y, begin) > 1e-15 {
				t.Fatalf("%s: the interpolant begins at %v, the step at %v", p.name, y, begin)
			}
		}
	}
}

// The orbit of Hairer, Norsett and Wanner, II.0: the restricted three-body
// problem of Arenstorf closes after the period that they print.
func TestDopri5ClosesTheArenstorfOrbit(t *testing.T) {
	const mu, period = 0.012277471, 17.0652165601579625588917206249
	f := func(dst []float64, _ float64, y []float64) {
		a, b := y[0]+mu, y[0]-(1-mu)
		d1 := math.Pow(a*a+y[1]*y[1], 1.5)
		d2 := math.Pow(b*b+y[1]*y[1], 1.5)
		dst[0], dst[1] = y[2], y[3]
		dst[2] = y[0] + 2*y[3] - (1-mu)*a/d1 - mu*b/d2
		dst[3] = y[1] - 2*y[2] - (1-mu)*y[1]/d1 - mu*y[1]/d2
	}
	start := []float64{0.994, 0, 0, -2.00158510637908252240537862224}
	y := append([]float64(nil), start...)
	d := xmath.NewDopri5(4, f)
	d.RelTol, d.AbsTol = 1e-13, 1e-13
	if err := d.Integrate(y, 0, period); err != nil {
		t.Fatal(err)
	}
	if gap := distance(y[:2], start[:2]); !(gap <= 1e-6) {
		t.Errorf("the orbit is open by %v after %d steps", gap, d.Steps())
	}
}

func TestDopri5SaysWhenItCannotGoOn(t *testing.T) {
	blowUp := func(dst []float64, _ float64, y []float64) { dst[0] = y[0] * y[0] }
	stiff := func(dst []float64, _ float64, y []float64) { dst[0] = -1e6 * (y[0] - 1) }
	nan := func(dst []float64, _ float64, _ []float64) { dst[0] = math.NaN() }
	for _, c := range []struct {
		name     string
		f        func([]float64, float64, []float64)
		to       float64
		rel, abs float64
	}{
		{"pole at time 1", blowUp, 2, 1e-8, 1e-8},
		{"stiff", stiff, 10, 1e-8, 1e-8},
		{"not a number", nan, 1, 1e-8, 1e-8},
		{"no tolerance", stiff, 1, 0, 0},
		{"negative tolerance", stiff, 1, -1, 2},
		{"endless", stiff, math.Inf(1), 1, 1},
	} {
		d := xmath.NewDopri5(1, c.f)
		d.RelTol, d.AbsTol, d.MaxSteps = c.rel, c.abs, 20_000
		y := []float64{1.5}
		if err := d.Integrate(y, 0, c.to); !errors.Is(err, xmath.ErrIntegration) || y[0] != 1.5 {
			t.Errorf("%s: y = %v, %v; want ErrIntegration and y unchanged", c.name, y, err)
		}
	}
}

func TestDopri5FromATimeToItself(t *testing.T) {
	d := xmath.NewDopri5(1, func(dst []float64, _ float64, _ []float64) { dst[0] = 1 })
	y := []float64{7}
	if err := d.Integrate(y, 3, 3); err != nil || y[0] != 7 || d.Steps() != 0 {
		t.Errorf("y = %v after %d steps, %v", y, d.Steps(), err)
	}
}

func TestDopri5AllocatesNothing(t *testing.T) {
	p := problems()[1]
	d := xmath.NewDopri5(2, p.f)
	y := []float64{0, 1}
	if n := testing.AllocsPerRun(20, func() {
		y[0], y[1] = 0, 1
		if err := d.Integrate(y, 0, 1); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Integrate allocates %v times", n)
	}
}

func ExampleDopri5() {
	// A pendulum's small swing, one full period.
	d := xmath.NewDopri5(2, func(dst []float64, _ float64, y []float64) { dst[0], dst[1] = y[1], -y[0] })
	d.RelTol, d.AbsTol = 1e-10, 1e-10
	y := []float64{1, 0}
	err := d.Integrate(y, 0, 2*math.Pi)
	fmt.Printf("%.6f %.6f %v\n", y[0], math.Abs(y[1]), err)
	// Output: 1.000000 0.000000 <nil>
}

func BenchmarkDopri5Oscillator(b *testing.B) {
	d := xmath.NewDopri5(2, problems()[1].f)
	d.RelTol, d.AbsTol = 1e-9, 1e-9
	y := []float64{0, 0}
	steps := 0
	for b.Loop() {
		y[0], y[1] = 0, 1
		if err := d.Integrate(y, 0, 10); err != nil {
			b.Fatal(err)
		}
		steps += d.Steps()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}
