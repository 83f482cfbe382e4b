package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"pgregory.net/rapid"
)

func newSteps(t testing.TB, dim int, clip, multiplier float64, steps int64, kind Noise) *StepSum {
	t.Helper()
	s, err := NewStepSum(dim, clip, multiplier, steps, kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every step of exact noise is a VectorSum of the same persons: the same lattice,
// the same draws, and sums apart by at most two lattice steps a person who was
// clipped (the two compute the clip's factor in different orders).
func TestEveryStepIsAVectorSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 6).Draw(t, "dim")
		seed := rapid.Uint64().Draw(t, "seed")
		const clip, multiplier, steps = 3, 0.5, 3
		s, err := NewStepSum(dim, clip, multiplier, steps, Exact)
		if err != nil {
			t.Fatal(err)
		}
		mine, theirs := noise.NewSeeded(seed), noise.NewSeeded(seed)
		got := make([]float64, dim)
		for range steps {
			v, err := NewVectorSum(dim, clip, multiplier, Exact)
			if err != nil {
				t.Fatal(err)
			}
			persons := rapid.IntRange(0, 4).Draw(t, "persons")
			for range persons {
				x := anyVector(t, dim)
				if s.Add(x) != nil || v.Add(x) != nil {
					t.Fatal("refused")
				}
			}
			want, _, err := v.Release(theirs)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Release(got, mine); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if math.Abs(got[i]-want[i]) > 2*float64(persons)*v.Step() {
					t.Fatalf("coordinate %d: %v; a VectorSum gives %v", i, got[i], want[i])
				}
			}
		}
	})
}

// Whatever is added, what one person moves has norm at most the clip: with exact
// noise in integers, with fast noise in float64.
func TestStepContributionsStayInsideTheClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 8).Draw(t, "dim")
		x := anyVector(t, dim)
		const clip = 0.7
		for _, kind := range []Noise{Exact, Fast} {
			s, err := NewStepSum(dim, clip, 1, 1, kind)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Add(x); err != nil {
				t.Fatal(err)
			}
			square := 0.0
			for i := range dim {
				v := 0.0
				if kind == Fast {
					v = s.total[i]
				} else {
					v = float64(s.sum[i]) * s.grid.step
				}
				square += v * v
			}
			if kind == Exact && !s.grid.within(s.sum) || !(square <= clip*clip*(1+1e-14)) {
				t.Fatalf("%v, noise %v: norm %v above the clip", x, kind, math.Sqrt(square))
			}
		}
	})
}

func TestAddAtIsAddWithZeros(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const dim = 7
		index := rapid.SliceOfNDistinct(rapid.Int32Range(0, dim-1), 0, dim, rapid.ID).Draw(t, "index")
		x := anyVector(t, dim)[:len(index)]
		full := make([]float64, dim)
		for k, i := range index {
			full[i] = x[k]
		}
		for _, kind := range []Noise{Exact, Fast} {
			sparse, _ := NewStepSum(dim, 1, 1, 1, kind)
			dense, err := NewStepSum(dim, 1, 1, 1, kind)
			if err != nil {
				t.Fatal(err)
			}
			if sparse.AddAt(index, x) != nil || dense.Add(full) != nil {
				t.Fatal("refused")
			}
			a, b := make([]float64, dim), make([]float64, dim)
			if sparse.Release(a, noise.NewSeeded(1)) != nil || dense.Release(b, noise.NewSeeded(1)) != nil {
				t.Fatal("refused")
			}
			// The order of coordinates changes the float sum of squares.
			for i := range a {
				if math.Abs(a[i]-b[i]) > 1e-8 {
					t.Fatalf("noise %v, coordinate %d: %v, dense %v", kind, i, a[i], b[i])
				}
			}
		}
	})
}

