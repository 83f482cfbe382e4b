// Package simtest holds environments that tests of several packages share.
package simtest

import (
	"errors"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// ErrSensor is what a step of [Faulty] fails with.
var ErrSensor = errors.New("sensor out of range")

// Faulty is an environment whose sensors give up after Left steps, for good unless each episode has
// Again many anew.
type Faulty struct {
	sim.Env
	Left, Again int
}

// Reset implements [sim.Env].
func (f *Faulty) Reset(obs []float64, rng *rand.Rand) {
	if f.Again > 0 {
		f.Left = f.Again
	}
	f.Env.Reset(obs, rng)
}

// Step implements [sim.Env].
func (f *Faulty) Step(obs []float64, action int) (sim.Outcome, error) {
	if f.Left--; f.Left < 0 {
		return sim.Outcome{}, ErrSensor
	}
	return f.Env.Step(obs, action)
}
