package refine

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// TestUnclippedUndoesTheClip: norms of an exponential law, clipped and squared, are
// summed numerically; from that mean the law's own mean square must come back.
func TestUnclippedUndoesTheClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := math.Exp(rapid.Float64Range(-9, 9).Draw(t, "log scale"))
		clip := scale * rapid.Float64Range(1.2, 8).Draw(t, "clip")
		const steps = 4000
		sum := 0.0
		for i := range steps {
			x := min(-scale*math.Log((float64(i)+0.5)/steps), clip)
			sum += x * x / steps
		}
		if got, want := unclipped(sum, clip), 2*scale*scale; math.Abs(got/want-1) > 0.01 {
			t.Fatalf("scale %v, clip %v: mean square %v; want %v", scale, clip, got, want)
		}
	})
}

// TestUnclippedIsSafeOnNoise: noisy mean squares may lie below 0 or above the clip.
func TestUnclippedIsSafeOnNoise(t *testing.T) {
	for _, square := range []float64{-1e9, -1, 0, 1e-12, 1, 3.9, 4, 1e9} {
		if got := unclipped(square, 2); !(got >= 0 && got < 1e3) {
			t.Errorf("mean square %v under a clip of 2 becomes %v", square, got)
		}
	}
}

// TestTailClipIsTheBest compares with a search over a grid.
func TestTailClipIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := math.Exp(rapid.Float64Range(-14, 2).Draw(t, "log noise"))
		cost := func(c float64) float64 { return math.Pow(tailBias(c), 2) + c*c*noise*noise }
		got := tailClip(noise, 1, 12)
		for c := 1.0; c <= 12; c += 0.01 {
			if cost(c) < cost(got)*(1-1e-6) {
				t.Fatalf("noise %v: clip %v costs %v; %v costs %v", noise, got, cost(got), c, cost(c))
			}
		}
	})
}

// TestAnUnsolvableRoundIsTold: a covariance that rounding made indefinite leaves
// the belief as it was, and the caller learns of it.
func TestAnUnsolvableRoundIsTold(t *testing.T) {
	b := &linearBelief{mean: mat.NewVecDense(2, []float64{1, 2}), cov: mat.NewDense(2, 2, []float64{-4, 0, 0, 1})}
	eye := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	if b.observe(eye, []float64{0, 0}, []float64{5, 5}, 10, 0.1, 0) {
		t.Error("equations without a solution count as solved")
	}
	if b.mean.AtVec(0) != 1 || b.cov.At(0, 0) != -4 {
		t.Error("a round that failed moved the belief")
	}
	b.cov.Set(0, 0, 4)
	if !b.observe(eye, []float64{0, 0}, []float64{5, 5}, 10, 0.1, 0) || b.mean.AtVec(0) == 1 {
		t.Error("a round that can be solved did not move the belief")
	}
}

// TestExplainedPartIsRestoredUpToACap: of a mean square S before the clip and C after it, of
// which E is explained, (1 - E/C) S is left while the clip cut less than a fifth of S, and
// S - 1.25 E beyond; between what is left when all of the explained part is restored and when none
// is, never negative, and all of S where noise makes E negative.
func TestExplainedPartIsRestoredUpToACap(t *testing.T) {
	for _, c := range []struct{ clipped, square, explained, want float64 }{
		{4, 4, 1, 3},
		{4, 4, 0, 4},
		{4, 4, -2, 4},
		{4, 4, 6, 0},
		{4, 4.8, 2, 2.4},
		{4, 5, 2, 2.5},
		{4, 8, 2, 5.5},
		{4, 400, 4, 395},
		{0, 0, 0, 0},
		{0, 3, 1, 0},
	} {
		if got := unexplained(c.clipped, c.square, c.explained); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("of %v, %v after the clip, %v explained: %v is left; want %v", c.square, c.clipped, c.explained, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		clipped := rapid.Float64Range(1e-6, 1e3).Draw(t, "clipped")
		square := clipped * rapid.Float64Range(1, 50).Draw(t, "ratio")
		explained := clipped * rapid.Float64Range(0, 1).Draw(t, "share")
		got := unexplained(clipped, square, explained)
		if least, most := square*(1-explained/clipped), square-explained; got < least-1e-9*square || got > most+1e-9*square || got < 0 {
			t.Fatalf("%v is left; want between %v and %v", got, least, most)
		}
	})
}
