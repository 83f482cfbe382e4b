package replay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// CheckHalves is [CheckRun] of a run in which a person is in one of two halves: in one that pays epsilon
// for choices and sums with Laplace noise, or in one that pays the budget's mu for Gaussian sums. A
// pair may need all of either, and nothing of the other. Result.Ratio is the larger share.
func CheckHalves(ctx context.Context, run Run, b dp.Budget, seed uint64) (Result, error) {
	mu, err := account.GaussianMu(b)
	if err != nil {
		return Result{}, err
	}
	shown, forced, want, got, err := run.twice(ctx, seed)
	if err != nil {
		return Result{}, err
	}
	allowed := mu.Lower * mu.Lower
	result := Result{Releases: len(shown.kept) + len(shown.choices), Ratio: max(forced.loss/b.Epsilon, forced.spent/allowed)}
	switch {
	case forced.wrong != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, forced.wrong)
	case shown.amiss+forced.amiss != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, cmp.Or(shown.amiss, forced.amiss))
	case forced.next != len(shown.kept) || forced.choices != len(shown.choices):
		return result, fmt.Errorf("%w: %d noisy sums and %d choices of the dataset, and %d and %d of its neighbour", ErrBroken, len(shown.kept), len(shown.choices), forced.next, forced.choices)
	case len(shown.kept)+len(shown.choices) == 0:
		return result, fmt.Errorf("%w: the run makes no exact noisy sum", ErrUncovered)
	case forced.loss > 0 && forced.spent > 0:
		return result, fmt.Errorf("%w: the pair differs in both halves", ErrBroken)
	case !(forced.loss <= b.Epsilon*(1+tolerance)):
		return result, fmt.Errorf("%w: the pair needs epsilon = %v and the plan pays for %v", ErrBroken, forced.loss, b.Epsilon)
	case !(forced.spent <= allowed*(1+tolerance)):
		return result, fmt.Errorf("%w: the pair needs mu^2 = %v and the plan pays for %v", ErrBroken, forced.spent, allowed)
	case !bytes.Equal(want, got):
		return result, fmt.Errorf("%w: equal noise and different releases: %s", ErrBroken, firstDifference(want, got))
	}
	return result, nil
}
