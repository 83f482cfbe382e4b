package local

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/discreet-rl/discreet/dp/noise"
)

// The mass of a cap in closed form: an angle in dimension 2, Archimedes' hat-box in
// 3, and integrals of the density sqrt(1-t^2) and 1-t^2 in 4 and 5.
func TestCapOfASphereMatchesClosedForms(t *testing.T) {
	forms := map[int]func(t float64) float64{
		2: func(t float64) float64 { return math.Acos(t) / math.Pi },
		3: func(t float64) float64 { return (1 - t) / 2 },
		4: func(t float64) float64 { return (math.Acos(t) - t*math.Sqrt((1-t)*(1+t))) / math.Pi },
		5: func(t float64) float64 { return .5 - .75*(t-t*t*t/3) },
	}
	for dim, form := range forms {
		s := newSphere(dim)
		for h := 0.0; h < .97; h += 1. / 64 {
			low, high := s.tail(h)
			if want := form(h); want < low-4e-16 || want > high+4e-16 {
				t.Errorf("dimension %d, height %v: certified [%v, %v]; it is %v", dim, h, low, high, want)
			}
			if high-low > 1e-13 {
				t.Errorf("dimension %d, height %v: [%v, %v] is wide", dim, h, low, high)
			}
		}
	}
}

// The incomplete beta function of package mathext as an independent oracle: its own error
// is some 1e-12 in dimension 1000.
func TestCapOfASphereMatchesTheIncompleteBetaFunction(t *testing.T) {
	for _, dim := range []int{2, 3, 6, 7, 20, 33, 112, 500, 1000} {
		s := newSphere(dim)
		for g := 0.0; g < 3.6; g += .1 {
			h := g / math.Sqrt(float64(dim))
			if h >= 1 {
				h = 1 - math.Exp2(-g)
			}
			low, high := s.tail(h)
			want := mathext.RegIncBeta(float64(dim-1)/2, .5, (1-h)*(1+h)) / 2
			if math.Abs(want-(low+high)/2) > 1e-12 || !(low <= high) || high-low > 1e-11 {
				t.Errorf("dimension %d, height %v: certified [%v, %v]; mathext says %v", dim, h, low, high, want)
			}
		}
	}
}

func TestCapOfASphereAtItsEnds(t *testing.T) {
	for _, dim := range []int{2, 3, 112, maxCapDim} {
		s := newSphere(dim)
		if low, high := s.tail(0); low > .5 || high < .5 || high-low > 1e-15 {
			t.Errorf("dimension %d: half the sphere weighs [%v, %v]", dim, low, high)
		}
		for _, h := range []float64{1, 2} {
			if low, high := s.tail(h); low != 0 || high > 1e-17 {
				t.Errorf("dimension %d: no cap at %v, but it weighs [%v, %v]", dim, h, low, high)
			}
		}
		if low, high := s.tail(.9999); low < 0 || high <= 0 || math.IsNaN(low+high) {
			t.Errorf("dimension %d: [%v, %v] near the pole", dim, low, high)
		}
		// The centroid of half a sphere is the mean of |t| over 2: by parts norm/(dim-1), and
		// in dimension 2 that is 1/pi, in 3 1/4.
		want := map[int]float64{2: 1 / math.Pi, 3: .25}
		if w, ok := want[dim]; ok && math.Abs(s.centroid(0)-w) > 1e-15 {
			t.Errorf("dimension %d: centroid %v; want %v", dim, s.centroid(0), w)
		}
	}
}

