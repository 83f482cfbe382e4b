package noise

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// falseAlarm is the probability with which one statistical test of this package
// would reject a correct sampler under a fresh seed. The seeds are fixed, so a
// test that passes once passes always.
const falseAlarm = 1e-9

// integerSampler is what the four exact samplers have in common.
type integerSampler interface {
	Sample(*Source) int64
	Fill([]int64, *Source)
}

// law is a sampler with the exact law that it claims.
type law struct {
	name string
	make func(scale float64) (integerSampler, error)
	// below returns P(K < k) for k <= 0, to about 14 digits. The laws are
	// symmetric.
	below func(scale float64, k int64) float64
}

var laws = []law{
	{"Gaussian",
		func(x float64) (integerSampler, error) { return NewGaussian(x) },
		func(x float64, k int64) float64 { return math.Erfc((0.5-float64(k))/(x*math.Sqrt2)) / 2 }},
	{"Laplace",
		func(x float64) (integerSampler, error) { return NewLaplace(x) },
		func(x float64, k int64) float64 {
			if k == 0 {
				return math.Exp(-0.5/x) / 2
			}
			return math.Exp((float64(k)-0.5)/x) / 2
		}},
	{"DiscreteGaussian",
		func(x float64) (integerSampler, error) { return NewDiscreteGaussian(x) },
		discreteGaussianBelow},
	{"DiscreteLaplace",
		func(x float64) (integerSampler, error) { return NewDiscreteLaplace(x) },
		func(x float64, k int64) float64 { return math.Exp((float64(k)-1)/x) / (1 + math.Exp(-1/x)) }},
}

// discreteGaussianBelow sums the law for small sigma. For large sigma it uses
// the midpoint rule with its first correction, whose relative error is of the
// order of sigma^-4.
func discreteGaussianBelow(sigma float64, k int64) float64 {
	f := func(x float64) float64 { return math.Exp(-x * x / (2 * sigma * sigma)) }
	if sigma <= 200 {
		tail := func(from int64) (sum float64) {
			for i := from + int64(40*sigma) + 2; i >= from; i-- {
				sum += f(float64(i))
			}
			return sum
		}
		return tail(1-k) / (1 + 2*tail(1))
	}
	h := 0.5 - float64(k)
	integral := sigma * math.Sqrt(math.Pi/2) * math.Erfc(h/(sigma*math.Sqrt2))
	return (integral - h/(24*sigma*sigma)*f(h)) / (sigma * math.Sqrt(2*math.Pi))
}

// bins cuts the integers into intervals (edges[i-1] <= k < edges[i]) of at least
// `least` probability each, and returns their probabilities.
func (l law) bins(scale float64, least float64) (edges []int64, probability []float64) {
	cdf := func(k int64) float64 { // P(K < k)
		if k <= 0 {
			return l.below(scale, k)
		}
		return 1 - l.below(scale, 1-k)
	}
	at := 0.0
	step := max(1, int64(scale/32))
	first := -int64(32*scale) - 1
	var left []int64
	for k := first; k <= 0; k += step {
		if p := cdf(k); p-at >= least {
			left, at = append(left, k), p
		}
	}
	edges = append(edges, left...)
	for i := len(left) - 1; i >= 0; i-- {
		edges = append(edges, 1-left[i])
	}
	// Neighbouring edges around zero: differences of the tails lose nothing.
	previous := 0.0
	for _, e := range edges {
		p := cdf(e)
		probability = append(probability, p-previous)
		previous = p
	}
	return edges, append(probability, 1-previous)
}

// chiSquared returns the p-value of counts against probabilities.
func chiSquared(counts []int, probability []float64) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	var x float64
	for i, c := range counts {
		e := float64(n) * probability[i]
		x += (float64(c) - e) * (float64(c) - e) / e
	}
	return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(x)
}

// fit draws n integers and returns the p-value of the chi-squared test against
// the law at the given scale.
func (l law) fit(s integerSampler, src *Source, scale float64, n int) float64 {
	edges, probability := l.bins(scale, 30/float64(n))
	counts := make([]int, len(probability))
	draws := make([]int64, 4096)
	for done := 0; done < n; done += len(draws) {
		s.Fill(draws, src)
		for _, k := range draws {
			lo, hi := 0, len(edges)
			for lo < hi {
				mid := (lo + hi) / 2
				if k < edges[mid] {
					hi = mid
				} else {
					lo = mid + 1
				}
			}
			counts[lo]++
		}
	}
	if len(counts) == 1 {
		return 1 // a point, such as sigma = 0.001: TestTinyScalesGiveZero
	}
	return chiSquared(counts, probability)
}

var testScales = []float64{0.001, 0.1, 0.3, 0.5, 1, 2.5, 10, 63.5, 64, 65, 1000, 1 << 20, 1<<30 + 12345, 1 << 40}

func TestDrawsFollowTheExactLaw(t *testing.T) {
	const n = 1 << 18
	for _, l := range laws {
		for i, scale := range testScales {
			s, err := l.make(scale)
			if err != nil {
				t.Fatal(err)
			}
			seed := uint64(100 + i)
			if p := l.fit(s, NewSeeded(seed), scale, n); p < falseAlarm {
				t.Errorf("%s(%g): chi-squared p = %.2g (seed %d)", l.name, scale, p, seed)
			}
		}
	}
}