func TestStepsAreCountedAndIndependentOfEachOther(t *testing.T) {
	s := newSteps(t, 1, 1, 0.01, 2, Exact)
	dst, src := make([]float64, 1), noise.NewSeeded(3)
	for step, want := range []float64{1, 0} {
		if step == 0 {
			if err := s.Add([]float64{5}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Release(dst, src); err != nil {
			t.Fatal(err)
		}
		if math.Abs(dst[0]-want) > 0.1 { // ten standard deviations
			t.Errorf("step %d: %v; want about %v", step, dst[0], want)
		}
	}
	if err := s.Add([]float64{1}); !errors.Is(err, ErrReleased) {
		t.Errorf("addition after the last step: %v", err)
	}
	if err := s.Release(dst, src); !errors.Is(err, ErrReleased) {
		t.Errorf("a third of two steps: %v", err)
	}
}

func TestACoordinateGivenTwicePanics(t *testing.T) {
	s := newSteps(t, 3, 1, 1, 1, Exact)
	w, err := NewLazyWalk(make([]float64, 3), []float64{1, 1, 1}, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"StepSum":  func() { _ = s.AddAt([]int32{2, 2}, []float64{1, 1}) },
		"LazyWalk": func() { _ = w.Step([]int32{2, 2}, []float64{1, 1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the clip does not bound coordinates that add up, and nothing panicked", name)
				}
			}()
			f()
		}()
	}
}

func TestBrokenGradientsCountAsZero(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, kind := range []Noise{Exact, Fast} {
			got, want := make([]float64, 2), make([]float64, 2)
			broken, none := newSteps(t, 2, 1, 1, 1, kind), newSteps(t, 2, 1, 1, 1, kind)
			if broken.Add([]float64{1, bad}) != nil || broken.AddAt([]int32{1}, []float64{bad}) != nil {
				t.Fatal("refused")
			}
			if broken.Release(got, noise.NewSeeded(1)) != nil || none.Release(want, noise.NewSeeded(1)) != nil {
				t.Fatal("refused")
			}
			if got[0] != want[0] || got[1] != want[1] {
				t.Errorf("%v, noise %v: %v; without the person %v", bad, kind, got, want)
			}
		}
	}
}

func TestStepsRefuseWhatTheyCannotHold(t *testing.T) {
	for name, make := range map[string]func() error{
		"no steps":  func() error { _, err := NewStepSum(2, 1, 1, 0, Exact); return err },
		"no clip":   func() error { _, err := NewStepSum(2, 0, 1, 1, Exact); return err },
		"no noise":  func() error { _, err := NewStepSum(2, 1, 0, 1, Fast); return err },
		"no dim":    func() error { _, err := NewStepSum(0, 1, 1, 1, Fast); return err },
		"lazy clip": func() error { _, err := NewLazyWalk([]float64{0}, []float64{1}, math.Inf(1), 1, 1); return err },
		"lazy step": func() error { _, err := NewLazyWalk([]float64{0}, []float64{1}, 1, 1, 0); return err },
	} {
		if err := make(); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v; want ErrParameter", name, err)
		}
	}
}

func TestStepsAllocateNothing(t *testing.T) {
	const dim = 80
	x, index, dst := make([]float64, dim), make([]int32, dim), make([]float64, dim)
	for i := range index {
		index[i], x[i] = int32(i), float64(i)
	}
	for _, kind := range []Noise{Exact, Fast} {
		s, src := newSteps(t, dim, 1, 1, 1<<20, kind), noise.NewSeeded(1)
		got := testing.AllocsPerRun(20, func() {
			if s.AddAt(index, x) != nil || s.Add(x) != nil {
				t.Fatal("refused")
			}
		})
		if got != 0 {
			t.Errorf("noise %v: an addition allocates %v times", kind, got)
		}
		// The source's refills allocate a little, every 1024 words.
		if got := testing.AllocsPerRun(20, func() { _ = s.Release(dst, src) }); got > 3 {
			t.Errorf("noise %v: a release allocates %v times", kind, got)
		}
	}
}

// auditOneStep is one step of descent on the worst neighbours: everybody else's
// gradient is zero, and one person's is as large as it gets, in one direction or
// in the other. spoil makes the mechanism that is audited worse.
func auditOneStep(t *testing.T, adjacency dp.Adjacency, kind Noise, clip, multiplier float64) audited {
	one, other := []float64{200, 0, 0}, []float64{-200, 0, 0}
	return audited{auditRuns, func(neighbour bool, src *noise.Source) []float64 {
		s := newSteps(t, 3, clip, multiplier, 1, kind)
		var err error
		switch {
		case neighbour:
			err = s.Add(one)
		case adjacency == dp.ReplaceOne:
			err = s.Add(other)
		}
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, 3)
		if err := s.Release(out, src); err != nil {
			t.Fatal(err)
		}
		return out
	}, []float64{1, 0, 0}}
}

// The claim is that of an event of mu 1 with the clip 3 of the plan.
// Halved noise, and a clip twice as wide under the same noise, are both caught.
func TestAuditOfAStepDoesNotBreakTheClaim(t *testing.T) {
	const clip, claim = 3, 1.0
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		multiplier := adjacency.SumSensitivity(1) / claim
		for _, kind := range []Noise{Exact, Fast} {
			got := auditOneStep(t, adjacency, kind, clip, multiplier).lowerMu(t, noise.NewSeeded(21))
			if got > claim || got < 0.9*claim {
				t.Errorf("%v, noise %v: mu is at least %.4f; want just below %.4f", adjacency, kind, got, claim)
			}
			if got := auditOneStep(t, adjacency, kind, clip, multiplier/2).lowerMu(t, noise.NewSeeded(22)); got < claim {
				t.Errorf("%v, noise %v: halved noise passes: %.4f, claim %.4f", adjacency, kind, got, claim)
			}
			if got := auditOneStep(t, adjacency, kind, 2*clip, multiplier/2).lowerMu(t, noise.NewSeeded(23)); got < claim {
				t.Errorf("%v, noise %v: a wider clip under the same noise passes: %.4f, claim %.4f", adjacency, kind, got, claim)
			}
		}
	}
}
