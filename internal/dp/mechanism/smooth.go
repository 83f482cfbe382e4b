package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
)

// Smooth releases a vector with Gaussian noise that is scaled to a smooth upper
// bound on its local sensitivity: if S bounds the l2 distance to the value on
// any neighbouring dataset, and S^2 changes by a factor of at most e^Beta
// between neighbours, the noise has standard deviation Alpha*S.
//
// The vector is rounded to the public lattice of step Step before the noise is
// drawn, which moves two neighbouring values at most Step*sqrt(n) further apart;
// Release adds that to the bound. The scale S is private: it is not returned,
// and nothing but the noise depends on it.
//
// Unit and adjacency are those that S was computed under. Sources: Nissim,
// Raskhodnikova and Smith 2007; Balle et al. 2016, Lemma 1.
type Smooth struct {
	Alpha float64
	Beta  float64
	Step  float64 // a power of two, from public facts
}

// SmoothStep returns the lattice step for a vector of dim coordinates when it
// is publicly known that the noise's standard deviation lies in
// [smallest, largest]: a power of two, fine beside the smallest where the range
// of the exact samplers allows it.
func SmoothStep(smallest, largest float64) (float64, error) {
	if !(smallest > 0 && largest >= smallest) || math.IsInf(largest, 0) {
		return 0, fmt.Errorf("%w: noise between %v and %v; want 0 < smallest <= largest", ErrParameter, smallest, largest)
	}
	step := powerBelow(max(smallest*0x1p-30, largest*0x1p-38))
	if step > smallest*0x1p-8 {
		return 0, fmt.Errorf("%w: noise may span more than %d powers of two", ErrParameter, 30)
	}
	return step, nil
}

// Event describes the release of a vector of dim coordinates.
func (s Smooth) Event(dim int) dp.Event {
	return dp.SmoothGaussian{Alpha: s.Alpha, Beta: s.Beta, Dimension: dim}
}

// Statistic is what a value and its smooth bound are made of: integers that add up over
// persons. All of it but Capacity is private.
type Statistic struct {
	Values []int64
	// Persons is how many were added, and Capacity how many can be.
	Persons, Capacity int64
}

// Release returns value plus noise, given the smooth bound on its local
// sensitivity. Both are private and must be finite.
func (s Smooth) Release(value []float64, bound float64, src *noise.Source) ([]float64, dp.Event, error) {
	if src.Sums() != nil {
		return nil, nil, fmt.Errorf("%w: a value and a bound do not add up over persons", ErrNotJoint)
	}
	noisy, err := s.noised(value, bound, src)
	if err != nil {
		return nil, nil, err
	}
	return s.scaled(noisy), s.Event(len(noisy)), nil
}

// ReleaseOf is Release of the value and the bound, of dim coordinates, that of makes of a
// statistic of all persons. Where they are spread over processes, the statistic is added
// up over them, and noise is drawn once. Both are functions of the statistic and of public
// facts alone.
func (s Smooth) ReleaseOf(own Statistic, dim int, of func(Statistic) (value []float64, bound float64, err error), src *noise.Source) ([]float64, dp.Event, error) {
	draw := func(all Statistic) ([]int64, error) {
		value, bound, err := of(all)
		if err != nil {
			return nil, err
		}
		if len(value) != dim {
			return nil, fmt.Errorf("%w: a value of %d coordinates for one of %d", ErrMismatch, len(value), dim)
		}
		return s.noised(value, bound, src)
	}
	var noisy []int64
	var err error
	if src.Sums() != nil {
		noisy, err = s.join(own, dim, draw, src)
	} else {
		noisy, err = draw(own)
	}
	if err != nil {
		return nil, nil, err
	}
	return s.scaled(noisy), s.Event(dim), nil
}

// join asks for the statistic of all persons, or for what was drawn before, and has a
// draw kept.
func (s Smooth) join(own Statistic, dim int, draw func(Statistic) ([]int64, error), src *noise.Source) ([]int64, error) {
	all, noisy, err := src.Sums().Gather(hook.Sum{Step: s.Step, Values: own.Values, Persons: own.Persons, Capacity: own.Capacity, Outputs: dim})
	if err != nil {
		return nil, err
	}
	if noisy == nil {
		switch {
		case all.Step != s.Step || all.Sigma != 0 || len(all.Values) != len(own.Values):
			return nil, fmt.Errorf("%w: the sum of all persons is of another statistic", ErrMismatch)
		case all.Persons < 0 || all.Persons > own.Capacity:
			return nil, fmt.Errorf("%w: at most %d fit", ErrCapacity, own.Capacity)
		}
		if noisy, err = draw(Statistic{Values: all.Values, Persons: all.Persons, Capacity: own.Capacity}); err != nil {
			return nil, err
		}
		if noisy, err = src.Sums().Keep(noisy); err != nil {
			return nil, err
		}
	}
	if len(noisy) != dim {
		return nil, fmt.Errorf("%w: a release of %d coordinates for one of %d", ErrMismatch, len(noisy), dim)
	}
	return noisy, nil
}

// noised is the value plus noise, in steps.
func (s Smooth) noised(value []float64, bound float64, src *noise.Source) ([]int64, error) {
	n := len(value)
	sd := s.Alpha * (bound + s.Step*math.Sqrt(float64(n))*(1+0x1p-8)) // the excess covers the float error of the value
	sampler, err := noise.NewGaussian(math.Nextafter(sd*(1+0x1p-50), math.Inf(1)) / s.Step)
	if err != nil {
		// The scale is private: the error must not repeat it.
		return nil, fmt.Errorf("%w: the noise does not fit the public lattice of step %v", ErrParameter, s.Step)
	}
	out := make([]int64, n)
	for i, v := range value {
		k := math.RoundToEven(v / s.Step)
		if math.IsNaN(k) || math.Abs(k) > 1<<maxSum {
			return nil, fmt.Errorf("%w: the value does not fit the public lattice of step %v", ErrParameter, s.Step)
		}
		out[i] = int64(k) + sampler.Sample(src)
	}
	return out, nil
}

// scaled is a release in the caller's units.
func (s Smooth) scaled(noisy []int64) []float64 {
	out := make([]float64, len(noisy))
	for i, k := range noisy {
		out[i] = float64(k) * s.Step
	}
	return out
}
