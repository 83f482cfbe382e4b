package evaluate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
)

func TestNestRangesNarrowAroundTheirAnchor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nest{
			anchor: rapid.Float64Range(-5, 5).Draw(t, "anchor"),
			below:  rapid.Float64Range(0, 5).Draw(t, "below"),
			above:  rapid.Float64Range(0.1, 5).Draw(t, "above"),
			steps:  rapid.IntRange(1, 12).Draw(t, "steps"),
		}
		x := rapid.Float64Range(-20, 20).Draw(t, "x")
		k := n.innermost(x)
		inside := func(k int) bool { r := n.at(k); return x >= r.Min && x <= r.Max }
		if k > 0 && !inside(k) {
			t.Fatalf("range %d = %v does not hold %v", k, n.at(k), x)
		}
		if k < n.steps && inside(k+1) {
			t.Fatalf("range %d = %v holds %v too; innermost says %d", k+1, n.at(k+1), x, k)
		}
	})
	n := nest{below: 1, above: 1, steps: 4}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if k := n.innermost(x); k != 0 {
			t.Errorf("innermost(%v) = %d; want 0, a fixed shell", x, k)
		}
	}
}

// exact picks a clip from exact counts of m persons whose tail is given.
func exact(c clipper, m float64, n nest, beyond func(x float64) float64) choice {
	tails := make([]float64, n.steps+1)
	for k := 1; k <= n.steps; k++ {
		tails[k] = m * beyond(n.at(k).Max)
	}
	return c.pick(tails, func(int) float64 { return 0.5 }, n)
}

// TestPickedClipIsNearTheBest compares with the clip that minimises noise and
// bias when the whole distribution is known: exponential for thin tails, a power
// for heavy ones.
func TestPickedClipIsNearTheBest(t *testing.T) {
	const m = 1e6
	n := nest{above: 64, steps: 12}
	for name, c := range map[string]struct {
		tail   tail
		beyond func(x float64) float64
		excess func(x float64) float64 // E (X-x)+
	}{
		"exponential": {thinTail(), func(x float64) float64 { return math.Exp(-x) }, func(x float64) float64 { return math.Exp(-x) }},
		"power 3":     {heavyTail(), func(x float64) float64 { return math.Pow(1+x, -3) }, func(x float64) float64 { return math.Pow(1+x, -2) / 2 }},
	} {
		for _, price := range []float64{3, 30, 300, 3000} {
			cost := func(x float64) float64 { return math.Hypot(price*x, m*(c.excess(x)-c.excess(64))) }
			best := math.Inf(1)
			for k := range n.steps + 1 {
				best = min(best, cost(n.at(k).Max))
			}
			got := exact(clipper{tail: c.tail, price: price}, m, n, c.beyond)
			if r := cost(got.clip.Max) / best; r > 1.5 {
				t.Errorf("%s, price %v: the clip %v costs %.2f times the best", name, price, got.clip.Max, r)
			}
			if cut := m * (c.excess(got.clip.Max) - c.excess(64)); got.bias < 0.8*cut {
				t.Errorf("%s, price %v: clip %v cuts %.0f; the stated bias is %.0f", name, price, got.clip.Max, cut, got.bias)
			}
		}
	}
}

// TestTailsUseThePublicNumberOfPersons wants the noise in the tails to have the
// variance k(n-k)/n under ReplaceOne. 20000 draws; the standard error of a
// variance is 1%, and 5% is five of them.
func TestTailsUseThePublicNumberOfPersons(t *testing.T) {
	const draws, bins, persons = 20000, 5, 100
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		c := clipper{adjacency: adjacency, persons: persons}
		g, err := noise.NewFastGaussian(3)
		if err != nil {
			t.Fatal(err)
		}
		src := noise.NewSeeded(5)
		squares := make([]float64, bins)
		for range draws {
			counts := make([]float64, bins)
			for i := range counts {
				counts[i] = persons/bins + g.Sample(src)
			}
			for k, x := range c.tails(counts) {
				e := x - float64(k)*persons/bins
				squares[k] += e * e
			}
		}
		for k := 1; k < bins; k++ {
			want := c.tailSD(3, k, bins)
			if got := math.Sqrt(squares[k] / draws); math.Abs(got/want-1) > 0.025 {
				t.Errorf("%v: tail %d has noise %.3f; stated %.3f", adjacency, k, got, want)
			}
		}
	}
}

