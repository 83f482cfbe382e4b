package train

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/local"
)

// Influence bounds what one report can do, so that a few dishonest agents cannot
// steer a run. The bound is public, and clipping is post-processing of reports that
// are private already.
type Influence struct {
	// Norm bounds the l2 norm of a report's estimate, before Printed scales it. 0
	// stands for the mechanism's own bound: for PrivUnit 1.25 sqrt(dim)/Signal, a
	// quarter above what honest estimates have, where the format admits eight times
	// as much. The other mechanisms have none of their own: those that send bits leave
	// an attacker no length to choose, but Laplace and Ball do, so set one there
	// (1.25 scale sqrt(2 dim) for Laplace). Negative means no bound.
	Norm float64 `json:"norm,omitempty" yaml:"norm"`
}

func (f Influence) check() error {
	if math.IsNaN(f.Norm) || math.IsInf(f.Norm, 0) {
		return fmt.Errorf("%w: influence.norm is %v; want a finite number, 0 for the mechanism's own bound, below 0 for none", ErrConfig, f.Norm)
	}
	return nil
}

// withDefault fills in the mechanism's own bound.
func (f Influence) withDefault(c *coder) Influence {
	if p, ok := c.vector.(local.PrivUnitG); ok && f.Norm == 0 {
		f.Norm = 1.25 * math.Sqrt(float64(c.dim)) / p.Signal()
	}
	return f
}

// bound clips an estimate in place.
func (f Influence) bound(estimate []float64) {
	if f.Norm <= 0 {
		return
	}
	if norm := norm2(estimate); norm > f.Norm {
		for i := range estimate {
			estimate[i] *= f.Norm / norm
		}
	}
}
