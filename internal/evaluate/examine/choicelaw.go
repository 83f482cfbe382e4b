package examine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
)

const (
	// worldsCounted is the number of datasets on which choices are counted, in runsCounted
	// runs each, or runsEarly in the self-test.
	worldsCounted = 4
	runsCounted   = 2000
	runsEarly     = 500
	// countedFrom numbers the runs, apart from those that are sampled.
	countedFrom = 1 << 24
)

// world is a dataset of a pair.
type world struct {
	pair      pair
	neighbour bool
	shift     float64
}

// countChoices compares how often each candidate is chosen with the probability that was
// told, on those datasets whose probabilities depend most on the rate.
func (s *subject) countChoices(ctx context.Context, o *outcome, early bool) error {
	worlds, err := s.telling(ctx)
	if err != nil {
		return o.breaks("distribution of choices", err)
	}
	runs := runsCounted
	if early {
		runs = runsEarly
	}
	counted, err := parallel(ctx, len(worlds), func(i int) (replay.Choices, error) {
		seeds := make([]uint64, runs)
		for k := range seeds {
			seeds[k] = s.seedOf(i%2, countedFrom+i*runs+k)
		}
		return replay.CountChoices(ctx, worlds[i].pair.run, worlds[i].neighbour, seeds)
	})
	if err != nil {
		return o.breaks("distribution of choices", err)
	}
	tests := 0
	for _, c := range counted {
		tests += 2 * len(c.Counts)
	}
	for i, c := range counted {
		// The sampled pairs have the rest of the false-alarm rate, see hold.
		if err := improbable(c, runs, audit.DefaultFalseAlarm/float64(1+max(1, s.outside))/float64(tests)); err != nil {
			return o.breaks("distribution of choices", fmt.Errorf("%s: %w", worlds[i].pair.Kind, err))
		}
	}
	return nil
}

// telling are the datasets whose chances depend most on the rate.
func (s *subject) telling(ctx context.Context) ([]world, error) {
	var all []world
	for i, p := range s.pairs {
		for _, neighbour := range []bool{false, true} {
			c, err := replay.CountChoices(ctx, p.run, neighbour, []uint64{s.seed + uint64(i)})
			if err != nil {
				return nil, err
			}
			all = append(all, world{p, neighbour, c.Shift})
		}
	}
	slices.SortStableFunc(all, func(a, b world) int { return cmp.Compare(b.shift, a.shift) })
	return all[:min(len(all), worldsCounted)], nil
}

// improbable refutes the chances that were told, by two exact binomial tests of each. Where
// chances are as told, a test does so with probability alpha at most.
func improbable(c replay.Choices, runs int, alpha float64) error {
	for i, k := range c.Counts {
		if min(atLeast(k, runs, c.Chances[i]), atLeast(runs-k, runs, 1-c.Chances[i])) < alpha {
			return fmt.Errorf("%w: candidate %d of %d is chosen in %d of %d runs, and its probability was told as %.3g",
				replay.ErrBroken, i+1, len(c.Counts), k, runs, c.Chances[i])
		}
	}
	return nil
}

// atLeast is the probability of k or more successes in n runs with probability p.
func atLeast(k, n int, p float64) float64 {
	if k == 0 {
		return 1
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), min(max(p, 0), 1))
}
