package mechanism

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp/noise"
)

// anyVector draws vectors with coordinates of all sizes, infinities and NaN now
// and then.
func anyVector(t *rapid.T, dim int) []float64 {
	return rapid.SliceOfN(rapid.OneOf(
		rapid.Float64Range(-2, 2),
		rapid.Float64(),
		rapid.SampledFrom([]float64{0, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.NaN()}),
	), dim, dim).Draw(t, "x")
}

// TestRoundedNormNeverExceedsTheClip holds the rounded vector against the clip
// in exact rational arithmetic.
func TestRoundedNormNeverExceedsTheClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		clip := math.Exp(rapid.Float64Range(-200, 200).Draw(t, "log clip"))
		l, err := newLattice(clip, clip*rapid.Float64Range(0.01, 1e6).Draw(t, "noise"), dim)
		if err != nil {
			t.Skip(err)
		}
		x := anyVector(t, dim)
		for i := range x {
			x[i] *= clip
		}
		k := make([]int64, dim)
		finite := l.round(k, x)
		square := new(big.Int)
		for i, v := range k {
			square.Add(square, new(big.Int).Mul(big.NewInt(v), big.NewInt(v)))
			if !finite && v != 0 {
				t.Fatalf("coordinate %d of a vector that is not finite is %d", i, v)
			}
			if v != 0 && (v > 0) != (x[i] > 0) {
				t.Fatalf("rounding changed the sign of coordinate %d", i)
			}
		}
		norm2 := new(big.Rat).SetInt(square)
		step := new(big.Rat).SetFloat64(l.step)
		norm2.Mul(norm2, new(big.Rat).Mul(step, step))
		limit := new(big.Rat).SetFloat64(clip)
		if norm2.Cmp(limit.Mul(limit, limit)) > 0 {
			t.Fatalf("squared norm %v exceeds clip^2 %v", norm2.FloatString(30), limit.FloatString(30))
		}
	})
}

// TestNormIsEnforcedWhereFloatsCannotSeeIt gives a vector whose norm exceeds the
// radius by less than a float can tell: (K, 1) has the norm K in floats.
func TestNormIsEnforcedWhereFloatsCannotSeeIt(t *testing.T) {
	l, err := newLattice(1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	k := make([]int64, 2)
	l.round(k, []float64{float64(l.radius) * l.step, l.step})
	if !l.within(k) {
		t.Errorf("%v has a norm above %d", k, l.radius)
	}
	if l.within([]int64{int64(l.radius), 1}) {
		t.Errorf("(%d, 1) counts as inside", l.radius)
	}
}

func TestRoundingKeepsVectorsInsideTheBall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		l, err := newLattice(1, 1, dim)
		if err != nil {
			t.Fatal(err)
		}
		x := rapid.SliceOfN(rapid.Float64Range(-1, 1), dim, dim).Draw(t, "x")
		norm := 0.0
		for _, v := range x {
			norm = math.Hypot(norm, v)
		}
		shrink := 1.0
		if norm > 1 {
			shrink = 1 / norm
		}
		k := make([]int64, dim)
		l.round(k, x)
		for i, v := range k {
			if got, want := float64(v)*l.step, x[i]*shrink; math.Abs(got-want) > l.step*1.001 {
				t.Fatalf("coordinate %d: %v became %v, further than one step of %v", i, want, got, l.step)
			}
		}
	})
}

func TestLatticeRefusesWhatItCannotHold(t *testing.T) {
	for _, c := range []struct {
		clip, sd float64
		dim      int
	}{
		{0, 1, 1}, {-1, 1, 1}, {math.NaN(), 1, 1}, {math.Inf(1), 1, 1},
		{1, 0, 1}, {1, math.NaN(), 1}, {1, math.Inf(1), 1}, {1, 1, 0}, {1e-300, 1e-300, 1}, {1, 1e30, 1},
	} {
		if _, err := newLattice(c.clip, c.sd, c.dim); !errors.Is(err, ErrParameter) {
			t.Errorf("newLattice(%v, %v, %d): %v; want ErrParameter", c.clip, c.sd, c.dim, err)
		}
	}
}

func TestNoiseFitsTheSampler(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clip := math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log clip"))
		multiplier := math.Exp(rapid.Float64Range(-4, 12).Draw(t, "log multiplier"))
		dim := rapid.IntRange(1, 100000).Draw(t, "dim")
		l, err := newLattice(clip, clip*multiplier, dim)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := noise.NewGaussian(l.sigma); err != nil {
			t.Fatalf("noise multiplier %v in dimension %d: %v", multiplier, dim, err)
		}
		if l.sigma*l.step < clip*multiplier {
			t.Fatalf("noise %v is below %v", l.sigma*l.step, clip*multiplier)
		}
	})
}

// TestSumsDoNotDependOnOrderOrShards adds the same persons in another order and
// in shards and wants the same integers.
func TestSumsDoNotDependOnOrderOrShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 5).Draw(t, "dim")
		persons := rapid.IntRange(1, 30).Draw(t, "persons")
		xs := make([][]float64, persons)
		for i := range xs {
			xs[i] = anyVector(t, dim)
		}
		whole := newTestSum(t, dim)
		for _, x := range xs {
			whole.Add(x)
		}
		shards := []*VectorSum{newTestSum(t, dim), newTestSum(t, dim), newTestSum(t, dim)}
		for _, i := range rapid.Permutation(indices(persons)).Draw(t, "order") {
			shards[rapid.IntRange(0, 2).Draw(t, "shard")].Add(xs[i])
		}
		for _, s := range shards[1:] {
			if err := shards[0].Merge(s); err != nil {
				t.Fatal(err)
			}
		}
		a, _, err := whole.Release(noise.NewSeeded(7))
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := shards[0].Release(noise.NewSeeded(7))
		if err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("coordinate %d: %v in one pass, %v in shards", i, a[i], b[i])
			}
		}
	})
}

func newTestSum(t *rapid.T, dim int) *VectorSum {
	s, err := NewVectorSum(dim, 1, 2, Exact)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestASumIsReleasedOnce(t *testing.T) {
	s, err := NewVectorSum(1, 1, 2, Exact)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := NewVectorSum(1, 1, 2, Exact)
	different, _ := NewVectorSum(1, 1, 3, Exact)
	if err := s.Merge(different); !errors.Is(err, ErrMismatch) {
		t.Errorf("merge of sums with other noise: %v; want ErrMismatch", err)
	}
	if err := s.Merge(other); err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Release(noise.NewSeeded(1)); !errors.Is(err, ErrReleased) {
		t.Errorf("release of a merged sum: %v; want ErrReleased", err)
	}
	if _, _, err := s.Release(noise.NewSeeded(1)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Release(noise.NewSeeded(1)); !errors.Is(err, ErrReleased) {
		t.Errorf("second release: %v; want ErrReleased", err)
	}
	if err := s.Add([]float64{1}); !errors.Is(err, ErrReleased) {
		t.Errorf("addition after the release: %v; want ErrReleased", err)
	}
}
