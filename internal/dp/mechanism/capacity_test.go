package mechanism

import (
	"errors"
	"testing"
)

// A sum holds as many persons as its lattice is planned for, whether they are added
// one by one or merged, and not one more; and sums of unlike lattices do not merge.
func TestASumHoldsItsCapacityAndNoMore(t *testing.T) {
	of := func(persons int64) *accumulator {
		return &accumulator{grid: lattice{step: 1, radius: 1 << 60, sigma: 1}, sum: make([]int64, 1), persons: persons}
	}
	const most = 4 // 2^62 / 2^60
	if got := of(0).grid.capacity(); got != most {
		t.Fatalf("capacity %d; want %d", got, most)
	}
	full := of(0)
	for range most {
		if err := full.add([]int64{1 << 60}); err != nil {
			t.Fatal(err)
		}
	}
	if full.sum[0] != 1<<62 {
		t.Errorf("the sum is %d; want 2^62", full.sum[0])
	}
	if err := full.add([]int64{1}); !errors.Is(err, ErrCapacity) {
		t.Errorf("a person beyond the capacity: %v", err)
	}
	if err := of(3).merge(of(2)); !errors.Is(err, ErrCapacity) {
		t.Errorf("3 and 2 persons merge in a sum for 4: %v", err)
	}
	three := of(3)
	if err := three.merge(of(1)); err != nil || three.persons != most {
		t.Errorf("3 and 1 persons: %d, %v", three.persons, err)
	}
	if err := three.add([]int64{1}); !errors.Is(err, ErrCapacity) {
		t.Errorf("merged persons are not counted: %v", err)
	}
	coarser := of(0)
	coarser.grid.step = 2
	noisier := of(0)
	noisier.grid.sigma = 2
	for _, other := range []*accumulator{coarser, noisier} {
		if err := of(0).merge(other); !errors.Is(err, ErrMismatch) {
			t.Errorf("sums on %+v and %+v merge: %v", of(0).grid, other.grid, err)
		}
	}
	once := of(1)
	if err := of(0).merge(once); err != nil {
		t.Fatal(err)
	}
	if err := of(0).merge(once); !errors.Is(err, ErrReleased) {
		t.Errorf("a sum is merged twice, so that its persons count twice: %v", err)
	}
}
