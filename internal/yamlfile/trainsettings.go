package yamlfile

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

type network struct {
	// Hidden are the widths of ReLU layers; none: a linear softmax policy.
	Hidden []int `yaml:"hidden"`
	// Bias adds a constant input to each layer.
	Bias bool `yaml:"bias"`
	// Scale moves each observation from its public range to [-1, 1]; the default is that of the
	// environment.
	Scale *bool `yaml:"scale"`
}

type local struct {
	// Method is policy-gradient or actor-critic; with mechanism one-bit evolution or antithetic.
	Method string `yaml:"method"`
	// Gamma is the discount.
	Gamma *float64 `yaml:"gamma"`
	// Entropy is the weight of the entropy bonus.
	Entropy float64 `yaml:"entropy"`
	// ValueWeight is the weight of the value loss; actor-critic alone.
	ValueWeight *float64 `yaml:"value_weight"`
	// Reward is own, that of the environment, or failure: 0 while alive, -1 where an episode
	// terminates, +1 where it lasts to the limit.
	Reward string `yaml:"reward"`
	// Steps is the number of local updates; above 1 the report is about the change of the weights.
	Steps int `yaml:"steps"`
	// Episodes is the number in each local step; of antithetic, for each sign.
	Episodes int `yaml:"episodes"`
	// Optimizer makes local updates, with steps above 1.
	Optimizer train.Optimizer `yaml:"optimizer"`
	// Greedy takes the most probable action instead of drawing one.
	Greedy bool `yaml:"greedy"`
	// Uniform is the probability of a uniform action at first. It falls by 1 over UniformFor
	// reports.
	Uniform float64 `yaml:"uniform"`
	// UniformFor is the number of reports over which Uniform falls by 1.
	UniformFor float64 `yaml:"uniform_for"`
	// Perturbation is that of each weight; evolution and antithetic alone.
	Perturbation float64 `yaml:"perturbation"`
	// ZeroGradient is the control run, which reports on the zero vector.
	ZeroGradient bool `yaml:"zero_gradient"`
}

type protection struct {
	// Unit is agent.
	Unit string `yaml:"unit"`
	// Epsilon is what an agent may spend on training in total.
	Epsilon float64 `yaml:"epsilon"`
	// Reports is the number of reports that share Epsilon in equal parts; 1 by default.
	Reports int `yaml:"reports"`
	// Mechanism is sign-prs, privunit, laplace, prs, ball, piecewise, hybrid, one-bit or none; the
	// default is sign-prs up to epsilon 2 a report, and privunit above.
	Mechanism train.Mechanism `yaml:"mechanism"`
	// Clip is required for mechanisms that clip; for one-bit the environment
	// gives the range of scores.
	Clip float64 `yaml:"clip"`
	// Rows is the reduced dimension of prs; 0 chooses it.
	Rows int `yaml:"rows"`
}

type server struct {
	// Submissions is the number of reports of the run.
	Submissions uint64 `yaml:"submissions"`
	// Optimizer moves the weights.
	Optimizer train.Optimizer `yaml:"optimizer"`
	// Buffer is the number of reports per update.
	Buffer int `yaml:"buffer"`
	// Growth is the share by which Buffer grows with every update.
	Growth float64 `yaml:"growth"`
	// Staleness is how many updates a report may be behind; -1: any.
	Staleness *int `yaml:"staleness"`
	// Influence bounds what one report can do; by default 1.25 times the norm of an honest report
	// (laplace, privunit), and none otherwise.
	Influence *train.Influence `yaml:"influence"`
}

type success struct {
	// Every is the number of reports between two estimates.
	Every int `yaml:"every"`
	// Agents is the number of agents of an estimate. They take no part in training.
	Agents int `yaml:"agents"`
	// Epsilon is what each of them spends.
	Epsilon float64 `yaml:"epsilon"`
	// Threshold is the score that counts as a success.
	Threshold float64 `yaml:"threshold"`
}

// mostFleet stands for the devices of a fleet, whose number is not known.
const mostFleet = 1 << 40

