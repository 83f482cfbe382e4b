package mechanism_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestEventsAreThoseOfTheReleases, known before anybody is added.
func TestEventsAreThoseOfTheReleases(t *testing.T) {
	sum := must(mechanism.NewVectorSum(3, 2, 1.5))(t)
	histogram := must(mechanism.NewHistogram(4, 2, 3, dp.ReplaceOne))(t)
	choice := must(mechanism.NewPermuteAndFlip(3, 1, 0.5, dp.ReplaceOne))(t)
	_, ofSum, err := sum.Release(noise.NewSeeded(1))
	_, ofHistogram, err2 := histogram.Release(noise.NewSeeded(2))
	_, ofChoice, err3 := choice.Release(noise.NewSeeded(3))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string][2]dp.Event{
		"sum":       {sum.Event(), ofSum},
		"histogram": {histogram.Event(), ofHistogram},
		"choice":    {choice.Event(), ofChoice},
	} {
		if e[0] != e[1] {
			t.Errorf("%s: %v was said and %v is released", name, e[0], e[1])
		}
	}
	if want := (dp.Gaussian{NoiseMultiplier: 1.5}); ofSum != want {
		t.Errorf("the sum has the event %v; want %v", ofSum, want)
	}
}

// TestMergedIsAddedInOnePlace: a merged histogram and choice release what one does that
// everybody was added to.
func TestMergedIsAddedInOnePlace(t *testing.T) {
	whole, a, b := must(mechanism.NewHistogram(3, 1, 0.5, dp.AddRemoveOne))(t), must(mechanism.NewHistogram(3, 1, 0.5, dp.AddRemoveOne))(t), must(mechanism.NewHistogram(3, 1, 0.5, dp.AddRemoveOne))(t)
	all, left, right := must(mechanism.NewPermuteAndFlip(2, 1, 1, dp.AddRemoveOne))(t), must(mechanism.NewPermuteAndFlip(2, 1, 1, dp.AddRemoveOne))(t), must(mechanism.NewPermuteAndFlip(2, 1, 1, dp.AddRemoveOne))(t)
	for i := range 20 {
		part, side := a, left
		if i%3 == 0 {
			part, side = b, right
		}
		scores := []float64{float64(i % 2), 0.5}
		if err := errors.Join(whole.Add(i%3), part.Add(i%3), all.Add(scores), side.Add(scores)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(a.Merge(b), left.Merge(right)); err != nil {
		t.Fatal(err)
	}
	want, _, err := whole.Release(noise.NewSeeded(1))
	got, _, err2 := a.Release(noise.NewSeeded(1))
	best, _, err3 := all.Release(noise.NewSeeded(2))
	other, _, err4 := left.Release(noise.NewSeeded(2))
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("bin %d: %v merged, %v in one", i, got[i], want[i])
		}
	}
	if other != best {
		t.Errorf("candidate %d merged, %d in one", other, best)
	}
	if err := a.Merge(must(mechanism.NewHistogram(4, 1, 0.5, dp.AddRemoveOne))(t)); !errors.Is(err, mechanism.ErrReleased) && !errors.Is(err, mechanism.ErrMismatch) {
		t.Errorf("another histogram is merged: %v", err)
	}
}

// TestWhatIsPublicOfAMechanism: its lattice, the deviation of its noise, and how many fit.
func TestWhatIsPublicOfAMechanism(t *testing.T) {
	sum := must(mechanism.NewVectorSum(4, 1, 1))(t)
	if step := sum.Step(); !(step > 0 && step <= 0x1p-31) || step != math.Exp2(math.Round(math.Log2(step))) {
		t.Errorf("the lattice has step %v; want a power of two of at most 2^-30 / sqrt 4", step)
	}
	// With a person in at most two bins the norm is sqrt 2.
	histogram := must(mechanism.NewHistogram(5, 2, 3, dp.AddRemoveOne))(t)
	if sd := histogram.SD(); math.Abs(sd-3*math.Sqrt2) > 1e-9 {
		t.Errorf("the noise of a bin has deviation %v; want 3 sqrt 2", sd)
	}
	for name, capacity := range map[string]int64{"sum": sum.Capacity(), "histogram": histogram.Capacity(), "choice": must(mechanism.NewPermuteAndFlip(3, 1, 1, dp.AddRemoveOne))(t).Capacity()} {
		if capacity < 1<<30 {
			t.Errorf("a %s has room for %d persons; want a thousand million at least", name, capacity)
		}
	}
}

func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}
