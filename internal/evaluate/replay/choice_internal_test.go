package replay

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// byOrders is the law of permute-and-flip by its definition: a mean over all orders.
func byOrders(falls []float64) []float64 {
	law, orders := make([]float64, len(falls)), 0.0
	var put func(before []int, left []int)
	put = func(before, left []int) {
		if len(left) > 0 {
			for i, c := range left {
				put(append(slices.Clone(before), c), slices.Delete(slices.Clone(left), i, i+1))
			}
			return
		}
		orders++
		reached := 1.0
		for _, c := range before {
			law[c] += reached * falls[c]
			reached *= 1 - falls[c]
		}
	}
	all := make([]int, len(falls))
	for i := range all {
		all[i] = i
	}
	put(nil, all)
	for c := range law {
		law[c] /= orders
	}
	return law
}

// TestChancesAreThoseOverAllOrders holds the closed form against the definition.
func TestChancesAreThoseOverAllOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Int64Range(0, 40), 1, 6).Draw(t, "scores")
		rate := big.NewRat(rapid.Int64Range(1, 20).Draw(t, "rate"), 10)
		r, _ := rate.Float64()
		falls := make([]float64, len(scores))
		for i, s := range scores {
			falls[i] = math.Exp(-r * float64(slices.Max(scores)-s))
		}
		total := 0.0
		for i, want := range byOrders(falls) {
			got := math.Exp(chances(scores, rate)[i])
			total += got
			if math.Abs(got-want) > 1e-12*want {
				t.Fatalf("scores %v, rate %v: candidate %d has %v; over all orders %v", scores, rate, i, got, want)
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Fatalf("scores %v: probabilities sum to %v", scores, total)
		}
	})
}

// choice is a run of a choice between two candidates, one vote against another. The
// clip of the mechanism is what the event pays for times stretch.
func choice(stretch float64, after func(neighbour bool, drawn int) any) Run {
	return func(_ context.Context, neighbour bool, src *noise.Source) (any, error) {
		p, err := mechanism.NewPermuteAndFlip(2, 1, stretch, dp.ReplaceOne)
		if err != nil {
			return nil, err
		}
		vote := []float64{0, 5}
		if neighbour {
			vote = []float64{5, 0}
		}
		if err := errors.Join(p.Add(vote), p.Add([]float64{0, 1})); err != nil {
			return nil, err
		}
		drawn, _, err := p.Release(src)
		return after(neighbour, drawn), err
	}
}

// TestChoicesAreHeldAgainstTheirEpsilon: one that spends what it pays for passes, and
// needs nearly all of it; twice the rate, a second choice, a release that tells more than
// the choice, and a choice that nobody pays for are refuted.
func TestChoicesAreHeldAgainstTheirEpsilon(t *testing.T) {
	ctx := context.Background()
	plain := func(_ bool, drawn int) any { return drawn }
	r, err := CheckChoice(ctx, choice(1, plain), 1, 1)
	if err != nil || r.Releases != 1 || r.Ratio < 0.6 {
		t.Errorf("an honest choice: %+v, %v", r, err)
	}
	once := choice(1, plain)
	for name, run := range map[string]Run{
		"twice the rate":         choice(2, plain),
		"tells of the neighbour": choice(1, func(neighbour bool, drawn int) any { return []any{drawn, neighbour} }),
		"two choices": func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
			a, err := once(ctx, neighbour, src)
			b, again := once(ctx, neighbour, src)
			return []any{a, b}, errors.Join(err, again)
		},
		"no choice": func(context.Context, bool, *noise.Source) (any, error) { return 1, nil },
	} {
		if _, err := CheckChoice(ctx, run, 1, 1); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v; want ErrBroken", name, err)
		}
	}
	if _, err := CheckRun(ctx, once, 1, 1); !errors.Is(err, ErrBroken) {
		t.Errorf("a choice in a run of sums: %v; want ErrBroken", err)
	}
}