func TestClipIsNotPaidForWhereNoiseDrownsIt(t *testing.T) {
	p := Public{Persons: 1000, Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 0.1, Delta: 1e-6}}}
	if s, err := clipShare("dp-is", p, clipAuto, 0, clipSteps); err != nil || s != 0 {
		t.Errorf("1000 persons at epsilon .1: share %v, %v; want 0", s, err)
	}
	p.Persons = 100000
	if s, err := clipShare("dp-is", p, clipAuto, 0, clipSteps); err != nil || s != defaultClipShare {
		t.Errorf("100000 persons at epsilon .1: share %v, %v; want %v", s, err, defaultClipShare)
	}
	if s, err := clipShare("dp-is", p, clipPublic, 0, clipSteps); err != nil || s != 0 {
		t.Errorf("clip public: share %v, %v; want 0", s, err)
	}
	for _, bad := range []struct {
		clip  string
		share float64
	}{{"narrow", 0}, {clipAuto, -1}, {clipAuto, 1}, {clipAuto, math.NaN()}} {
		if _, err := clipShare("dp-is", p, bad.clip, bad.share, clipSteps); err == nil {
			t.Errorf("clip %q with share %v is accepted", bad.clip, bad.share)
		}
	}
}

// TestStagesSpendTheWholeBudget adds up the stages' mu^2.
func TestStagesSpendTheWholeBudget(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		q := Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 0.7, Delta: 1e-6}}
		mu, err := account.GaussianMu(q.Budget)
		if err != nil {
			t.Fatal(err)
		}
		n, err := stages{baseline: 0.3, clip: 0.2, weights: 0.05, clipped: 0.05, residual: 0.1}.noise("dp-dr", q)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for i, want := range []float64{0.3, 0.2, 0.05, 0.05, 0.3, 0.1} {
			m := adjacency.SumSensitivity(1) / n.taken()[i]
			if got := m * m / (mu.Lower * mu.Lower); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v: stage %d has share %v; want %v", adjacency, i, got, want)
			}
			total += m * m
		}
		if total > mu.Lower*mu.Lower {
			t.Errorf("%v: the stages spend mu^2 = %v of %v", adjacency, total, mu.Lower*mu.Lower)
		}
		for _, bad := range []stages{{clip: 1}, {clip: -0.1}, {clip: math.NaN()}, {clip: 0.5, baseline: 0.5}} {
			if _, err := bad.noise("dp-dr", q); err == nil {
				t.Errorf("the shares %+v are accepted", bad)
			}
		}
	}
}

// TestAllowanceRestoresCoverage integrates the coverage of z sqrt(V) over a
// normal V: without the allowance it falls below 95%, with it it does not by more
// than a tenth of a percent, and it exceeds 95% by no more than 1%.
func TestAllowanceRestoresCoverage(t *testing.T) {
	for _, s := range []float64{0.05, 0.1, 0.2, 0.3} {
		plain, with := 0.0, 0.0
		const points = 2000
		for i := range points {
			z := -6 + 12*(float64(i)+0.5)/points
			weight := 12.0 / points * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			v := max(0, 1+s*z)
			cover := func(v float64) float64 { return math.Erf(z95 * math.Sqrt(v/2)) }
			plain += weight * cover(v)
			with += weight * cover(v+allowance(v, 0, s))
		}
		if plain >= 0.95 {
			t.Errorf("noise %v: plain coverage %v", s, plain)
		}
		if with < 0.949 || with > 0.96 {
			t.Errorf("noise %v: coverage %.4f with the allowance, %.4f without; want .949 to .96", s, with, plain)
		}
	}
}
