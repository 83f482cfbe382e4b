package scalar

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

func TestNestRangesNarrowAroundTheirAnchor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := ClipRanges{
			Anchor: rapid.Float64Range(-5, 5).Draw(t, "anchor"),
			Below:  rapid.Float64Range(0, 5).Draw(t, "below"),
			Above:  rapid.Float64Range(0.1, 5).Draw(t, "above"),
			Steps:  rapid.IntRange(1, 12).Draw(t, "steps"),
		}
		x := rapid.Float64Range(-20, 20).Draw(t, "x")
		k := innermost(n.ranges(), x)
		inside := func(k int) bool { r := n.At(k); return x >= r.Min && x <= r.Max }
		if k > 0 && !inside(k) {
			t.Fatalf("range %d = %v does not hold %v", k, n.At(k), x)
		}
		if k < n.Steps && inside(k+1) {
			t.Fatalf("range %d = %v holds %v too; innermost says %d", k+1, n.At(k+1), x, k)
		}
	})
	n := ClipRanges{Below: 1, Above: 1, Steps: 4}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if k := innermost(n.ranges(), x); k != 0 {
			t.Errorf("innermost(%v) = %d; want 0, a fixed shell", x, k)
		}
	}
}

// exact picks a clip from exact counts of m persons whose tail is given.
func exact(c clipper, m float64, n ClipRanges, beyond func(x float64) float64) choice {
	tails := make([]float64, n.Steps+1)
	for k := 1; k <= n.Steps; k++ {
		tails[k] = m * beyond(n.At(k).Max)
	}
	return c.pick(tails, func(int) float64 { return 0.5 }, n)
}

// TestPickedClipIsNearTheBest compares with the clip that minimises noise and
// bias when the whole distribution is known: exponential for thin tails, a power
// for heavy ones.
func TestPickedClipIsNearTheBest(t *testing.T) {
	const m = 1e6
	n := ClipRanges{Above: 64, Steps: 12}
	for name, c := range map[string]struct {
		tail   Tail
		beyond func(x float64) float64
		excess func(x float64) float64 // E (X-x)+
	}{
		"exponential": {ThinTail(), func(x float64) float64 { return math.Exp(-x) }, func(x float64) float64 { return math.Exp(-x) }},
		"power 3":     {HeavyTail(), func(x float64) float64 { return math.Pow(1+x, -3) }, func(x float64) float64 { return math.Pow(1+x, -2) / 2 }},
	} {
		for _, price := range []float64{3, 30, 300, 3000} {
			cost := func(x float64) float64 { return math.Hypot(price*x, m*(c.excess(x)-c.excess(64))) }
			best := math.Inf(1)
			for k := range n.Steps + 1 {
				best = min(best, cost(n.At(k).Max))
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