func (p protection) randomizer() (train.Randomizer, error) {
	epsilon, err := p.report()
	r := train.Randomizer{Mechanism: p.Mechanism, Epsilon: epsilon, Clip: p.Clip, Rows: p.Rows}
	if err == nil && auto(string(p.Mechanism)) {
		r.Mechanism = signal(epsilon)
	}
	return r, err
}

// report is the epsilon of one report, 0 where nothing is private.
func (p protection) report() (float64, error) {
	switch {
	case p.Unit != "" && p.Unit != "agent":
		return 0, fmt.Errorf("%w: privacy.unit is %q; the only unit of local privacy is agent", ErrSyntax, p.Unit)
	case p.Reports < 0 || p.Reports > 1<<20:
		return 0, fmt.Errorf("%w: privacy.reports is %d; want 1 at least", ErrSyntax, p.Reports)
	case p.Mechanism == train.NotPrivate && p.Epsilon != 0:
		return 0, fmt.Errorf("%w: privacy.mechanism is none and epsilon %v; leave out one of them", ErrSyntax, p.Epsilon)
	case p.Mechanism == train.NotPrivate:
		return 0, nil
	case !(p.Epsilon > 0) || math.IsInf(p.Epsilon, 0):
		return 0, fmt.Errorf("%w: privacy.epsilon is %v; give what each agent may spend in all, or say `mechanism: none`", ErrSyntax, p.Epsilon)
	}
	return train.Share(p.Epsilon, max(1, p.Reports)), nil
}

func (s server) optimizer() train.Optimizer {
	if s.Optimizer == (train.Optimizer{}) {
		return train.Optimizer{Kind: "momentum", Step: .2, Decay: 1000}
	}
	return s.Optimizer
}

func (t Train) local(spec sim.Spec) (device.Local, error) {
	y := t.Local
	if err := y.foreign(); err != nil {
		return device.Local{}, err
	}
	l := device.Local{
		Method: device.Method(y.Method), Steps: or(y.Steps, 1), Episodes: y.Episodes, Optimizer: y.Optimizer,
		Network: t.network(spec), Scale: t.scaled(), MaxSteps: t.Environment.MaxSteps, Greedy: y.Greedy, Uniform: y.Uniform, UniformFor: y.UniformFor,
		Perturbation: y.Perturbation, ZeroGradient: y.ZeroGradient,
	}
	gamma, value := .99, .5
	if p, err := problemNamed(t.Environment.Name); err == nil && p.immediate {
		gamma = 0
	}
	if y.Gamma != nil {
		gamma = *y.Gamma
	}
	if y.ValueWeight != nil {
		value = *y.ValueWeight
	}
	switch y.Reward {
	case "", "own":
	case "failure":
		l.Reward = learn.FailureReward
	default:
		return l, fmt.Errorf("%w: local.reward is %q; want own or failure", ErrSyntax, y.Reward)
	}
	switch l.Method {
	case device.PolicyGradient:
		l.PolicyGradient = learn.PolicyGradient{Gamma: gamma, Entropy: y.Entropy}
	case device.ActorCritic:
		l.Network.Value = true
		l.ActorCritic = learn.ActorCritic{Gamma: gamma, Entropy: y.Entropy, ValueWeight: value, Detach: true, DetachReturn: true}
	}
	return l, nil
}

// foreign refuses keys that the method has no use for.
func (y local) foreign() error {
	method := device.Method(y.Method)
	key, owner := "", "a gradient"
	switch evolution := method == device.Evolution || method == device.Antithetic; {
	case y.ValueWeight != nil && method != device.ActorCritic:
		key, owner = "value_weight", string(device.ActorCritic)
	case y.Gamma != nil && evolution:
		key = "gamma"
	case y.Entropy != 0 && evolution:
		key = "entropy"
	case y.Optimizer != (train.Optimizer{}) && evolution:
		key = "optimizer"
	default:
		return nil
	}
	return fmt.Errorf("%w: local.%s belongs to %s; remove it", ErrSyntax, key, owner)
}

// or is v, or otherwise where v was left out.
func or[T comparable](v, otherwise T) T {
	var none T
	if v == none {
		return otherwise
	}
	return v
}
