package device

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

// Method names what an agent learns by.
type Method string

// The methods.
const (
	// ActorCritic plays an episode and computes the gradient of the loss of
	// learn.ActorCritic.
	ActorCritic Method = "actor-critic"
	// PolicyGradient computes that of learn.PolicyGradient.
	PolicyGradient Method = "policy-gradient"
	// Evolution plays with perturbed weights and reports the score; it goes with
	// [train.OneBit].
	Evolution Method = "evolution"
	// Antithetic plays with the perturbation added to the weights and taken off them,
	// and reports which of the two did better; it goes with [train.OneBit]. The range of
	// scores does not matter to it.
	Antithetic Method = "antithetic"
)

// perturbs tells whether a method plays with perturbed weights and reports on one number.
func (m Method) perturbs() bool { return m == Evolution || m == Antithetic }

// Local says what an agent does in its own environment before it reports. All of
// it is public.
type Local struct {
	Method Method
	// Network is the policy; its Dim is that of the run.
	Network learn.Network
	// Scale has the network see observations scaled from the public ranges of the environment to
	// [-1, 1] (sim.Scaled).
	Scale bool `json:",omitempty"`
	// Steps is the number of local updates. At 1 the report is about one gradient, at
	// more about the change of the weights that Optimizer made in so many steps.
	Steps int
	// Episodes is the number of episodes in each local step, of Antithetic on each side.
	Episodes int
	// Optimizer makes the local updates where Steps is above 1.
	Optimizer train.Optimizer
	// ActorCritic and PolicyGradient are the loss, by Method.
	ActorCritic    learn.ActorCritic
	PolicyGradient learn.PolicyGradient
	// Reward is what the learner is paid, and MaxSteps truncates an episode; 0
	// stands for the problem's own limit.
	Reward   learn.RewardRule
	MaxSteps int
	// Greedy takes the most probable action instead of drawing one.
	Greedy bool
	// Uniform is the probability of a uniform action in the first submission; after
	// n it is Uniform - n/UniformFor, at least 0, or Uniform for ever where
	// UniformFor is 0.
	Uniform    float64
	UniformFor float64
	// ScoreLow is the least score that an episode can have (Evolution alone): scores lie
	// in [ScoreLow, ScoreLow + Clip] of the randomiser, and are clipped to that.
	ScoreLow float64 `json:",omitempty"`
	// Perturbation is the size of each coordinate's perturbation (Evolution and Antithetic).
	Perturbation float64
	// ZeroGradient reports on the zero vector whatever happened: the control that
	// tells learning from a random walk of the weights.
	ZeroGradient bool
}

// The most that an agent does for one report; see also mostNumbers.
const (
	mostLocalSteps = 1 << 20
	mostEpisodes   = 1 << 16
)

func (l Local) check(r train.Randomizer) error {
	switch {
	case l.Method != ActorCritic && l.Method != PolicyGradient && !l.Method.perturbs():
		return fmt.Errorf("%w: method is %q; want %s, %s, %s or %s", train.ErrConfig, l.Method, ActorCritic, PolicyGradient, Evolution, Antithetic)
	case l.Steps < 1 || l.Steps > mostLocalSteps || l.Episodes < 1 || l.Episodes > mostEpisodes:
		return fmt.Errorf("%w: %d local steps of %d episodes; want 1 to %d and 1 to %d", train.ErrConfig, l.Steps, l.Episodes, mostLocalSteps, mostEpisodes)
	case l.MaxSteps < 0:
		return fmt.Errorf("%w: the limit of an episode is %d steps; want at least 1, or 0 for the problem's own", train.ErrConfig, l.MaxSteps)
	case l.Method == ActorCritic && l.Episodes != 1:
		return fmt.Errorf("%w: actor-critic takes one episode a step; %d given", train.ErrConfig, l.Episodes)
	case l.Method.perturbs() != (r.Mechanism == train.OneBit):
		return fmt.Errorf("%w: method %s with randomizer %s; %s goes with %s and %s", train.ErrConfig, l.Method, r.Mechanism, train.OneBit, Evolution, Antithetic)
	case l.Method.perturbs() && (l.Steps != 1 || !(l.Perturbation > 0) || math.IsInf(l.Perturbation, 0)):
		return fmt.Errorf("%w: %s with %d local steps and perturbation %v; want 1 and a finite number above 0", train.ErrConfig, l.Method, l.Steps, l.Perturbation)
	case l.Method != Evolution && l.ScoreLow != 0 || math.IsNaN(l.ScoreLow) || math.IsInf(l.ScoreLow, 0):
		return fmt.Errorf("%w: the least score is %v; want a finite number, and 0 but for %s", train.ErrConfig, l.ScoreLow, Evolution)
	case !l.Method.perturbs() && l.Perturbation != 0:
		return fmt.Errorf("%w: perturbation is %v; it belongs to %s and %s: remove it", train.ErrConfig, l.Perturbation, Evolution, Antithetic)
	case !(l.Uniform >= 0 && l.Uniform <= 1) || !(l.UniformFor >= 0):
		return fmt.Errorf("%w: uniform is %v over %v; want a probability and a number of submissions", train.ErrConfig, l.Uniform, l.UniformFor)
	}
	if l.Steps > 1 || l.Optimizer != (train.Optimizer{}) {
		return l.Optimizer.Validate("local optimizer")
	}
	return nil
}

// explore is how actions are chosen in the submission of a slot.
func (l *Local) explore(slot uint64) learn.Explore {
	x := learn.Explore{Greedy: l.Greedy}
	if x.Uniform = l.Uniform; l.UniformFor > 0 {
		x.Uniform = max(0, l.Uniform-float64(slot)/l.UniformFor)
	}
	return x
}
