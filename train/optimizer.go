package train

import (
	"fmt"
	"math"
)

// Optimizer turns mean reports, or local gradients, into steps of the weights.
type Optimizer struct {
	// Kind is sgd, momentum or adam. Momentum steps along m <- Momentum m + g by a
	// length of Step, whatever the length of m; adam is that of Kingma and Ba
	// (2015).
	Kind string `json:"kind" yaml:"kind"`
	// Step is the step size, above 0.
	Step float64 `json:"step" yaml:"step"`
	// Decay divides the step by sqrt(1 + n/Decay) after n submissions; 0 keeps it
	// constant.
	Decay float64 `json:"decay,omitempty" yaml:"decay"`
	// Momentum is the decay of the running mean, 0.9 unless set.
	Momentum float64 `json:"momentum,omitempty" yaml:"momentum"`
	// Second is adam's decay of the squares, 0.999 unless set.
	Second float64 `json:"second,omitempty" yaml:"second"`
}

func (o Optimizer) withDefaults() Optimizer {
	if o.Momentum == 0 {
		o.Momentum = .9
	}
	if o.Second == 0 {
		o.Second = .999
	}
	return o
}

// Validate tells what is out of range, after defaults were filled in; where names
// the optimizer in the error, which wraps [ErrConfig].
func (o Optimizer) Validate(where string) error {
	o = o.withDefaults()
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
	unit := func(x float64) bool { return x >= 0 && x < 1 }
	switch {
	case o.Kind != "sgd" && o.Kind != "momentum" && o.Kind != "adam":
		return fmt.Errorf("%w: %s.kind is %q; want sgd, momentum or adam", ErrConfig, where, o.Kind)
	case !positive(o.Step):
		return fmt.Errorf("%w: %s.step is %v; want a finite number above 0", ErrConfig, where, o.Step)
	case o.Decay != 0 && !positive(o.Decay):
		return fmt.Errorf("%w: %s.decay is %v; want a number of submissions, 0 for a constant step", ErrConfig, where, o.Decay)
	case !unit(o.Momentum) || !unit(o.Second):
		return fmt.Errorf("%w: %s.momentum is %v, second %v; want 0 to below 1", ErrConfig, where, o.Momentum, o.Second)
	}
	return nil
}

// OptimizerState is all that steps change: running means of the vectors and of
// their squares, nil where the kind has none, and the number of steps.
type OptimizerState struct {
	First  []float64 `json:"first,omitempty"`
	Second []float64 `json:"second,omitempty"`
	Steps  uint64    `json:"steps"`
}

// NewState is the state before the first step on dim weights.
func (o Optimizer) NewState(dim int) OptimizerState {
	var s OptimizerState
	if o.Kind != "sgd" {
		s.First = make([]float64, dim)
	}
	if o.Kind == "adam" {
		s.Second = make([]float64, dim)
	}
	return s
}

// Reset forgets all steps.
func (s *OptimizerState) Reset() {
	clear(s.First)
	clear(s.Second)
	s.Steps = 0
}

// Apply moves theta against g, both of the length that s was made for; submissions
// is the number of reports that were accepted so far, g's own among them, or 0 for a
// step that no Decay shortens.
func (o Optimizer) Apply(theta, g []float64, s *OptimizerState, submissions uint64) {
	o = o.withDefaults()
	s.Steps++
	step := o.Step
	if o.Decay > 0 {
		step /= math.Sqrt(1 + float64(submissions)/o.Decay)
	}
	switch o.Kind {
	case "sgd":
		for i, v := range g {
			theta[i] -= step * v
		}
	case "momentum":
		for i, v := range g {
			s.First[i] = o.Momentum*s.First[i] + v
		}
		if norm := norm2(s.First); norm > 0 {
			for i, v := range s.First {
				theta[i] -= step * (v / norm)
			}
		}
	case "adam":
		first := 1 - math.Pow(o.Momentum, float64(s.Steps))
		second := 1 - math.Pow(o.Second, float64(s.Steps))
		for i, v := range g {
			s.First[i] = o.Momentum*s.First[i] + (1-o.Momentum)*v
			s.Second[i] = o.Second*s.Second[i] + (1-o.Second)*v*v
			theta[i] -= step * (s.First[i] / first) / (math.Sqrt(s.Second[i]/second) + 1e-8)
		}
	}
}

// norm2 is the l2 norm, without overflow.
func norm2(x []float64) float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	if top == 0 || math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, v := range x {
		sum += (v / top) * (v / top)
	}
	return top * math.Sqrt(sum)
}
