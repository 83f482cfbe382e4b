package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
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

// Release returns value plus noise, given the smooth bound on its local
// sensitivity. Both are private and must be finite.
func (s Smooth) Release(value []float64, bound float64, src *noise.Source) ([]float64, dp.Event, error) {
	if src.Sums() != nil {
		return nil, nil, fmt.Errorf("%w: noise that is scaled to the data", ErrNotJoint)
	}
	n := len(value)
	sd := s.Alpha * (bound + s.Step*math.Sqrt(float64(n))*(1+0x1p-8)) // the excess covers the float error of the value
	sampler, err := noise.NewGaussian(math.Nextafter(sd*(1+0x1p-50), math.Inf(1)) / s.Step)
	if err != nil {
		// The scale is private: the error must not repeat it.
		return nil, nil, fmt.Errorf("%w: the noise does not fit the public lattice of step %v", ErrParameter, s.Step)
	}
	out := make([]float64, n)
	for i, v := range value {
		k := math.RoundToEven(v / s.Step)
		if math.IsNaN(k) || math.Abs(k) > 1<<maxSum {
			return nil, nil, fmt.Errorf("%w: the value does not fit the public lattice of step %v", ErrParameter, s.Step)
		}
		out[i] = float64(int64(k)+sampler.Sample(src)) * s.Step
	}
	return out, s.Event(n), nil
}
