package local

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Whatever the two directions' caps weigh within the certified bounds, the four
// ratios of the carrier's probabilities stay below e^epsilon.
func TestCapCertificateHoldsForEveryPairOfMasses(t *testing.T) {
	for _, dim := range []int{1, 10, 1000, maxCapDim} {
		for _, epsilon := range []float64{.001, .1, 1, 3, 8, 20} {
			r, err := NewPrivUnitG(dim, epsilon)
			if err != nil {
				t.Errorf("dimension %d, epsilon %v: %v", dim, epsilon, err)
				continue
			}
			b, err := NewBall(dim, 1, epsilon)
			if err != nil {
				t.Errorf("dimension %d, epsilon %v: %v", dim, epsilon, err)
				continue
			}
			for _, h := range []halfSpace{r.half, b.half} {
				low, high := h.capMass(math.Ceil(math.Sqrt(float64(dim))/2) + 1)
				checkMass(t, h, low, high)
				lie := lieProbability(h.lie)
				worst, gains := 0.0, []float64{}
				for _, q := range []float64{low, (low + high) / 2, high} {
					for _, s := range []float64{low, (low + high) / 2, high} {
						for _, a := range []float64{(1 - lie) / q, lie / (1 - q)} {
							for _, b := range []float64{(1 - lie) / s, lie / (1 - s)} {
								worst = max(worst, math.Log(a/b))
							}
						}
					}
					gains = append(gains, ((1-lie)/q-lie/(1-q))/h.gain)
				}
				if !(worst <= epsilon+1e-11) || worst < epsilon-1e-4 && epsilon < 20 && epsilon > .001 {
					t.Errorf("dimension %d: loss %v; want just below %v", dim, worst, epsilon)
				}
				// The bias that the documentation states.
				if d := (gains[0] - gains[2]) / gains[1]; epsilon >= 1 && !(math.Abs(d) < 1e-3) {
					t.Errorf("dimension %d, epsilon %v: the signal varies by %v", dim, epsilon, d)
				}
			}
		}
	}
}

// checkMass compares the bounds with the tails at the extremes of what rounding can
// do: half a step in each coordinate of the carrier and of the direction.
func checkMass(t *testing.T, h halfSpace, low, high float64) {
	t.Helper()
	half := math.Sqrt(float64(h.dim)) / 2
	gamma := float64(h.threshold) / (1 << 48)
	least := xmath.NormSF(gamma*(1<<24)/(1<<24-half) + half/(1<<24))
	most := xmath.NormSF(gamma*(1<<24)/(1<<24+half) - half/(1<<24))
	if low > least || high < most {
		t.Errorf("dimension %d: certified [%v, %v]; the mass may be in [%v, %v]", h.dim, low, high, least, most)
	}
	if high/low > 1+1e-3 {
		t.Errorf("dimension %d: certified [%v, %v] is wide", h.dim, low, high)
	}
}

// The bounds on a cap's mass against counts: 30000 carriers, 7 standard errors.
func TestCapsWeighWhatIsCertified(t *testing.T) {
	const n = 30_000
	r, err := NewPrivUnitG(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	low, high := r.half.capMass(2)
	src := noise.NewSeeded(2)
	for _, x := range [][]float64{{1, 0, 0, 0}, {1, 1, 1, 1}, {-.1, .7, 1e-9, -.3}} {
		u := make([]int32, 4)
		if !r.half.direction(u, x) {
			t.Fatal("no direction")
		}
		count := 0.0
		for range n {
			dot := int64(0)
			for _, v := range u {
				dot += int64(v) * r.half.carrier.Sample(src)
			}
			if dot >= r.half.threshold {
				count++
			}
		}
		if se := 7 * math.Sqrt(high/n); count/n < low-se || count/n > high+se {
			t.Errorf("the cap of %v has frequency %v; certified [%v, %v]", x, count/n, low, high)
		}
	}
}

func TestDirectionsHaveTheCertifiedLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64(), 1, 50).Draw(t, "x")
		h := halfSpace{dim: len(x)}
		slack := math.Ceil(math.Sqrt(float64(len(x)))/2) + 1
		h.least, h.largest = int64((directionLen-slack)*(directionLen-slack)), int64((directionLen+slack)*(directionLen+slack))
		u := make([]int32, len(x))
		if ok := h.direction(u, x); ok != (largest(x) > 0) {
			t.Fatalf("a direction: %v", ok)
		}
		for i, v := range u {
			if largest(x) > 0 && float64(v)*x[i] < 0 {
				t.Fatalf("coordinate %d changed its sign", i)
			}
		}
	})
	// The integer length has the last word, on both sides.
	const square = int64(directionLen) * directionLen
	for _, h := range []halfSpace{{least: square + 1, largest: 2 * square}, {least: 0, largest: square - 1}} {
		if h.direction(make([]int32, 2), []float64{1, 0}) {
			t.Errorf("a length outside [%d, %d] is accepted", h.least, h.largest)
		}
	}
	h := halfSpace{largest: 1 << 62}
	for _, x := range [][]float64{{0, 0}, {math.NaN(), 1}, {1, math.Inf(-1)}} {
		if h.direction(make([]int32, 2), x) {
			t.Errorf("%v has a direction", x)
		}
	}
}