// Whatever two caps weigh within the certified bounds, the four ratios stay below
// e^epsilon, and one of them nearly reaches it.
func TestPrivUnitCertificateHoldsForEveryPairOfMasses(t *testing.T) {
	for _, dim := range []int{2, 3, 10, 112, 1000, maxCapDim} {
		for _, epsilon := range []float64{.001, .1, 1, 3, 8, 20} {
			r, err := NewPrivUnit(dim, epsilon)
			if dim == 2 && epsilon == 20 { // the best cap is too thin for the lattice
				if !errors.Is(err, ErrParameter) {
					t.Errorf("dimension %d, epsilon %v: %v; want ErrParameter", dim, epsilon, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("dimension %d, epsilon %v: %v", dim, epsilon, err)
				continue
			}
			s := newSphere(dim)
			low, high := r.cap.capMass(s, math.Ceil(math.Sqrt(float64(dim))/2)+1)
			if m := s.mass(r.cap.height); !(low < m && m < high) || high/low > 1+2e-3 && epsilon <= 3 {
				t.Errorf("dimension %d, epsilon %v: mass %v, certified [%v, %v]", dim, epsilon, m, low, high)
			}
			lie, worst := lieProbability(r.cap.lie), 0.0
			for _, q := range []float64{low, (low + high) / 2, high} {
				for _, s := range []float64{low, (low + high) / 2, high} {
					for _, a := range []float64{(1 - lie) / q, lie / (1 - q)} {
						for _, b := range []float64{(1 - lie) / s, lie / (1 - s)} {
							worst = max(worst, math.Log(a/b))
						}
					}
				}
			}
			if !(worst <= epsilon+1e-11) || worst < epsilon-1e-4 && epsilon < 20 && epsilon > .001 {
				t.Errorf("dimension %d: loss %v; want just below %v", dim, worst, epsilon)
			}
		}
	}
}

// The rounding of the carrier and of the direction by half a step, at the length that the
// bound assumes, moves the cap by less than what is certified.
func TestPrivUnitMassCoversTheRounding(t *testing.T) {
	for _, dim := range []int{50, 112, 1000} {
		r, err := NewPrivUnit(dim, 2)
		if err != nil {
			t.Fatal(err)
		}
		s := newSphere(dim)
		low, high := r.cap.capMass(s, math.Ceil(math.Sqrt(float64(dim))/2)+1)
		move := .5 / (.7 * carrierSigma) // half a step over 0.7 of the usual length
		turn := math.Sqrt(float64(dim)) / 2 / directionLen
		least, _ := s.tail(r.cap.height*(1+turn) + move)
		_, most := s.tail(r.cap.height*(1-turn) - move)
		if low > least || high < most {
			t.Errorf("dimension %d: certified [%v, %v]; the mass may be in [%v, %v]", dim, low, high, least, most)
		}
	}
}

// How often the carrier's direction falls into a cap, against the certified bounds: 20000
// carriers each, 7 standard errors. So also for a cap around the wrong end.
func TestCapsOfASphereWeighWhatIsCertified(t *testing.T) {
	const n = 20_000
	src := noise.NewSeeded(12)
	for _, dim := range []int{2, 5} {
		s := newSphere(dim)
		c, err := newSphereCap(s, .6, 2)
		if err != nil {
			t.Fatal(err)
		}
		low, high := c.capMass(s, 3)
		c.lie = 0 // always in the cap: reports are uniform there
		u, z := make([]int32, dim), make([]int32, dim)
		x := make([]float64, dim)
		x[0], x[dim-1] = -3, 4
		if !c.direction(u, x) {
			t.Fatal("no direction")
		}
		// Among carriers of the whole sphere, those in the cap.
		free := c
		free.limit = math.Inf(-1)
		count := 0.0
		for range n {
			free.sample(nil, u, z, src)
			dot, squares := 0.0, 0.0
			for i, k := range z {
				dot += float64(u[i]) * float64(k)
				squares += float64(k) * float64(k)
			}
			if dot >= .6*directionLen*math.Sqrt(squares) {
				count++
			}
		}
		if se := 7 * math.Sqrt(high/n); count/n < low-se || count/n > high+se {
			t.Errorf("dimension %d: the cap has frequency %v; certified [%v, %v]", dim, count/n, low, high)
		}
	}
}

// The mean of the estimate is the unit vector: 40000 reports, 7 standard errors
// (a coordinate of an estimate is at most 1/gain with its rounding), and the report is in the
// cap as often as it should.
func TestPrivUnitIsUnbiased(t *testing.T) {
	const n = 40_000
	for _, dim := range []int{2, 3, 8} {
		for _, epsilon := range []float64{1, 4} {
			r, err := NewPrivUnit(dim, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			src := noise.NewSeeded(uint64(dim))
			x := make([]float64, dim)
			x[0], x[1] = .6e200, -.8e200
			sum, one := make([]float64, dim), make([]float64, dim)
			for range n {
				add(t, r, sum, one, r.Randomize(nil, x, src))
			}
			for i := range x {
				if se := 7 * 1.2 / r.cap.gain / math.Sqrt(n); math.Abs(sum[i]/n-x[i]/1e200) > se {
					t.Errorf("dimension %d, epsilon %v: coordinate %d is %v on average; want %v within %v", dim, epsilon, i, sum[i]/n, x[i]/1e200, se)
				}
			}
		}
	}
}

func TestPrivUnitOnNothingIsSymmetric(t *testing.T) {
	const n = 20_000
	r, err := NewPrivUnit(3, 4)
	if err != nil {
		t.Fatal(err)
	}
	src := noise.NewSeeded(9)
	for _, x := range [][]float64{{0, 0, 0}, {math.NaN(), 1, 0}, {math.Inf(1), 1, 0}} {
		sum, one := make([]float64, 3), make([]float64, 3)
		for range n {
			add(t, r, sum, one, r.Randomize(nil, x, src))
		}
		if se := 7 / r.cap.gain / math.Sqrt(n); !near(sum, make([]float64, 3), se*n) {
			t.Errorf("mean estimate of %v: %v; want 0 within %v", x, sum, se*n)
		}
	}
}

// The best cap by plain search over a grid of heights, with the mass of mathext and the
// centroid integrated numerically.
func TestPrivUnitHasTheBestCap(t *testing.T) {
	for _, dim := range []int{3, 112} {
		for _, epsilon := range []float64{.1, 1, 5} {
			r, err := NewPrivUnit(dim, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if best := bestOnGrid(dim, epsilon); math.Abs(r.cap.gain/best-1) > 1e-3 {
				t.Errorf("dimension %d, epsilon %v: cosine %v; the best on a grid is %v", dim, epsilon, r.cap.gain, best)
			}
		}
	}
}

// bestOnGrid sums the density of one coordinate on 2^16 cells from the pole.
func bestOnGrid(dim int, epsilon float64) float64 {
	const cells = 1 << 16
	density := func(t float64) float64 { return math.Pow((1-t)*(1+t), float64(dim-3)/2) }
	whole := 0.0
	for i := range cells {
		whole += 2 * density((float64(i)+.5)/cells)
	}
	best, q, m := 0.0, 0.0, 0.0
	for i := cells - 1; i >= 0; i-- {
		t := (float64(i) + .5) / cells
		q += density(t) / whole
		m += t * density(t) / whole
		p := math.Exp(epsilon) * q / (1 - q + math.Exp(epsilon)*q)
		best = max(best, m*(p/q-(1-p)/(1-q)))
	}
	return best
}

func TestPrivUnitRefusesWhatItCannotDo(t *testing.T) {
	for _, f := range []func() error{
		func() error { _, err := NewPrivUnit(1, 1); return err },
		func() error { _, err := NewPrivUnit(maxCapDim+1, 1); return err },
		func() error { _, err := NewPrivUnit(3, math.NaN()); return err },
		func() error { _, err := newSphereCap(newSphere(3), 1, 1); return err }, // a cap without mass
	} {
		if err := f(); !errors.Is(err, ErrParameter) {
			t.Errorf("%v; want ErrParameter", err)
		}
	}
}

func FuzzPrivUnitEstimate(f *testing.F) {
	r, _ := NewPrivUnit(3, 1)
	f.Add(r.Randomize(nil, []float64{1, 2, 3}, noise.NewSeeded(1)))
	for _, edge := range []string{"\x1a\x80\x00\x00", "\x1a\x81\x7f\x00", "\x18\x00\x00\x00", "\x2a\x00\x00\x00", ""} {
		f.Add([]byte(edge))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		shape := len(report) == 4 && report[1] != 0x80 && report[2] != 0x80 && report[3] != 0x80
		accepted(t, r, report, shape && report[0] == 0x1a)
	})
}
