package train

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/local"
)

// Influence bounds what one report can do, so that a few dishonest agents cannot
// steer a run. Both bounds are public, and clipping is post-processing of reports
// that are private already. 0 means no bound.
type Influence struct {
	// Norm bounds the l2 norm of a report's estimate, before Printed scales it.
	// [Randomizer.HonestNorm] is what honest ones have; the formats of laplace,
	// privunit and ball admit far more.
	Norm float64 `json:"norm,omitempty" yaml:"norm"`
	// Along bounds the component of an estimate along the optimizer's running mean,
	// in units of the estimate's norm over sqrt(dim): of an honest report through
	// sign-PRS or PrivUnit that component is about normal with unit variance and a
	// mean of at most a few, and of one that an attacker made it is up to sqrt(dim).
	// It needs an optimizer with a running mean. docs/training.md tells how little it
	// did against liars who do not aim at that mean.
	Along float64 `json:"along,omitempty" yaml:"along"`
}

// HonestNorm is the l2 norm of an honest report's estimate in dim dimensions: the
// root of its mean square for laplace, its limit in large dimension for privunit.
// It is 0 for mechanisms whose reports have one size, or whose size is the
// vector's own.
func (r Randomizer) HonestNorm(dim int) (float64, error) {
	c, err := newCoder(r, dim)
	if err != nil {
		return 0, err
	}
	switch v := c.vector.(type) {
	case local.PrivUnitG:
		return math.Sqrt(float64(dim)) / v.Signal(), nil
	case local.Laplace:
		return math.Hypot(v.Scale()*math.Sqrt(2*float64(dim)), v.Clip()/2), nil
	}
	return 0, nil
}

func (f Influence) check() error {
	if !(f.Norm >= 0) || math.IsInf(f.Norm, 0) || !(f.Along >= 0) || math.IsInf(f.Along, 0) {
		return fmt.Errorf("%w: influence: norm %v, along %v; want finite numbers, 0 for no bound", ErrConfig, f.Norm, f.Along)
	}
	return nil
}

// bound clips an estimate in place; mean is the running mean of estimates, nil
// where there is none.
func (f Influence) bound(estimate, mean []float64) {
	if f.Norm == 0 && f.Along == 0 {
		return
	}
	norm := norm2(estimate)
	if f.Norm > 0 && norm > f.Norm {
		for i := range estimate {
			estimate[i] *= f.Norm / norm
		}
		norm = f.Norm
	}
	if f.Along == 0 || mean == nil {
		return
	}
	size := norm2(mean)
	if size == 0 || norm == 0 {
		return
	}
	along := 0.0
	for i, v := range mean {
		along += estimate[i] * (v / size)
	}
	limit := f.Along * norm / math.Sqrt(float64(len(estimate)))
	excess := along - math.Min(limit, math.Max(-limit, along))
	if excess == 0 {
		return
	}
	for i, v := range mean {
		estimate[i] -= excess * (v / size)
	}
}
