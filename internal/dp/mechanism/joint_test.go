package mechanism

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
)

// elsewhere gives out a sum, or an earlier draw, as it is told, and keeps what is drawn.
type elsewhere struct {
	all     hook.Sum
	earlier []int64
	kept    [][]int64
	instead []int64
}

func (e *elsewhere) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	all := e.all
	if all.Step == 0 {
		all.Step, all.Sigma = own.Step, own.Sigma
	}
	return all, e.earlier, nil
}

func (e *elsewhere) Keep(noisy []int64) ([]int64, error) {
	e.kept = append(e.kept, slices.Clone(noisy))
	if e.instead != nil {
		return e.instead, nil
	}
	return noisy, nil
}

// TestJointReleaseOfASum: what is released is the sum of all with noise drawn once, an
// earlier draw as it was, or what another process had kept before.
func TestJointReleaseOfASum(t *testing.T) {
	release := func(e *elsewhere) ([]float64, float64, error) {
		s, err := NewVectorSum(2, 1, 2, Exact)
		if err != nil {
			t.Fatal(err)
		}
		src := noise.NewSeeded(4)
		src.Join(e)
		out, _, err := s.Release(src)
		return out, s.Step(), err
	}
	all := hook.Sum{Values: []int64{1 << 31, -7}, Persons: 3}
	first := &elsewhere{all: all}
	a, step, err := release(first)
	if err != nil || len(first.kept) != 1 {
		t.Fatalf("%v; %d draws kept; want 1", err, len(first.kept))
	}
	for i, k := range first.kept[0] {
		if a[i] != float64(k)*step || k == all.Values[i] {
			t.Errorf("coordinate %d is released as %v, and %d steps of %v are kept, of sum %d", i, a[i], k, step, all.Values[i])
		}
	}
	again := &elsewhere{earlier: first.kept[0]}
	b, _, err := release(again)
	if err != nil || !slices.Equal(a, b) || again.kept != nil {
		t.Errorf("an earlier draw %v is released as %v, %v; %d new draws", a, b, err, len(again.kept))
	}
	lost := &elsewhere{all: all, instead: []int64{5, 6}}
	if c, _, err := release(lost); err != nil || c[0] != 5*step || c[1] != 6*step {
		t.Errorf("another process kept 5 and 6 steps before, and %v is released, %v", c, err)
	}
	grid, err := NewVectorSum(2, 1, 2, Exact)
	if err != nil {
		t.Fatal(err)
	}
	most := grid.Capacity()
	for name, bad := range map[string]hook.Sum{
		"without room":    {Values: []int64{math.MinInt64 + 7, 0}, Persons: most}, // and of as many persons as fit
		"too long":        {Values: []int64{1, 2, 3}, Persons: 3},
		"too large":       {Values: []int64{0, math.MaxInt64}, Persons: 1},
		"of minus one":    {Values: []int64{0, 0}, Persons: -1},
		"another lattice": {Step: 2, Sigma: 1, Values: []int64{0, 0}, Persons: 3},
	} {
		e := &elsewhere{all: bad}
		if _, _, err := release(e); !errors.Is(err, ErrMismatch) && !errors.Is(err, ErrCapacity) || e.kept != nil {
			t.Errorf("a sum that is %s: %v, %d draws", name, err, len(e.kept))
		}
	}
	if _, _, err := release(&elsewhere{all: hook.Sum{Values: []int64{0, 0}, Persons: 1 << 40}}); !errors.Is(err, ErrCapacity) {
		t.Errorf("more persons than fit: %v", err)
	}
	if _, _, err := release(&elsewhere{earlier: []int64{1}}); !errors.Is(err, ErrMismatch) {
		t.Errorf("an earlier draw of another length: %v", err)
	}
}

// TestJointReleaseOfAStatistic: the value and its bound are made of the integers of all
// persons, their noise is drawn once, and the bytes are those of one process. An earlier
// draw, or that of another process, is released as it was.
func TestJointReleaseOfAStatistic(t *testing.T) {
	s := Smooth{Alpha: 2, Beta: 0.1, Step: 0x1p-20}
	all := hook.Sum{Step: s.Step, Values: []int64{3, 50, 7}, Persons: 9}
	of := func(x Statistic) ([]float64, float64, error) {
		if x.Persons != 9 || x.Capacity != 100 {
			t.Errorf("of %d persons, capacity %d; want 9 and 100", x.Persons, x.Capacity)
		}
		return []float64{float64(x.Values[1]) / float64(x.Values[0]), 1}, float64(x.Values[2]), nil
	}
	alone, _, err := s.ReleaseOf(Statistic{Values: all.Values, Persons: 9, Capacity: 100}, 2, of, noise.NewSeeded(4))
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := s.Release([]float64{50.0 / 3, 1}, 7, noise.NewSeeded(4))
	if err != nil || !slices.Equal(alone, plain) {
		t.Errorf("of a statistic %v, of its value and bound %v, %v", alone, plain, err)
	}
	release := func(e *elsewhere) ([]float64, error) {
		src := noise.NewSeeded(4)
		src.Join(e)
		out, _, err := s.ReleaseOf(Statistic{Values: []int64{1, 2, 3}, Persons: 1, Capacity: 100}, 2, of, src)
		return out, err
	}
	first := &elsewhere{all: all}
	joint, err := release(first)
	if err != nil || !slices.Equal(joint, alone) || len(first.kept) != 1 {
		t.Errorf("one process releases %v, a joint release is %v, %v; %d draws kept", alone, joint, err, len(first.kept))
	}
	again := &elsewhere{earlier: first.kept[0]}
	if out, err := release(again); err != nil || !slices.Equal(out, alone) || again.kept != nil {
		t.Errorf("an earlier draw is released as %v, %v; %d new draws", out, err, len(again.kept))
	}
	if out, err := release(&elsewhere{all: all, instead: []int64{5, 6}}); err != nil || !slices.Equal(out, []float64{5 * s.Step, 6 * s.Step}) {
		t.Errorf("another process kept 5 and 6 steps before, and %v is released, %v", out, err)
	}
	for name, bad := range map[string]hook.Sum{
		"too long":           {Step: s.Step, Values: []int64{3, 50, 7, 1}, Persons: 9},
		"of minus one":       {Step: s.Step, Values: all.Values, Persons: -1},
		"of too many":        {Step: s.Step, Values: all.Values, Persons: 101},
		"another lattice":    {Step: 2 * s.Step, Values: all.Values, Persons: 9},
		"noisy in public":    {Step: s.Step, Sigma: 1, Values: all.Values, Persons: 9},
		"of no use for this": {Step: s.Step, Values: nil, Persons: 9},
	} {
		e := &elsewhere{all: bad}
		if _, err := release(e); !errors.Is(err, ErrMismatch) && !errors.Is(err, ErrCapacity) || e.kept != nil {
			t.Errorf("a statistic that is %s: %v, %d draws", name, err, len(e.kept))
		}
	}
	if _, err := release(&elsewhere{earlier: []int64{1}}); !errors.Is(err, ErrMismatch) {
		t.Errorf("an earlier draw of another length: %v", err)
	}
}

// TestAReplayCannotDraw: a source without noise does not give any.
func TestAReplayCannotDraw(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a replay drew noise")
		}
	}()
	src := new(noise.Source)
	src.Join(&elsewhere{})
	src.Uint64()
}