func TestTinyScalesGiveZero(t *testing.T) {
	// P(K != 0) is below exp(-500) at 0.001, for all four laws.
	for _, l := range laws {
		s, err := l.make(0.001)
		if err != nil {
			t.Fatal(err)
		}
		src := NewSeeded(3)
		for range 100_000 {
			if k := s.Sample(src); k != 0 {
				t.Fatalf("%s(0.001) drew %d", l.name, k)
			}
		}
	}
}

func TestTheStatisticsRejectWrongSamplers(t *testing.T) {
	const n = 1 << 18
	for _, l := range laws {
		for _, scale := range []float64{1, 1000, 1 << 30} {
			for _, factor := range []float64{0.5, 0.96, 1.04} {
				s, err := l.make(scale * factor)
				if err != nil {
					t.Fatal(err)
				}
				if p := l.fit(s, NewSeeded(5), scale, n); p > falseAlarm {
					t.Errorf("%s(%g) passes as %g: p = %.2g", l.name, scale*factor, scale, p)
				}
			}
		}
	}
}

// phaseFit returns the p-value of the position of |k| within its strip, in
// eighths, for the strips after the first. This is where a wrong comparison with
// the density shows.
func (l law) phaseFit(s integerSampler, src *Source, scale float64, strip int64, n int) float64 {
	const phases = 8
	counts, probability := make([]int, phases+1), make([]float64, phases+1)
	draws := make([]int64, 4096)
	for done := 0; done < n; done += len(draws) {
		s.Fill(draws, src)
		for _, k := range draws {
			if k = max(k, -k); k < strip {
				counts[phases]++
			} else {
				counts[k%strip*phases/strip]++
			}
		}
	}
	probability[phases] = 1 - 2*l.below(scale, 1-strip)
	cell := strip / phases
	for i := range 40 * int64(scale) / cell {
		a := strip + i*cell
		probability[i%phases] += 2 * (l.below(scale, 1-a) - l.below(scale, 1-a-cell))
	}
	return chiSquared(counts, probability)
}

func TestPositionsWithinAStripFollowTheLaw(t *testing.T) {
	const n, scale = 1 << 22, 1 << 15
	strip := map[string]int64{"Gaussian": 512, "Laplace": 1024, "DiscreteGaussian": 512, "DiscreteLaplace": 1024}
	for _, l := range laws {
		s, err := l.make(scale)
		if err != nil {
			t.Fatal(err)
		}
		if p := l.phaseFit(s, NewSeeded(6), scale, strip[l.name], n); p < falseAlarm {
			t.Errorf("%s: p = %.2g", l.name, p)
		}
	}
	// A filter that accepts every dart in a gap draws from the hat, 0.6 percent
	// of whose area is above the normal density; the test must see it.
	broken := *gaussianCover()
	broken.rate = 0
	s := &Gaussian{continuous: newContinuous(&broken, scale, gaussianUnit)}
	if p := laws[0].phaseFit(s, NewSeeded(6), scale, 512, 2*n); p > falseAlarm {
		t.Errorf("accepting all gaps passes: p = %.2g", p)
	}
}

func TestMomentsOfTheRoundedLaws(t *testing.T) {
	// Rounding a smooth law adds 1/12 to its variance (Sheppard's correction,
	// whose error here is below exp(-2 pi^2) sigma^2).
	const n, sigma = 1 << 21, 2.0
	variance := map[string]float64{
		"Gaussian":         sigma*sigma + 1./12,
		"DiscreteGaussian": sigma * sigma,
		// sum k^2 (1-r)/(1+r) r^|k| = 2r/(1-r)^2
		"DiscreteLaplace": 2 * math.Exp(-1/sigma) / math.Pow(1-math.Exp(-1/sigma), 2),
		// P(|K| = k) = 2 sinh(1/2b) e^(-k/b), so the second moment is
		// 2 sinh(1/2b) r(1+r)/(1-r)^3.
		"Laplace": 2 * math.Sinh(0.5/sigma) * math.Exp(-1/sigma) * (1 + math.Exp(-1/sigma)) / math.Pow(1-math.Exp(-1/sigma), 3),
	}
	for _, l := range laws {
		s, err := l.make(sigma)
		if err != nil {
			t.Fatal(err)
		}
		src := NewSeeded(10)
		var sum, square, fourth float64
		for range n {
			k := float64(s.Sample(src))
			sum, square, fourth = sum+k, square+k*k, fourth+k*k*k*k
		}
		want := variance[l.name]
		if z := sum / math.Sqrt(n*want); math.Abs(z) > 6.5 { // false alarm 1e-10
			t.Errorf("%s: mean is %.2f standard errors from 0", l.name, z)
		}
		spread := math.Sqrt((fourth/n - want*want) / n)
		if z := (square/n - want) / spread; math.Abs(z) > 6.5 {
			t.Errorf("%s: variance %.5f, want %.5f (%.1f standard errors)", l.name, square/n, want, z)
		}
	}
}
