package mechanism_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// gathered keeps the exact sum of a release.
type gathered struct{ sum hook.Sum }

func (g *gathered) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	g.sum = own
	g.sum.Values = slices.Clone(own.Values)
	return own, nil, nil
}

func (g *gathered) Keep(noisy []int64) ([]int64, error) { return noisy, nil }

// TestSpreadAddsEverybodyOnce: by any number of workers the exact sum is the one by hand, and each worker comes to persons
// in order.
func TestSpreadAddsEverybodyOnce(t *testing.T) {
	fresh := func() (*mechanism.VectorSum, error) {
		return mechanism.NewVectorSum(3, 4, 1, mechanism.Exact)
	}
	for _, persons := range []int{0, 1, 511, 1024, 1025, 5000} {
		for _, workers := range []int{1, 2, 3, 7, mechanism.Workers(3)} {
			src, all := noise.NewSeeded(1), new(gathered)
			src.Join(all)
			_, err := mechanism.Spread(fresh, workers, persons, func(sum *mechanism.VectorSum) func(int) error {
				last := -1
				return func(p int) error {
					if p <= last {
						return fmt.Errorf("person %d after %d", p, last)
					}
					last = p
					return sum.Add([]float64{1, float64(p%2) / 2, -2})
				}
			}, src)
			if err != nil {
				t.Fatal(err)
			}
			one := int64(1 / all.sum.Step)
			want := []int64{int64(persons) * one, int64(persons/2) * one / 2, -2 * int64(persons) * one}
			if all.sum.Persons != int64(persons) || !slices.Equal(all.sum.Values, want) {
				t.Errorf("%d persons by %d workers: %d, %v; want %v", persons, workers, all.sum.Persons, all.sum.Values, want)
			}
		}
	}
}

// TestSpreadEndsWithAnError: nothing is released where a person cannot be added, or no sum be made.
func TestSpreadEndsWithAnError(t *testing.T) {
	fault := errors.New("this one")
	fresh := func() (*mechanism.VectorSum, error) { return mechanism.NewVectorSum(1, 1, 1, mechanism.Exact) }
	noisy, err := mechanism.Spread(fresh, 2, 3000, func(*mechanism.VectorSum) func(int) error {
		return func(p int) error {
			if p == 2999 {
				return fault
			}
			return nil
		}
	}, noise.NewSeeded(1))
	if noisy != nil || !errors.Is(err, fault) {
		t.Errorf("released %v, %v", noisy, err)
	}
	none := func() (*mechanism.VectorSum, error) { return nil, fault }
	noisy, err = mechanism.Spread(none, 2, 3000, func(*mechanism.VectorSum) func(int) error { panic("there is no sum") }, noise.NewSeeded(1))
	if noisy != nil || !errors.Is(err, fault) {
		t.Errorf("released %v, %v", noisy, err)
	}
}

// TestWideSumsHaveOneWorker: a table of 2^25 numbers on 64 processors would take 32 GB.
func TestWideSumsHaveOneWorker(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	for coordinates, want := range map[int]int{1: 64, 1 << 20: 64, 1<<20 + 1: 1, 1 << 25: 1} {
		if got := mechanism.Workers(coordinates); got != want {
			t.Errorf("%d coordinates have %d workers; want %d", coordinates, got, want)
		}
	}
}
