package ono20

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train/simulate"
)

const paper = "ono20"

// Numbers of the paper, section 4.
const (
	submissions = 90_000
	trials      = 20
	threshold   = 195
	window      = 10
	// lastShare is the share of submissions at the end that retention looks at.
	lastShare = .1
)

// environments are the paper's three kinds of agents.
func environments() []simulate.Environment {
	var out []simulate.Environment
	for _, g := range []float64{9.7, 9.8, 9.9} {
		out = append(out, simulate.Environment{
			Name: fmt.Sprintf("cart-pole, gravity %v", g),
			New:  func() (sim.Env, error) { return cartpole.New(cartpole.Options{Gravity: g, MaxSteps: 200}) },
		})
	}
	return out
}

// outcome is what a trial came to.
type outcome struct {
	fst       int // 0 for never
	retention float64
	scores    []float64
}

// by reports whether the first success was at n or before.
func (o outcome) by(n float64) float64 {
	if o.fst > 0 && float64(o.fst) <= n {
		return 1
	}
	return 0
}

// seeded completes a configuration for one trial: world and noise follow from the
// seed.
func seeded(c simulate.Config, seed uint64) simulate.Config {
	c.Environments = environments()
	c.Seed = seed
	c.Noise = func(slot uint64) *noise.Source { return noise.NewSeeded(seed<<32 ^ slot) }
	c.Threads = 1
	return c
}

// play runs one trial.
func play(ctx context.Context, c simulate.Config, seed uint64) (outcome, error) {
	r, err := simulate.Run(ctx, seeded(c, seed))
	if err != nil {
		return outcome{}, err
	}
	return judge(r.Scores), nil
}

// playOn runs a trial for at least so many submissions and then on to the first success, or to
// the end of the configuration.
func playOn(ctx context.Context, c simulate.Config, seed, least uint64) (outcome, error) {
	var last [window]float64
	sum, success := 0.0, false
	c.Progress = func(p simulate.Progress) bool {
		at := &last[(p.Accepted-1)%window]
		sum += p.Score - *at
		*at = p.Score
		success = success || p.Accepted >= window && sum >= threshold*window-1e-9
		return !success || p.Accepted < least
	}
	return play(ctx, c, seed)
}

func judge(scores []float64) outcome {
	return outcome{simulate.FirstSuccess(scores, window, threshold), simulate.Retention(scores, lastShare), scores}
}
