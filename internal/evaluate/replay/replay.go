package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Sentinel errors.
var (
	// ErrBroken marks a pair that refutes the plan.
	ErrBroken = errors.New("the run does not keep to its plan")
	// ErrUncovered marks a plan that replay can say nothing of.
	ErrUncovered = errors.New("neither a composition of Gaussian sums, nor one of sums with Laplace noise, nor one choice")
)

// Result is what a pair showed.
type Result struct {
	// Releases is the number of noisy sums, or of choices.
	Releases int
	// Ratio is the mu^2 that the pair needed over that of the plan, or of a choice the
	// epsilon; at most 1.
	Ratio float64
}

// tolerance is for the rounding of the sum of squares: of as many terms as there are coordinates, each of them
// right to a few units in the last place. A clip that lets through one step of the lattice exceeds it.
const tolerance = 1e-11

// Run makes a release of a dataset, or of its neighbour, with the noise of src. What
// leaves is the JSON of what it returns.
type Run func(ctx context.Context, neighbour bool, src *noise.Source) (any, error)

// Of runs a plan on a dataset and its neighbour. Both must pass the plan's check.
func Of(plan *evaluate.Plan, d, neighbour *trajectory.Dataset) Run {
	return func(ctx context.Context, other bool, src *noise.Source) (any, error) {
		data := d
		if other {
			data = neighbour
		}
		ready, err := plan.Check(ctx, data)
		if err != nil {
			return nil, err
		}
		return ready.Run(ctx, receipt.None(), src)
	}
}

func (r Run) text(ctx context.Context, neighbour bool, src *noise.Source) ([]byte, error) {
	release, err := r(ctx, neighbour, src)
	if err != nil {
		return nil, err
	}
	if m, ok := release.(json.Marshaler); ok {
		return m.MarshalJSON() // json.Marshal would read all of it once more
	}
	return json.Marshal(release)
}

// Check replays the neighbour of a dataset. Both must pass the plan's check; an
// error of that is returned as it is. ErrBroken says what differed.
func Check(ctx context.Context, plan *evaluate.Plan, d, neighbour *trajectory.Dataset, seed uint64) (Result, error) {
	if plan.Privacy == nil {
		return Result{}, fmt.Errorf("%w: the plan promises no privacy", ErrUncovered)
	}
	if e, ok := plan.Event.(dp.PermuteAndFlip); ok {
		return CheckChoice(ctx, Of(plan, d, neighbour), e.Epsilon, seed)
	}
	if epsilon, sums := LaplaceEpsilon(plan.Event, plan.Privacy.Adjacency); sums > 0 {
		return CheckLaplace(ctx, Of(plan, d, neighbour), sums, epsilon, seed)
	}
	if e, ok := plan.Event.(dp.ApproximateDP); ok && e.Delta > 0 {
		return CheckHalves(ctx, Of(plan, d, neighbour), dp.Budget(e), seed)
	}
	allowed, ok := audit.MuSquared(plan.Event, plan.Privacy.Adjacency)
	if !ok {
		return Result{}, fmt.Errorf("%w: %s", ErrUncovered, plan.Event.Kind())
	}
	return CheckRun(ctx, Of(plan, d, neighbour), allowed, seed)
}

