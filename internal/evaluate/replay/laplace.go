package replay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
)

// LaplaceEpsilon is the epsilon, at delta 0, of sums with discrete Laplace noise, by how much
// neighbours differ in l1 over the scale, and their number: 0 of other events.
func LaplaceEpsilon(e dp.Event, adjacency dp.Adjacency) (epsilon float64, sums int) {
	switch e := e.(type) {
	case dp.DiscreteLaplace:
		return adjacency.SumSensitivity(math.Floor(e.Norm)) / e.Scale, 1
	case dp.Composed:
		for _, part := range e.Events {
			one, n := LaplaceEpsilon(part, adjacency)
			if n == 0 {
				return 0, 0
			}
			epsilon, sums = epsilon+one, sums+n
		}
	}
	return epsilon, sums
}

// ReleaseLaplace implements hook.LaplaceTape.
func (k *keeper) ReleaseLaplace(scale float64, sum, noisy []int64) {
	k.hold(scale, true, len(sum))
	k.kept = append(k.kept, noisySum{1, scale, true, slices.Clone(sum), slices.Clone(noisy)})
}

// ReleaseLaplace implements hook.LaplaceTape: it shows what was kept, and adds up the largest
// log-likelihood ratio that the two sums allow.
func (f *forcer) ReleaseLaplace(scale float64, sum, noisy []int64) {
	f.hold(scale, true, len(sum))
	f.laplaces++
	if k, ok := f.same(1, scale, true, sum); ok {
		for i, s := range sum {
			f.loss += math.Abs(float64(s-k.sum[i])) / scale
		}
		copy(noisy, k.noisy)
	}
}

// CheckLaplace is [CheckRun] of a run that makes so many sums with discrete Laplace noise:
// what the pair differs by in l1, over the scales, is at most epsilon. Result.Ratio is its share.
func CheckLaplace(ctx context.Context, run Run, sums int, epsilon float64, seed uint64) (Result, error) {
	shown, forced, want, got, err := run.twice(ctx, seed)
	if err != nil {
		return Result{}, err
	}
	result := Result{Releases: len(shown.kept), Ratio: forced.loss / epsilon}
	switch {
	case forced.wrong != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, forced.wrong)
	case shown.amiss+forced.amiss != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, cmp.Or(shown.amiss, forced.amiss))
	case len(shown.kept) != sums || forced.next != sums || forced.laplaces != sums:
		return result, fmt.Errorf("%w: %d noisy sums of the dataset and %d of its neighbour, where %d with Laplace noise are paid for", ErrBroken, len(shown.kept), forced.next, sums)
	case len(shown.choices)+forced.choices > 0:
		return result, fmt.Errorf("%w: a choice beside the sums that are paid for", ErrBroken)
	case !(forced.loss <= epsilon*(1+tolerance)):
		return result, fmt.Errorf("%w: the pair needs epsilon = %v and the plan pays for %v", ErrBroken, forced.loss, epsilon)
	case !bytes.Equal(want, got):
		return result, fmt.Errorf("%w: equal noisy sums and different releases: %s", ErrBroken, firstDifference(want, got))
	}
	return result, nil
}
