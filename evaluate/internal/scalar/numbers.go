package scalar

import (
	"cmp"
	"iter"
	"runtime"
	"sync"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Numbers are one number of every person, part by part, as data were read: nothing is copied to
// put them together.
type Numbers [][]float64

// Persons is how many there are.
func (n Numbers) Persons() (persons int) {
	for _, part := range n {
		persons += len(part)
	}
	return persons
}

// zeros are as many numbers in the same parts.
func (n Numbers) zeros() Numbers {
	out := make(Numbers, len(n))
	for i, part := range n {
		out[i] = make([]float64, len(part))
	}
	return out
}

// Pairs are x and z of everybody, in order; both have the same parts.
func Pairs(x, z Numbers) iter.Seq2[float64, float64] {
	return func(yield func(x, z float64) bool) {
		for i, part := range x {
			for j, v := range part {
				if !yield(v, z[i][j]) {
					return
				}
			}
		}
	}
}

// weights are x + z of everybody, in order.
func weights(x, z Numbers) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for x, z := range Pairs(x, z) {
			if !yield(x + z) {
				return
			}
		}
	}
}

// cutAbove tells of every weight whether it is not at most a cap.
func cutAbove(cap float64, weights iter.Seq[float64]) iter.Seq2[float64, bool] {
	return func(yield func(weight float64, cut bool) bool) {
		for w := range weights {
			if !yield(w, !(w <= cap)) {
				return
			}
		}
	}
}

// added is the noisy sum of what everybody adds.
func added(pair func() (*mechanism.Pair, error), x, z Numbers, src *noise.Source) (mechanism.NoisyPair, error) {
	m, err := sum(pair, x, func(m *mechanism.Pair, part, i int) error { return m.Add(x[part][i], z[part][i]) })
	if err != nil {
		return mechanism.NoisyPair{}, err
	}
	noisy, _, err := m.Release(src)
	return noisy, err
}

// sum adds everybody of all parts: each processor those of some parts, to a sum of its own. Sums are of
// whole numbers, so that in all together nothing shows how many processors there are.
func sum[S interface{ Merge(S) error }](fresh func() (S, error), all Numbers, add func(to S, part, i int) error) (S, error) {
	sums := make([]S, max(min(runtime.GOMAXPROCS(0), len(all)), 1))
	errs := make([]error, len(sums))
	var wg sync.WaitGroup
	for i := range sums {
		wg.Go(func() {
			to, err := fresh()
			for part := i; part < len(all); part += len(sums) {
				for j := 0; j < len(all[part]) && err == nil; j++ {
					err = add(to, part, j)
				}
			}
			sums[i], errs[i] = to, err
		})
	}
	wg.Wait()
	err := cmp.Or(errs...)
	for _, s := range sums[1:] {
		if err == nil {
			err = sums[0].Merge(s)
		}
	}
	return sums[0], err
}