// CheckRun is [Check] for any run, against the mu^2 that it is allowed.
func CheckRun(ctx context.Context, run Run, allowed float64, seed uint64) (Result, error) {
	shown, forced, want, got, err := run.twice(ctx, seed)
	if err != nil {
		return Result{}, err
	}
	result := Result{Releases: len(shown.kept)}
	if allowed > 0 {
		result.Ratio = forced.spent / allowed
	}
	switch {
	case forced.wrong != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, forced.wrong)
	case shown.amiss+forced.amiss != "":
		return result, fmt.Errorf("%w: %s", ErrBroken, cmp.Or(shown.amiss, forced.amiss))
	case forced.next != len(shown.kept):
		return result, fmt.Errorf("%w: %d noisy sums of the dataset and %d of its neighbour", ErrBroken, len(shown.kept), forced.next)
	case len(shown.choices)+forced.choices > 0:
		return result, fmt.Errorf("%w: a choice beside the sums that are paid for", ErrBroken)
	case forced.laplaces > 0:
		return result, fmt.Errorf("%w: a sum with Laplace noise beside those with Gaussian noise that are paid for", ErrBroken)
	case len(shown.kept) == 0 && allowed > 0:
		return result, fmt.Errorf("%w: the run makes no exact noisy sum", ErrUncovered)
	case !(forced.spent <= allowed*(1+tolerance)):
		return result, fmt.Errorf("%w: the pair needs mu^2 = %v and the plan pays for %v", ErrBroken, forced.spent, allowed)
	case !bytes.Equal(want, got):
		return result, fmt.Errorf("%w: equal noisy sums and different releases: %s", ErrBroken, firstDifference(want, got))
	}
	return result, nil
}

// twice runs on the dataset, and on its neighbour with what was kept of the first run in place of
// what would be drawn.
func (run Run) twice(ctx context.Context, seed uint64) (shown *keeper, forced *forcer, want, got []byte, err error) {
	shown = new(keeper)
	if want, err = run.text(ctx, false, noise.NewTaped(seed, shown)); err != nil {
		return nil, nil, nil, nil, err
	}
	forced = &forcer{kept: shown.kept, keptChoices: shown.choices}
	got, err = run.text(ctx, true, noise.NewTaped(seed, forced))
	return shown, forced, want, got, err
}

// firstDifference shows where two releases part.
func firstDifference(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	around := func(text []byte) string { return string(text[max(0, i-40):min(len(text), i+40)]) }
	return fmt.Sprintf("%q, %q", around(a), around(b))
}

// noisySum is one noisy sum.
type noisySum struct {
	step, sigma float64
	laplace     bool // sigma is the scale of discrete Laplace noise
	sum, noisy  []int64
}

// keeper keeps what a run shows.
type keeper struct {
	asks
	kept    []noisySum
	choices []chosen
}

// Release implements hook.Tape.
func (k *keeper) Release(step, sigma float64, sum, noisy []int64) {
	k.hold(sigma, false, len(sum))
	k.kept = append(k.kept, noisySum{step, sigma, false, slices.Clone(sum), slices.Clone(noisy)})
}

// forcer shows what was kept in the place of a run's own noisy sums, and adds up
// what that needs.
type forcer struct {
	asks
	kept  []noisySum
	next  int
	spent float64
	wrong string
	// compare keeps the run's own sums.
	compare bool
	sums    [][]int64
	// of choices: those that were kept, the number of the run's own, and what they need.
	keptChoices []chosen
	choices     int
	laplaces    int // sums with Laplace noise
	loss        float64
}

// Release implements hook.Tape.
func (f *forcer) Release(step, sigma float64, sum, noisy []int64) {
	f.hold(sigma, false, len(sum))
	if k, ok := f.same(step, sigma, false, sum); ok {
		for i, s := range sum {
			d := float64(s-k.sum[i]) / sigma
			f.spent += d * d
		}
		copy(noisy, k.noisy)
	}
}

// same is the noisy sum that was kept for the next one of this run, if the two are alike.
func (f *forcer) same(step, sigma float64, laplace bool, sum []int64) (noisySum, bool) {
	f.next++
	if f.wrong != "" || f.next > len(f.kept) {
		return noisySum{}, false
	}
	k := f.kept[f.next-1]
	if step != k.step || sigma != k.sigma || laplace != k.laplace || len(sum) != len(k.sum) {
		f.wrong = fmt.Sprintf("noisy sum %d: %d coordinates, lattice step %v, noise of %v steps; of the neighbour %d, %v, %v",
			f.next, len(k.sum), k.step, k.sigma, len(sum), step, sigma)
		return noisySum{}, false
	}
	if f.compare {
		f.sums = append(f.sums, slices.Clone(sum))
	}
	return k, true
}
