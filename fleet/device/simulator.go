package device

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// Simulator is a learner in an environment of Go; what it does there the run says ([fleet.Learning]).
type Simulator struct {
	name   string
	env    sim.Env
	rng    *rand.Rand
	device *device.Device
	player *learn.Player
	greedy bool
}

// NewSimulator learns in an environment of the name that the run has to state. The generator drives environment and
// actions.
func NewSimulator(name string, env sim.Env, rng *rand.Rand) *Simulator {
	return &Simulator{name: name, env: env, rng: rng}
}

// Prepare implements [Learner].
func (s *Simulator) Prepare(run *Run) error {
	l, err := fleet.ParseLearning(run.Local)
	if err != nil {
		return err
	}
	if l.Environment != s.name {
		return fmt.Errorf("%w: the run is about %q; this device has %q", ErrConfig, l.Environment, s.name)
	}
	if s.device, err = device.New(l.Local, run.Randomizer); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if s.device.Dim() != run.Dim {
		return fmt.Errorf("%w: the run has %d weights; its network has %d", ErrConfig, run.Dim, s.device.Dim())
	}
	s.greedy = l.Local.Greedy
	s.player, err = s.device.Player(s.env)
	return err
}

// Learn implements [Learner].
func (s *Simulator) Learn(_ context.Context, w Work) ([]float64, error) {
	if w.Evaluate {
		score, err := s.device.Play(w.Theta, s.player, learn.Explore{Greedy: s.greedy}, s.rng)
		return []float64{score}, err
	}
	vector, rollout := s.device.Learn(&train.Task{Slot: w.Round - 1, Seed: w.Seed}, w.Theta, s.player, s.rng)
	return append([]float64(nil), vector...), rollout.Failed
}
