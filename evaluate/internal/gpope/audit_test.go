package gpope

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Another record of one person moves the sum of a step by at most twice the
// clip, however wild the record and wherever the walk stands, with one-hot
// features and with dense ones.
func TestOnePersonMovesAStepByTwiceTheClipAtMost(t *testing.T) {
	const persons, clip = 12, 0.01
	d := ring(persons)
	wild := *d
	wild.Reward = append([]float64(nil), d.Reward...)
	for row := range d.EpisodeStart[d.PersonStart[1]] {
		wild.Reward[row] = -1e12
	}
	for name, features := range map[string]feature.Map{"one-hot": oneHot4(t), "dense": ramps(3)} {
		n := features.Dim()
		sums := make([][]float64, 2)
		for i, data := range []*trajectory.Dataset{d, &wild} {
			r, s := miniBatch(t, data, features, mechanism.Exact, persons)
			r.Clip = clip
			sum, err := r.StepSum()
			if err != nil {
				t.Fatal(err)
			}
			people := r.newGradients(s)
			theta, w := make([]float64, n), make([]float64, n)
			for j := range n {
				theta[j], w[j] = math.Sin(float64(j)), math.Cos(float64(j))
			}
			for p := range persons {
				if err := people.add(sum, theta, w, p); err != nil {
					t.Fatal(err)
				}
			}
			sums[i] = make([]float64, 2*n)
			if err := sum.Release(sums[i], noise.NewSeeded(1)); err != nil {
				t.Fatal(err)
			}
		}
		square := 0.0
		for j := range sums[0] {
			square += (sums[0][j] - sums[1][j]) * (sums[0][j] - sums[1][j])
		}
		// The integers differ by at most 2 clip; floats of the noisy sums round.
		if moved := math.Sqrt(square); moved < 0.1*clip || moved > 2*clip*(1+1e-9) {
			t.Errorf("%s: the sum moved by %v; want at most %v, and not next to nothing", name, moved, 2*clip)
		}
	}
}

// TestWalksAreDeterministicInTheirSource: the same seed gives the same theta, and
// another seed another, however persons are picked.
func TestWalksAreDeterministicInTheirSource(t *testing.T) {
	d := ring(60)
	for _, kind := range []mechanism.Noise{mechanism.Exact, mechanism.Fast} {
		one, s := algorithm1(t, d, oneHot4(t), kind)
		poisson, _ := miniBatch(t, d, oneHot4(t), kind, 20)
		uniform, _ := miniBatch(t, d, oneHot4(t), kind, 20)
		uniform.Scheme = NewScheme(Uniform, 60, 7)
		for _, w := range []*Walk{one, poisson, uniform} {
			w.Iterations = 200
			draw := func(seed uint64) []float64 {
				theta, err := w.On(s)(context.Background(), noise.NewSeeded(seed))
				if err != nil {
					t.Fatal(err)
				}
				return theta
			}
			a, b, c := draw(1), draw(1), draw(2)
			if !slices.Equal(a, b) {
				t.Errorf("%+v: %v, then %v from the same seed", w.Scheme, a, b)
			}
			if slices.Equal(a, c) {
				t.Errorf("%+v: two seeds give the same noise", w.Scheme)
			}
		}
	}
}

// Lazy and eager noise give theta the same law: means and standard deviations of
// every component over 4000 runs, at 5.6 standard errors (16 comparisons, 4e-7).
func TestLazyNoiseHasTheLawOfEagerNoise(t *testing.T) {
	const persons, runs = 30, 4000
	d := ring(persons)
	r, s := algorithm1(t, d, oneHot4(t), mechanism.Fast)
	r.Iterations, r.Clip = 40, 0.5
	if !r.lazyAllowed() {
		t.Fatal("Algorithm 1 with fast noise is not drawn lazily")
	}
	moments := func(w run, seed uint64) (mean, variance, fourth [4]float64) {
		src := noise.NewSeeded(seed)
		var all [runs][]float64
		for i := range all {
			x, err := w(context.Background(), src)
			if err != nil {
				t.Fatal(err)
			}
			all[i] = slices.Clone(x)
			for j, v := range x {
				mean[j] += v / runs
			}
		}
		for _, x := range all {
			for j, v := range x {
				e := (v - mean[j]) * (v - mean[j])
				variance[j] += e / runs
				fourth[j] += e * e / runs
			}
		}
		return mean, variance, fourth
	}
	m1, v1, f1 := moments(r.lazy(s), 1)
	m2, v2, f2 := moments(r.eager(s), 2)
	for j := range m1 {
		if se := math.Sqrt((v1[j] + v2[j]) / runs); math.Abs(m1[j]-m2[j]) > 5.6*se {
			t.Errorf("component %d: mean %v lazily, %v eagerly, standard error %v", j, m1[j], m2[j], se)
		}
		if se := math.Sqrt((f1[j] - v1[j]*v1[j] + f2[j] - v2[j]*v2[j]) / runs); math.Abs(v1[j]-v2[j]) > 5.6*se {
			t.Errorf("component %d: variance %v lazily, %v eagerly, standard error %v", j, v1[j], v2[j], se)
		}
	}
}

// Whatever looks at all coordinates between steps, and integers, rule lazy noise
// out.
func TestLazyNoiseIsRuledOut(t *testing.T) {
	d := ring(30)
	for name, change := range map[string]func(w *Walk){
		"exact":       func(w *Walk) { w.Public.Noise = mechanism.Exact },
		"average":     func(w *Walk) { w.Average = true },
		"project":     func(w *Walk) { w.Project = true },
		"momentum":    func(w *Walk) { w.Momentum = 0.1 },
		"diminishing": func(w *Walk) { w.Schedule = Schedule{LambdaMin: 1} },
		"poisson":     func(w *Walk) { w.Scheme = NewScheme(Poisson, 30, 1) },
		"batch":       func(w *Walk) { w.Scheme = NewScheme(Uniform, 30, 2) },
		"dense":       nil,
	} {
		features := oneHot4(t)
		if name == "dense" {
			features = ramps(3)
		}
		w, s := algorithm1(t, d, features, mechanism.Fast)
		if change != nil {
			change(w)
		}
		if w.lazyAllowed() {
			t.Errorf("%s: noise is drawn lazily", name)
		}
		if _, err := w.eager(s)(context.Background(), noise.NewSeeded(1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWalksStopWithTheirContext(t *testing.T) {
	d := ring(30)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, s := algorithm1(t, d, oneHot4(t), mechanism.Fast)
	r.Iterations = 1000
	for name, w := range map[string]run{"lazy": r.lazy(s), "eager": r.eager(s)} {
		if _, err := w(ctx, noise.NewSeeded(1)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v; want the context's error", name, err)
		}
	}
}