// In one dimension the report's sign is randomised response on the vector's, as
// often as epsilon allows, and a vector without a direction gives a fair one. 7
// standard errors of 20000 reports: false alarm below 1e-11 each.
func TestBallKeepsItsPromiseInOneDimension(t *testing.T) {
	const n, epsilon = 20_000, 1.0
	b, err := NewBall(1, 2, epsilon)
	if err != nil {
		t.Fatal(err)
	}
	src := noise.NewSeeded(4)
	e := math.Exp(epsilon)
	for _, of := range [][2]float64{{2, e / (e + 1)}, {-2, 1 / (e + 1)}, {1e308, e / (e + 1)}, {1, .25/(e+1) + .75*e/(e+1)}, {0, .5}, {math.Inf(1), .5}} {
		x, want := of[0], of[1]
		count, sum, one := 0.0, 0.0, make([]float64, 1)
		for range n {
			if err := b.Estimate(one, b.Randomize(nil, []float64{x}, src)); err != nil {
				t.Fatal(err)
			}
			switch {
			case one[0] > 0:
				count++
			case one[0] == 0: // the carrier was rounded to 0: share it
				count += .5
			}
			sum += one[0] / n
		}
		if math.Abs(count/n-want) > 7*.5/math.Sqrt(n)+.02 {
			t.Errorf("x = %v: frequency of a plus %v; want %v", x, count/n, want)
		}
		mean := 2 * (2*want - 1) * (e + 1) / (e - 1)
		if spread := 7 * 2 / b.half.gain / math.Sqrt(n); math.Abs(sum-mean) > spread {
			t.Errorf("x = %v: mean estimate %v; want %v within %v", x, sum, mean, spread)
		}
	}
}

// The cap is hit with the probability that the certificate is about, and the
// estimate is unbiased: 7 standard errors of 20000 reports.
func TestPrivUnitGPointsTheRightWay(t *testing.T) {
	const n, dim = 20_000, 5
	x := []float64{3, -1, 0, 2, .5}
	length := math.Sqrt(14.25)
	for _, epsilon := range []float64{1, 4} {
		r, err := NewPrivUnitG(dim, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		src := noise.NewSeeded(6)
		sum, one := make([]float64, dim), make([]float64, dim)
		var report []byte
		inside, gamma := 0.0, bestGamma(epsilon)
		for range n {
			report = r.Randomize(report[:0], x, src)
			add(t, r, sum, one, report)
			dot := 0.0
			for i := range x {
				dot += one[i] * x[i] / length * r.half.gain
			}
			if dot >= gamma {
				inside++
			}
		}
		for i := range x {
			if se := 7 * 1.3 / r.half.gain / math.Sqrt(n); math.Abs(sum[i]/n-x[i]/length) > se {
				t.Errorf("epsilon %v: coordinate %d is %v on average; want %v within %v", epsilon, i, sum[i]/n, x[i]/length, se)
			}
		}
		p := 1 - lieProbability(r.half.lie)
		if math.Abs(inside/n-p) > 7*.5/math.Sqrt(n)+.03 { // the wire's rounding blurs the cap
			t.Errorf("epsilon %v: in the cap with frequency %v; want %v", epsilon, inside/n, p)
		}
	}
}

// Without a direction, the report is symmetric: no coordinate has a mean.
func TestPrivUnitGOnNothingIsSymmetric(t *testing.T) {
	const n = 20_000
	r, _ := NewPrivUnitG(2, 4)
	src := noise.NewSeeded(8)
	for _, x := range [][]float64{{0, 0}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		sum, one := make([]float64, 2), make([]float64, 2)
		for range n {
			add(t, r, sum, one, r.Randomize(nil, x, src))
		}
		if se := 7 * 2 / r.half.gain / math.Sqrt(n); !near(sum, []float64{0, 0}, se*n) {
			t.Errorf("mean estimate of %v: %v; want 0", x, sum)
		}
	}
}

// The best cap by plain search over a grid of distances, from the ratio of the two
// densities itself.
func TestPrivUnitGHasTheBestCap(t *testing.T) {
	for _, epsilon := range []float64{.1, 1, 2, 5, 10} {
		r, err := NewPrivUnitG(100, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		best := 0.0
		for g := 0.0; g < 3.45; g += .001 {
			q := xmath.NormSF(g)
			p := math.Exp(epsilon) * q / (1 - q + math.Exp(epsilon)*q)
			best = max(best, xmath.NormPDF(g)*(p/q-(1-p)/(1-q)))
		}
		if math.Abs(r.Signal()/best-1) > 1e-4 {
			t.Errorf("epsilon %v: signal %v; the best on a grid is %v", epsilon, r.Signal(), best)
		}
	}
}

func TestCapParametersOutOfRangeAreRefused(t *testing.T) {
	nan := math.NaN()
	for _, f := range []func() error{
		func() error { _, err := NewPrivUnitG(0, 1); return err },
		func() error { _, err := NewPrivUnitG(maxCapDim+1, 1); return err },
		func() error { _, err := NewPrivUnitG(3, nan); return err },
		func() error { _, err := NewBall(0, 1, 1); return err },
		func() error { _, err := NewBall(3, nan, 1); return err },
		func() error { _, err := NewBall(3, 1, 0); return err },
	} {
		if err := f(); !errors.Is(err, ErrParameter) {
			t.Errorf("%v; want ErrParameter", err)
		}
	}
}

func FuzzCapEstimate(f *testing.F) {
	r, _ := NewPrivUnitG(3, 1)
	b, _ := NewBall(3, 1, 1)
	f.Add(r.Randomize(nil, []float64{1, 2, 3}, noise.NewSeeded(1)))
	f.Add(b.Randomize(nil, []float64{1, 2, 3}, noise.NewSeeded(1)))
	for _, edge := range []string{"\x18\x80\x00\x00", "\x18\x81\x7f\x00", "\x28\x00\x00\x00", "\x19\x00\x00\x80", "\x18\x00\x00\x00\x00"} {
		f.Add([]byte(edge))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		shape := len(report) == 4 && report[1] != 0x80 && report[2] != 0x80 && report[3] != 0x80
		accepted(t, r, report, shape && report[0] == 0x18)
		accepted(t, b, report, shape && report[0] == 0x19)
	})
}
