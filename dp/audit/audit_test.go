package audit

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestLimitsAgreeWithTables: 95% two-sided limits, three digits, as in textbooks and R's
// binom.test: 0, 1, 5 and 10 successes out of 10, 8 of 20, and 35 of 100.
func TestLimitsAgreeWithTables(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, 0.3085}, {1, 10, 0.0025, 0.4450}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1}, {8, 20, 0.1912, 0.6395}, {35, 100, 0.2573, 0.4518}} {
		low, high := atLeast(c.k, c.n, 0.025), atMost(c.k, c.n, 0.025)
		if math.Abs(low-c.low) > 6e-5 || math.Abs(high-c.high) > 6e-5 {
			t.Errorf("%d of %d: [%.4f, %.4f]; tables say [%.4f, %.4f]", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// exactTail is the probability of k or more successes, in rationals.
func exactTail(k, n int, p float64) *big.Float {
	x := new(big.Float).SetPrec(300).SetFloat64(p)
	y := new(big.Float).SetPrec(300).Sub(big.NewFloat(1), x)
	power := func(b *big.Float, e int) *big.Float {
		out := new(big.Float).SetPrec(300).SetInt64(1)
		for range e {
			out.Mul(out, b)
		}
		return out
	}
	sum := new(big.Float).SetPrec(300)
	for j := k; j <= n; j++ {
		term := new(big.Float).SetPrec(300).SetInt(new(big.Int).Binomial(int64(n), int64(j)))
		sum.Add(sum, term.Mul(term, power(x, j)).Mul(term, power(y, n-j)))
	}
	return sum
}

// TestLimitsAreOnTheSafeSide: at the lower limit the exact tail is at most alpha, and
// within 1e-5 of it.
func TestLimitsAreOnTheSafeSide(t *testing.T) {
	for _, n := range []int{1, 7, 60, 250} {
		for _, k := range []int{1, n / 3, n / 2, n - 1, n} {
			if k < 1 {
				continue
			}
			for _, alpha := range []float64{0.025, 2.5e-7} {
				got, _ := exactTail(k, n, atLeast(k, n, alpha)).Float64()
				if got > alpha || got < alpha*(1-1e-5) {
					t.Errorf("%d of %d at %g: the tail is %g", k, n, alpha, got)
				}
			}
		}
	}
	// Of large numbers: zero hits have the limit 1 - alpha^(1/n), and the middle that of
	// the normal law, to the order 1/n.
	const n, alpha = 10_000_000, 2.5e-7
	if got, want := atMost(0, n, alpha), -math.Expm1(math.Log(alpha)/n); got < want || got > want*(1+1e-5) {
		t.Errorf("no hit: %g; want %g", got, want)
	}
	if got, want := 0.5-atLeast(n/2, n, alpha), -distuv.UnitNormal.Quantile(alpha)/2/math.Sqrt(n); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("half of the runs: %g under 1/2; want %g", got, want)
	}
}

// normals draws from N(0, 1) and N(mu, 1), of 1e-3 as a step.
func normals(t *testing.T, mu float64, runs int, seed uint64) Samples {
	t.Helper()
	g, err := noise.NewGaussian(1000)
	if err != nil {
		t.Fatal(err)
	}
	src := noise.NewSeeded(seed)
	return DrawNumbers(runs, func(world int) float64 { return float64(g.Sample(src))/1000 + mu*float64(world) })
}

func bound(t *testing.T, s Samples, o Options) Found {
	t.Helper()
	f, err := s.Bound(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestNormalLawsShowWhatIsExpected holds the bound on mu against the closed form: under
// the truth, and within what two standard errors of the counts and a threshold beside
// the best explain of what is expected.
func TestNormalLawsShowWhatIsExpected(t *testing.T) {
	const runs = 20000
	for i, mu := range []float64{0.1, 0.5, 1, 2, 4} {
		got, want := bound(t, normals(t, mu, runs, uint64(i)), Options{Delta: 1e-5}).Mu, expected(mu, runs, DefaultFalseAlarm)
		if got > mu || got < want-3/math.Sqrt(runs)*4 {
			t.Errorf("mu %v: at least %.4f; want about %.4f", mu, got, want)
		}
	}
}

// TestStatedPower: of 1000 tests of noise a quarter too small that answer half way, at a
// number of runs that find about half of such, as many succeed as is stated but for
// four standard errors; more may, since the stated power is a lower bound.
func TestStatedPower(t *testing.T) {
	const audits, runs, mu, alarm = 1000, 1200, 4.0 / 3, 1e-2
	stated := detects(1, mu, runs, alarm)
	if stated < 0.1 || stated > 0.9 {
		t.Fatalf("stated power %.3f: the test tells nothing", stated)
	}
	src := noise.NewSeeded(8)
	n := counted(runs)
	// A success is a uniform number below its probability.
	hits := func(share float64) int {
		k := 0
		for range n {
			if float64(src.Uint64()) < share*0x1p64 {
				k++
			}
		}
		return k
	}
	found := 0.0
	share := distuv.UnitNormal.CDF(mu / 2)
	for range audits {
		r := Region{Answering: 1, Hits: [2]int{hits(1 - share), hits(share)}, Runs: [2]int{n, n}}
		if r.limited(alarm/2).Mu() > 1 {
			found++
		}
	}
	if got := found / audits; got < stated-4*math.Sqrt(stated*(1-stated)/audits) || got > stated+0.2 {
		t.Errorf("%.3f found; stated power %.3f", got, stated)
	}
	t.Logf("stated power %.3f, found %.3f", stated, found/audits)
}

// honest audits mechanisms that spend all they claim, with mu 1, and wants no more
// alarms than Binomial(audits, alarm) has but for 1e-6. By construction the rate is
// far lower, for of a normal law at its threshold both limits have to fail at once.
func honest(t *testing.T, audits int, alarm float64) {
	c, err := NewClaim(dp.Gaussian{NoiseMultiplier: 1}, dp.AddRemoveOne, 1e-2)
	if err != nil {
		t.Fatal(err)
	}
	alarms := 0
	for i := range audits {
		f := bound(t, normals(t, 1, 400, uint64(1000+i)), Options{Delta: 1e-2, FalseAlarm: alarm})
		if f.Mu > c.Mu || f.Epsilon > c.Epsilon {
			alarms++
		}
	}
	if k := max(alarms, 1); float64(k) > alarm*float64(audits) && logTail(k, audits, alarm) < math.Log(1e-6) {
		t.Errorf("%d alarms out of %d at a rate of %v", alarms, audits, alarm)
	}
	t.Logf("%d alarms out of %d at a rate of %v", alarms, audits, alarm)
}

func TestHonestRunsDoNotAlarm(t *testing.T) { honest(t, 40, 0.05) }

// TestClaimsWithoutAMu: Laplace noise and randomised response, as they are and with less
// noise than their event says. Epsilon is 1, and 2 at half the noise.
func TestClaimsWithoutAMu(t *testing.T) {
	const runs = 40000
	src := noise.NewSeeded(5)
	laplace := func(scale uint64) Samples {
		l, err := noise.NewLaplace(float64(scale))
		if err != nil {
			t.Fatal(err)
		}
		return DrawNumbers(runs, func(world int) float64 { return float64(int64(world)*1000 + l.Sample(src)) })
	}
	response := func(parameter uint64) Samples { // in hundredths
		return DrawNumbers(runs, func(world int) float64 {
			if src.Uint64n(100) < parameter {
				return float64(src.Uint64n(2))
			}
			return float64(world)
		})
	}
	for _, c := range []struct {
		name   string
		s      Samples
		event  dp.Event
		broken bool
	}{
		{"laplace", laplace(1000), dp.Laplace{NoiseMultiplier: 1}, false},
		{"half of laplace", laplace(500), dp.Laplace{NoiseMultiplier: 1}, true},
		{"response", response(50), dp.RandomizedResponse{Buckets: 2, NoiseParameter: 0.5}, false},
		{"truer response", response(40), dp.RandomizedResponse{Buckets: 2, NoiseParameter: 0.5}, true},
	} {
		adjacency := dp.AddRemoveOne
		if c.event.Kind() == "randomized_response" {
			adjacency = dp.ReplaceOne
		}
		claim, err := NewClaim(c.event, adjacency, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		f := bound(t, c.s, Options{Delta: 1e-6})
		if err := claim.Hold(f); errors.Is(err, ErrBroken) != c.broken || err != nil && !c.broken {
			t.Errorf("%s: %v; found epsilon %.3f, claimed %.3f", c.name, err, f.Epsilon, claim.Epsilon)
		}
		if !c.broken && f.Epsilon < 0.8*claim.Epsilon {
			t.Errorf("%s: epsilon at least %.3f of %.3f: too weak to mean anything", c.name, f.Epsilon, claim.Epsilon)
		}
	}
}

// TestWhatOnlyOneWorldShowsIsFound: a value that one world alone makes, in one run of
// fifty, beside a column of noise.
func TestWhatOnlyOneWorldShowsIsFound(t *testing.T) {
	src := noise.NewSeeded(6)
	s := Draw(20000, func(world int) []float64 {
		x := []float64{float64(src.Uint64n(1000)), 7}
		if world == 1 && src.Uint64n(50) == 0 {
			x[1] = 3
		}
		return x
	})
	c, err := NewClaim(dp.ApproximateDP{Epsilon: 1, Delta: 1e-3}, dp.ReplaceOne, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Hold(bound(t, s, Options{Delta: 1e-3})); !errors.Is(err, ErrBroken) {
		t.Errorf("%v; want ErrBroken", err)
	}
}

// TestDirectionsAndSpreadsAreFound: a difference along a diagonal of two dependent
// columns, and one of spread alone; both have a bound near their truth.
func TestDirectionsAndSpreadsAreFound(t *testing.T) {
	const runs = 20000
	g, err := noise.NewGaussian(1000)
	if err != nil {
		t.Fatal(err)
	}
	src := noise.NewSeeded(7)
	draw := func() float64 { return float64(g.Sample(src)) / 1000 }
	diagonal := Draw(runs, func(world int) []float64 {
		common, own := 10*draw(), draw()
		return []float64{common + own + float64(world), common - own - float64(world)}
	})
	f := bound(t, diagonal, Options{})
	if f.Mu < 0.85 || f.Mu > 1 {
		t.Errorf("along a diagonal: mu at least %.3f of 1", f.Mu)
	}
	// Mu along x - y is 1; each column by itself has 0.1.
	spread := Draw(runs, func(world int) []float64 { return []float64{draw() * float64(1+2*world)} })
	f = bound(t, spread, Options{Delta: 1e-5})
	// |x| > 1.816 has 0.0693 in one world and 0.545 in the other.
	if want := distuv.UnitNormal.Quantile(0.545) - distuv.UnitNormal.Quantile(0.0693); f.Mu < 0.85*want || f.Mu > 1.6*want {
		t.Errorf("three times the spread: mu at least %.3f; a test with two thresholds shows %.3f", f.Mu, want)
	}
}

// TestOrderDoesNotMatterToTheBound: a file that has its outcomes in order is parted
// like any other. Without a permutation the larger values would all count.
func TestOrderDoesNotMatterToTheBound(t *testing.T) {
	alarms := 0
	for i := range 20 {
		s := normals(t, 0.5, 2000, uint64(i))
		for world := range s.Worlds {
			sortOutcomes(s.Worlds[world])
		}
		if bound(t, s, Options{FalseAlarm: 1e-3}).Mu > 0.5 {
			alarms++
		}
	}
	if alarms > 2 { // more than 2 of 20 at 1e-3: 1e-6
		t.Errorf("%d alarms out of 20", alarms)
	}
}

// TestAClaimOnTreesHasTheMuOfTheWorstParticipations, by enumeration of which steps a person is in: the noise is that of
// every complete node, and a person's distance is the root of the summed squares of their steps below each.
func TestAClaimOnTreesHasTheMuOfTheWorstParticipations(t *testing.T) {
	const steps, noise = 6, 3.0
	for most := 1; most <= steps; most++ {
		worst := 0.0
		for in := range 1 << steps {
			if bits.OnesCount(uint(in)) > most {
				continue
			}
			square := 0.0
			for width := 1; width <= steps; width *= 2 {
				for node := 0; (node+1)*width <= steps; node++ {
					below := float64(bits.OnesCount(uint(in >> (node * width) & (1<<width - 1))))
					square += below * below
				}
			}
			worst = max(worst, square)
		}
		e := dp.TreeAggregation{NoiseMultiplier: noise, Steps: steps, Participations: int64(most)}
		for adj, clips := range map[dp.Adjacency]float64{dp.AddRemoveOne: 1, dp.ReplaceOne: 2} {
			claim, err := NewClaim(dp.Composed{Events: []dp.Event{e, dp.GaussianDP{Mu: .5}}}, adj, 1e-6)
			want := math.Sqrt(worst*clips*clips/(noise*noise) + .25)
			if err != nil || math.Abs(claim.Mu-want) > 1e-12*want {
				t.Errorf("%v, %d participations: mu %v, %v; want %v", adj, most, claim.Mu, err, want)
			}
		}
	}
}
