package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
)

// join is release to out where the persons are spread over processes: the sum is that of
// all of them, and its noise is drawn once. It is an error of the run, and never a smaller
// sum, where the total cannot be that of so many persons.
func (a *accumulator) join(out []float64, src *noise.Source) error {
	if a.fast {
		return fmt.Errorf("%w: fast noise is not on the lattice", ErrNotJoint)
	}
	defer clear(a.sum)
	all, noisy, err := src.Sums().Gather(hook.Sum{Step: a.grid.step, Sigma: a.grid.sigma, Values: a.sum, Persons: a.persons, Capacity: a.grid.capacity()})
	if err != nil {
		return err
	}
	a.persons = all.Persons
	if noisy == nil {
		if noisy, err = a.drawn(all, src); err != nil {
			return err
		}
	}
	if len(noisy) != len(a.sum) {
		return fmt.Errorf("%w: a noisy sum of %d coordinates for one of %d", ErrMismatch, len(noisy), len(a.sum))
	}
	a.grid.scaled(out, noisy)
	return nil
}

// drawn adds the noise to the sum over all persons and has it kept.
func (a *accumulator) drawn(all hook.Sum, src *noise.Source) ([]int64, error) {
	if err := a.possible(all); err != nil {
		return nil, err
	}
	noisy, err := a.exactly(all.Values, src)
	if err != nil {
		return nil, err
	}
	return src.Sums().Keep(noisy)
}

// farthest is how many standard deviations of noise a sum over processes has to leave
// room for: the exact Gaussian sampler goes beyond with a probability below 2^-2900, and of
// discrete Laplace noise, below 2^-90, the scale is at most 2^40 beside counts of persons. In one process
// the capacity keeps sums below 2^62, which the sum of others' sums is not certain to be.
const farthest = 64

// possible refuses a total that persons of this mechanism cannot make. It names no
// number of them.
func (a *accumulator) possible(all hook.Sum) error {
	if all.Step != a.grid.step || all.Sigma != a.grid.sigma || len(all.Values) != len(a.sum) {
		return fmt.Errorf("%w: the sum of all persons is on another lattice", ErrMismatch)
	}
	if all.Persons < 0 || all.Persons > a.grid.capacity() {
		return fmt.Errorf("%w: at most %d fit; a smaller dimension or fewer persons are needed", ErrCapacity, a.grid.capacity())
	}
	// A person adds at most the radius in a coordinate of a plain sum, and at most twice
	// that in the weighted coordinates of the others. What is refused is four times the
	// radius: the bound finds faults of arithmetic, and nobody who lies.
	noiseBound := uint64(farthest * math.Ceil(a.grid.sigma)) // at most 2^45
	most := uint64(all.Persons) * a.grid.radius
	for _, v := range all.Values {
		u := uint64(v)
		if v < 0 {
			u = -u
		}
		if u/4 > most {
			return fmt.Errorf("%w: the sum of all persons is larger than they can make it", ErrMismatch)
		}
		if u > math.MaxInt64-noiseBound {
			return fmt.Errorf("%w: the sum of all persons leaves no room for its noise", ErrMismatch)
		}
	}
	return nil
}
