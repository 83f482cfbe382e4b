package train

import (
	"fmt"
	"math"
)

// Influence bounds what one report can do, so that a few dishonest agents cannot
// steer a run. Both bounds are public, and clipping is post-processing of reports
// that are private already. 0 means no bound.
type Influence struct {
	// Norm bounds the l2 norm of a report's estimate, before Printed scales it.
	// [Codec.HonestNorm] is what honest ones have; the formats of laplace,
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

func (f Influence) check() error {
	if !(f.Norm >= 0) || math.IsInf(f.Norm, 0) || !(f.Along >= 0) || math.IsInf(f.Along, 0) {
		return fmt.Errorf("%w: influence: norm %v, along %v; want finite numbers, 0 for no bound", ErrConfig, f.Norm, f.Along)
	}
	return nil
}

// Clip clips an estimate in place; mean is the optimizer's running mean, nil where
// there is none.
func (f Influence) Clip(estimate, mean []float64) {
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
