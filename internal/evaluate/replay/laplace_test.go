package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// counting is a run that counts three persons in bins with Laplace noise of a scale; the
// neighbour's first person is in another bin.
func counting(scale float64, after func(neighbour bool, noisy []float64) any) Run {
	return func(_ context.Context, neighbour bool, src *noise.Source) (any, error) {
		h, err := mechanism.NewLaplaceHistogram(4, scale)
		if err != nil {
			return nil, err
		}
		first := 0
		if neighbour {
			first = 3
		}
		if err := errors.Join(h.Add(first), h.Add(1), h.Add(1)); err != nil {
			return nil, err
		}
		noisy, _, err := h.Release(src)
		return after(neighbour, noisy), err
	}
}

// TestLaplaceSumsAreHeldAgainstTheirEpsilon: a replaced person needs all of epsilon, whose
// scale is 2 over it; less noise, another draw, a second sum and a note about the data are refuted.
func TestLaplaceSumsAreHeldAgainstTheirEpsilon(t *testing.T) {
	ctx := context.Background()
	plain := func(_ bool, noisy []float64) any { return noisy }
	one := dp.DiscreteLaplace{Scale: 4, Norm: 1}
	if e, sums := LaplaceEpsilon(dp.Composed{Events: []dp.Event{one, dp.DiscreteLaplace{Scale: 8, Norm: 1}}}, dp.ReplaceOne); e != 0.75 || sums != 2 {
		t.Fatalf("epsilon of scales 4 and 8 is %v, of %d sums; want 2/4 + 2/8", e, sums)
	}
	if e, sums := LaplaceEpsilon(dp.Composed{Events: []dp.Event{one, dp.Gaussian{NoiseMultiplier: 1}}}, dp.ReplaceOne); e != 0 || sums != 0 {
		t.Fatalf("Laplace noise beside Gaussian: epsilon %v of %d sums", e, sums)
	}
	r, err := CheckLaplace(ctx, counting(4, plain), 1, 0.5, 1)
	if err != nil || r.Ratio != 1 || r.Releases != 1 {
		t.Errorf("an honest count: %+v, %v; want all of epsilon", r, err)
	}
	once := counting(4, plain)
	for name, run := range map[string]Run{
		"half the scale":         counting(2, plain),
		"tells of the neighbour": counting(4, func(neighbour bool, noisy []float64) any { return []any{noisy, neighbour} }),
		"two sums": func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
			a, err := once(ctx, neighbour, src)
			b, again := once(ctx, neighbour, src)
			return []any{a, b}, errors.Join(err, again)
		},
		"no sum": func(context.Context, bool, *noise.Source) (any, error) { return 1, nil },
		"a smaller draw than is told": func(_ context.Context, _ bool, src *noise.Source) (any, error) {
			l, err := noise.NewDiscreteLaplace(2)
			if err != nil {
				return nil, err
			}
			noisy := []int64{l.Sample(src)}
			src.Tape().(interface {
				ReleaseLaplace(scale float64, sum, noisy []int64)
			}).ReleaseLaplace(4, []int64{0}, noisy)
			return noisy, nil
		},
	} {
		if _, err := CheckLaplace(ctx, run, 1, 0.5, 1); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v; want ErrBroken", name, err)
		}
	}
	if _, err := CheckRun(ctx, once, 1, 1); !errors.Is(err, ErrBroken) {
		t.Errorf("Laplace noise in a run of Gaussian sums: %v; want ErrBroken", err)
	}
}
