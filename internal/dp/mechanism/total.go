package mechanism

import (
	"cmp"
	"runtime"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// releaser is a sum of which N is released.
type releaser[N any] interface {
	Release(src *noise.Source) (N, dp.Event, error)
}

// Total is the noisy sum over persons 0, 1, ...: add adds one of them to it.
func Total[N any](sum releaser[N], persons int, add func(person int) error, src *noise.Source) (noisy N, err error) {
	for p := range persons {
		if err := add(p); err != nil {
			return noisy, err
		}
	}
	noisy, _, err = sum.Release(src)
	return noisy, err
}

// wide is the number of coordinates from which on a sum is not made once for each processor: on machines with many these
// would take gigabytes.
const wide = 1 << 20

// Workers is how many workers [Spread] is to have for sums of so many coordinates.
func Workers(coordinates int) int {
	if coordinates > wide {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// fewest is how many persons are worth a worker of their own.
const fewest = 512

// Spread is [Total] by so many workers at most. Each adds persons that follow one
// another, in order, to a sum of its own: fresh makes it, and adder the function that adds to it. Sums are of whole
// numbers, so that nothing shows how many workers there are.
func Spread[S interface {
	releaser[N]
	Merge(S) error
}, N any](fresh func() (S, error), workers, persons int, adder func(to S) func(person int) error, src *noise.Source) (noisy N, err error) {
	sums := make([]S, max(min(workers, persons/fewest), 1))
	errs := make([]error, len(sums))
	var wg sync.WaitGroup
	for i := range sums {
		wg.Go(func() {
			if sums[i], errs[i] = fresh(); errs[i] != nil {
				return
			}
			add := adder(sums[i])
			for p := persons * i / len(sums); p < persons*(i+1)/len(sums) && errs[i] == nil; p++ {
				errs[i] = add(p)
			}
		})
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return noisy, err
	}
	for _, s := range sums[1:] {
		if err := sums[0].Merge(s); err != nil {
			return noisy, err
		}
	}
	noisy, _, err = sums[0].Release(src)
	return noisy, err
}
