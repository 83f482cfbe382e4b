package learn

import (
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// Episode is what happened in one episode under an [MLP], with the network's
// outputs along the way, so that a gradient at the same weights needs no second
// look. It is reused by [Player.Play].
type Episode struct {
	// Action and Reward hold one entry a step.
	Action []int32
	Reward []float64
	// Score is the undiscounted sum of the problem's own rewards.
	Score float64
	// Terminated tells that the problem ended the episode; otherwise it was
	// truncated, and the state after the last step has a value.
	Terminated bool

	obs, rows []float64 // one row a step and one after the last
}

// Steps is the number of steps.
func (e *Episode) Steps() int { return len(e.Action) }

// Obs returns the observation before a step, or after the last one; it is the
// episode's own memory.
func (e *Episode) Obs(step, inputs int) []float64 { return e.obs[step*inputs:][:inputs] }

// RewardRule says what a learner is paid.
type RewardRule int

const (
	// OwnReward is what the problem pays.
	OwnReward RewardRule = iota
	// FailureReward is 0 while an episode goes on, -1 where it terminates and +1
	// where it lasts until the limit of time.
	FailureReward
)

// Explore says how actions are chosen.
type Explore struct {
	// Greedy takes an action of largest probability, the first of several;
	// otherwise actions are drawn from the policy.
	Greedy bool
	// Uniform is the probability of a uniform action instead, in [0, 1].
	Uniform float64
}

// Player plays episodes of a problem with a network's policy. It may not be shared
// by goroutines.
type Player struct {
	net   *MLP
	env   sim.Env
	limit int
	rule  RewardRule
	obs   []float64
	probs []float64
}

// NewPlayer makes a player of env. An episode is truncated after limit steps; 0
// stands for the problem's own limit, which there must be. The error wraps
// [ErrOptions].
func NewPlayer(net *MLP, env sim.Env, limit int, rule RewardRule) (*Player, error) {
	spec := env.Spec()
	if limit == 0 {
		limit = spec.MaxSteps
	}
	switch {
	case len(spec.Columns) != net.net.Inputs || spec.Actions != net.net.Actions:
		return nil, fmt.Errorf("%w: the network has %d inputs and %d actions; %s has %d and %d",
			ErrOptions, net.net.Inputs, net.net.Actions, spec.Name, len(spec.Columns), spec.Actions)
	case limit < 1:
		return nil, fmt.Errorf("%w: step limit is %d; want at least 1", ErrOptions, limit)
	case rule != OwnReward && rule != FailureReward:
		return nil, fmt.Errorf("%w: unknown reward rule %d", ErrOptions, rule)
	}
	return &Player{net: net, env: env, limit: limit, rule: rule,
		obs: make([]float64, net.net.Inputs), probs: make([]float64, net.net.Actions)}, nil
}

// Play plays one episode with the weights theta and overwrites e with it. The
// error is the simulator's.
func (p *Player) Play(e *Episode, theta []float64, x Explore, rng *rand.Rand) error {
	e.Action, e.Reward = e.Action[:0], e.Reward[:0]
	e.obs, e.rows = e.obs[:0], e.rows[:0]
	e.Score, e.Terminated = 0, false
	p.env.Reset(p.obs, rng)
	row := p.observe(e, theta)
	for {
		action := p.choose(row, x, rng)
		out, err := p.env.Step(p.obs, action)
		if err != nil {
			return fmt.Errorf("step %d: %w", len(e.Action), err)
		}
		e.Action = append(e.Action, int32(action))
		e.Score += out.Reward
		over := out.Terminated || out.Truncated || len(e.Action) >= p.limit
		e.Terminated = out.Terminated
		e.Reward = append(e.Reward, p.reward(out, over))
		row = p.observe(e, theta)
		if over {
			return nil
		}
	}
}

// observe records the observation at hand and the network's outputs there.
func (p *Player) observe(e *Episode, theta []float64) []float64 {
	e.obs = append(e.obs, p.obs...)
	row := grow(&e.rows, p.net.row)
	p.net.forward(theta, p.obs, row)
	return row
}

// grow lengthens s by n and returns the new part, whose contents are arbitrary.
func grow(s *[]float64, n int) []float64 {
	l := len(*s)
	if l+n > cap(*s) {
		bigger := make([]float64, l, 2*cap(*s)+64*n)
		copy(bigger, *s)
		*s = bigger
	}
	*s = (*s)[:l+n]
	return (*s)[l:]
}

func (p *Player) reward(out sim.Outcome, over bool) float64 {
	switch {
	case p.rule == OwnReward:
		return out.Reward
	case out.Terminated:
		return -1
	case over:
		return 1
	}
	return 0
}

func (p *Player) choose(row []float64, x Explore, rng *rand.Rand) int {
	logits := row[p.net.logits : p.net.logits+p.net.net.Actions]
	if x.Uniform > 0 && rng.Float64() < x.Uniform {
		return rng.IntN(len(logits))
	}
	if x.Greedy {
		best := 0
		for a, z := range logits {
			if z > logits[best] {
				best = a
			}
		}
		return best
	}
	softmax(p.probs, logits)
	u := rng.Float64()
	for a, q := range p.probs {
		if u < q {
			return a
		}
		u -= q
	}
	return len(logits) - 1
}

// Replay computes the network's outputs of a recorded episode at other weights.
func (m *MLP) Replay(e *Episode, theta []float64) {
	e.rows = e.rows[:0]
	for t := range len(e.Action) + 1 {
		m.forward(theta, e.Obs(t, m.net.Inputs), grow(&e.rows, m.row))
	}
}
