package device

import (
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
)

// Device computes what an agent reports: a network, a learner, memory. Agents may use
// one in turn; goroutines may not share it.
type Device struct {
	local    Local
	clip     float64 // of train.OneBit: the width of the range of what is reported
	net      *learn.MLP
	critic   *learn.ActorCritic
	gradient *learn.PolicyGradient
	steps    train.OptimizerState
	episodes []learn.Episode
	theta    []float64 // while it changes
	vector   []float64 // what is reported
	grad     []float64
}

// New checks the settings, which are those of the run, as is the randomiser that
// their reports go through. The error wraps [train.ErrConfig].
func New(l Local, r train.Randomizer) (*Device, error) {
	if err := l.check(r); err != nil {
		return nil, err
	}
	net, err := learn.NewMLP(l.Network)
	if err != nil {
		return nil, err
	}
	if _, err := train.NewCodec(r, net.Dim()); err != nil {
		return nil, err
	}
	d := &Device{local: l, clip: r.Clip, net: net, episodes: make([]learn.Episode, l.Episodes),
		theta: make([]float64, net.Dim()), vector: make([]float64, net.Dim()), grad: make([]float64, net.Dim())}
	d.steps = l.Optimizer.NewState(net.Dim())
	switch l.Method {
	case ActorCritic:
		d.critic, err = l.ActorCritic.Bind(net)
	case PolicyGradient:
		d.gradient, err = l.PolicyGradient.Bind(net)
	}
	return d, err
}

// Dim is the number of weights.
func (d *Device) Dim() int { return d.net.Dim() }

// mostNumbers bounds what is kept of the episodes of one local step: 2 GiB, and as
// much again where slices grow.
const mostNumbers = 1 << 28

// Player makes a player of an environment, for use with this device. Episodes that
// could outgrow the memory are refused with [train.ErrConfig], and so is an environment without
// the ranges that Local.Scale asks for.
func (d *Device) Player(env sim.Env) (*learn.Player, error) {
	if d.local.Scale {
		var err error
		if env, err = sim.Scaled(env); err != nil {
			return nil, fmt.Errorf("%w: scaled observations: %w", train.ErrConfig, err)
		}
	}
	limit := d.local.MaxSteps
	if limit == 0 {
		limit = env.Spec().MaxSteps
	}
	row := d.local.Network.Inputs + d.local.Network.Actions + 1 // kept of a step
	for _, width := range d.local.Network.Hidden {
		row += width
	}
	steps := max(64, float64(limit)+1) // memory is taken for 64 at least
	if n := steps * float64(row) * float64(d.local.Episodes); n > mostNumbers {
		return nil, fmt.Errorf("%w: %d episodes of up to %d steps, with %d numbers to keep of each, do not fit: %.3g numbers in all, want %d at most; ask for fewer or shorter episodes or a narrower network",
			train.ErrConfig, d.local.Episodes, limit, row, n, mostNumbers)
	}
	return learn.NewPlayer(d.net, env, d.local.MaxSteps, d.local.Reward)
}

// Init draws initial weights into theta, of length Dim.
func (d *Device) Init(theta []float64, how learn.Init, rng *rand.Rand) { d.net.Init(theta, how, rng) }

// Rollout is what an agent went through for one report. It is private: it stays on
// the device, and in a simulation with whoever simulates.
type Rollout struct {
	// Score is the mean score of the first local step's episodes, Steps the number
	// of decisions in all.
	Score float64
	Steps int
	// Failed is the error by which the environment ended an episode, nil where it did
	// not. The rest is then zero, and the vector is zero too: an agent that kept silent
	// would tell what it met.
	Failed error
}

// Learn trains from the weights theta, of length Dim, on a task that the agent
// accepted, and returns the vector to report, in memory that lasts until the next call.
// The player is one of this device, and rng drives environment and actions. It spends
// nothing.
func (d *Device) Learn(t *train.Task, theta []float64, p *learn.Player, rng *rand.Rand) ([]float64, Rollout) {
	copy(d.theta, theta)
	x := d.local.explore(t.Slot)
	vector, play := d.vector, d.learn
	switch d.local.Method {
	case Evolution:
		vector, play = d.vector[:1], d.try
	case Antithetic:
		vector, play = d.vector[:1], d.compare
	}
	out, err := play(t, theta, p, x, rng)
	if err != nil {
		out = Rollout{Failed: err}
	}
	if err != nil || d.local.ZeroGradient {
		clear(vector)
		if d.local.Method.perturbs() { // the middle of what is reported: a fair coin
			vector[0] = d.clip / 2
		}
	}
	return vector, out
}

// Play plays one episode with the weights theta, actions chosen by x, and returns its
// score.
func (d *Device) Play(theta []float64, p *learn.Player, x learn.Explore, rng *rand.Rand) (float64, error) {
	e := &d.episodes[0]
	err := p.Play(e, theta, x, rng)
	return e.Score, err
}

// learn plays and learns; what is reported is a gradient or a change of weights.
func (d *Device) learn(_ *train.Task, theta []float64, p *learn.Player, x learn.Explore, rng *rand.Rand) (Rollout, error) {
	d.steps.Reset()
	var out Rollout
	for step := range d.local.Steps {
		for i := range d.episodes {
			e := &d.episodes[i]
			if err := p.Play(e, d.theta, x, rng); err != nil {
				return out, fmt.Errorf("local step %d, episode %d: %w", step, i, err)
			}
			out.Steps += e.Steps()
			if step == 0 {
				out.Score += e.Score / float64(len(d.episodes))
			}
		}
		clear(d.grad)
		if d.critic != nil {
			d.critic.Gradient(d.grad, d.theta, &d.episodes[0])
		} else {
			d.gradient.Gradient(d.grad, d.theta, d.episodes)
		}
		if d.local.Steps > 1 {
			d.local.Optimizer.Apply(d.theta, d.grad, &d.steps, 0)
		}
	}
	for i := range d.vector {
		if d.local.Steps > 1 {
			d.vector[i] = theta[i] - d.theta[i] // a descent direction, as a gradient is
		} else {
			d.vector[i] = d.grad[i]
		}
	}
	return out, nil
}
