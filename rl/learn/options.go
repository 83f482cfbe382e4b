package learn

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/sim"
)

// Sentinel errors.
var (
	// ErrOptions marks settings out of range.
	ErrOptions = fault.Input("invalid settings for learning")
	// ErrDiverged marks weights that grew beyond all bounds: the step size is too
	// large.
	ErrDiverged = errors.New("learning diverged")
)

// Options says what to learn and how. Env, Features, Alpha and Episodes must be
// set.
type Options struct {
	// Env is the problem.
	Env sim.Env
	// Features describes phi(s); it is written into the policy file.
	Features feature.Spec
	// Alpha is the step size, above 0. It is multiplied by the map's own scale of
	// each feature where it has one (a Fourier basis does).
	Alpha float64
	// Gamma is the discount, in [0, 1].
	Gamma float64
	// Lambda is the decay of eligibility traces, in [0, 1].
	Lambda float64
	// Epsilon is the probability of a uniform action while learning, in [0, 1].
	// Otherwise the best action is taken, and ties are drawn.
	Epsilon float64
	// Temperature, above 0, draws actions by the softmax of the action values over
	// it instead; Epsilon must then be 0.
	Temperature float64
	// Episodes is the number of episodes to learn from, at least 1.
	Episodes int
	// MaxSteps truncates an episode; 0 stands for the problem's own limit, which
	// there must be. A truncated episode is not taken for one that has ended.
	MaxSteps int
	// Seed chooses the random numbers.
	Seed uint64
}

func (o *Options) check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...)
	}
	if o.Env == nil {
		return fail("no problem to learn; set Env")
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = o.Env.Spec().MaxSteps
	}
	unit := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case !(o.Alpha > 0) || math.IsInf(o.Alpha, 0):
		return fail("alpha is %v; want a finite number above 0", o.Alpha)
	case !unit(o.Gamma) || !unit(o.Lambda) || !unit(o.Epsilon):
		return fail("gamma is %v, lambda %v, epsilon %v; want 0 to 1", o.Gamma, o.Lambda, o.Epsilon)
	case !(o.Temperature >= 0) || math.IsInf(o.Temperature, 0):
		return fail("temperature is %v; want a finite number, 0 or above", o.Temperature)
	case o.Temperature > 0 && o.Epsilon > 0:
		return fail("epsilon is %v and temperature %v; choose one way to explore", o.Epsilon, o.Temperature)
	case o.Episodes < 1:
		return fail("episodes is %d; want at least 1", o.Episodes)
	case o.MaxSteps < 1:
		return fail("step limit is %d; want at least 1", o.MaxSteps)
	}
	return nil
}
