package ledger

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ids are those of persons from one number to another.
func ids(from, to int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := from; i < to && yield(fmt.Sprintf("person %d", i)); i++ {
		}
	}
}

func testKey(n int) []byte { return bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 16) }

// choose is the logarithm of a binomial coefficient.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	lg := func(x int) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
	return lg(n) - lg(k) - lg(n-k)
}

// alarms is the probability of an alarm for the share of A's units that are in B,
// by the law of a uniform sample without replacement of the union: both of the
// common units, only of those of A alone.
func alarms(common, onlyA, onlyB int) (p float64) {
	n := common + onlyA + onlyB
	m := min(n, sketchSize)
	for both := 0; both <= common; both++ {
		for only := 0; only <= onlyA; only++ {
			if a := both + only; a >= fewest && float64(both) > mostly*float64(a) {
				p += math.Exp(choose(common, both) + choose(onlyA, only) + choose(onlyB, m-a) - choose(n, m))
			}
		}
	}
	return p
}

// binomialTails are the probabilities of at most, and of at least, k of n.
func binomialTails(n, k int, p float64) (below, above float64) {
	for i := 0; i <= n; i++ {
		q := math.Exp(choose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if i <= k {
			below += q
		}
		if i >= k {
			above += q
		}
	}
	return below, above
}

// TestAlarmsComeAsOftenAsTheLawSays, where they do come: a small set of which 45 or
// 55 of 100 are in a large one. Each trial has a key of its own. The test fails by
// chance once in a million times for a case.
func TestAlarmsComeAsOftenAsTheLawSays(t *testing.T) {
	const trials = 60
	for _, c := range []struct{ common, onlyA, onlyB int }{{45, 55, 5900}, {50, 50, 5900}, {55, 45, 5900}} {
		n := 0
		for i := range trials {
			key := testKey(i)
			a := sketchOf(key, ids(0, c.common+c.onlyA))
			b := sketchOf(key, ids(c.onlyA, c.common+c.onlyA+c.onlyB))
			got := a.with(b)
			if part, _, judged := got.overlap(got.a); judged && part > mostly {
				n++
			}
		}
		p := alarms(c.common, c.onlyA, c.onlyB)
		below, above := binomialTails(trials, n, p)
		if t.Logf("%+v: %d alarms of %d; the law says %.4f", c, n, trials, p); min(below, above) < 5e-7 {
			t.Errorf("%+v: %d alarms of %d; want the law's %.4f", c, n, trials, p)
		}
	}
}

// TestFalseAlarmsAreRare, by the law itself: a quarter in common is not a half.
func TestFalseAlarmsAreRare(t *testing.T) {
	_, worst := binomialTails(fewest, fewest/2+1, 0.25)
	if worst > 1e-3 {
		t.Errorf("the smallest sample takes a quarter for more than a half with probability %.2g; 1e-3 is claimed", worst)
	}
	for _, n := range []int{40, 100, 400} {
		if p := alarms(n/4, n-n/4, 6000); p > 1e-3 {
			t.Errorf("a quarter of %d in 6000: %.2g", n, p)
		}
	}
}

// TestSharesAreEstimated within their standard errors, for large sets.
func TestSharesAreEstimated(t *testing.T) {
	const size, trials = 12000, 6
	for _, part := range []float64{0, 0.1, 0.5, 0.9, 1} {
		shift := int(math.Round(size * (1 - part)))
		var sum, off float64
		for i := range trials {
			key := testKey(1000 + i)
			a, b := sketchOf(key, ids(0, size)), sketchOf(key, ids(shift, shift+size))
			c := a.with(b)
			got, deviation, judged := c.overlap(c.a)
			if !judged || c.whole {
				t.Fatalf("%+v is not judged by a sample", c)
			}
			sum += got
			off = math.Max(off, math.Abs(got-part)/math.Max(deviation, 1e-9))
		}
		deviation := math.Sqrt(part * (1 - part) / (sketchSize / 2) / trials)
		if mean := sum / trials; math.Abs(mean-part) > 6*deviation+1e-12 {
			t.Errorf("share %g: mean estimate %g; want it within %g", part, mean, 6*deviation)
		}
		if off > 6 {
			t.Errorf("share %g: an estimate is %g standard errors off", part, off)
		}
	}
}

// TestSketchIsOfASet: neither order nor repetition nor the way it was joined shows,
// and small sets are counted exactly.
func TestSketchIsOfASet(t *testing.T) {
	key := testKey(7)
	all := slices.Collect(ids(0, 30000))
	want := sketchOf(key, slices.Values(all))
	mixed := slices.Concat(all, all[:9000])
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	if got := sketchOf(key, slices.Values(mixed)); !slices.Equal(got, want) || len(got) != sketchSize {
		t.Error("order or repetition shows")
	}
	if got := sketchOf(key, ids(0, 20000)).join(sketchOf(key, ids(15000, 30000))); !slices.Equal(got, want) {
		t.Error("the sketch of a union is another when it is joined")
	}
	if got := sketchOf(testKey(8), ids(0, 30000)); slices.Equal(got, want) {
		t.Error("the key does not matter")
	}
	if got, err := parseSketch(want.encode()); err != nil || !slices.Equal(got, want) {
		t.Errorf("read back: %v", err)
	}
	if c := sketchOf(key, ids(0, 300)).with(sketchOf(key, ids(200, 1000))); c != (common{a: 300, b: 800, both: 100, whole: true}) {
		t.Errorf("%+v; want the counts themselves", c)
	}
	for name, body := range map[string]string{"cut": "1234567", "twice": "1234567812345678", "order": "2234567812345678", "long": strings.Repeat("x", 8*sketchSize+8)} {
		if _, err := parseSketch([]byte(body)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}
