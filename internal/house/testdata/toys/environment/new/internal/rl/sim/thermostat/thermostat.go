// Package thermostat is a room that is to be kept within one degree of its set point by a
// heater: the observation is the room's distance from the set point in degrees, action 1
// heats and action 0 does not. Start with [New].
package thermostat

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// The fixed parts of the problem.
const (
	// Actions is the number of actions: 0 is off, 1 heats.
	Actions = 2
	// MaxSteps is the customary limit on an episode.
	MaxSteps = 48

	farthest = 10.0 // degrees from the set point
	heats    = 1.0  // degrees a step
	cools    = 0.5
	gust     = 0.25 // the largest change by the weather
)

// Env is the room; it implements [sim.Env].
type Env struct {
	degrees float64
	rng     *rand.Rand
}

// New returns the room.
func New() (sim.Env, error) { return &Env{}, nil }

// Spec implements [sim.Env].
func (*Env) Spec() sim.Spec {
	return sim.Spec{
		Name: "thermostat", Columns: []string{"obs_degrees"}, Actions: Actions, MaxSteps: MaxSteps,
		Ranges: []sim.Range{{Low: -farthest, High: farthest}}, Reward: sim.Range{High: 1},
	}
}

// Reset starts within five degrees of the set point.
func (e *Env) Reset(obs []float64, rng *rand.Rand) {
	e.degrees, e.rng = 10*rng.Float64()-5, rng
	obs[0] = e.degrees
}

// Step implements [sim.Env]; it never fails, and the problem never ends. The reward is 1 within
// a degree of the set point, else 0.
func (e *Env) Step(obs []float64, action int) (sim.Outcome, error) {
	if uint(action) >= Actions {
		panic(fmt.Sprintf("thermostat: action %d", action))
	}
	e.degrees += float64(action)*heats - cools + gust*(2*e.rng.Float64()-1)
	e.degrees = min(max(e.degrees, -farthest), farthest)
	obs[0] = e.degrees
	var o sim.Outcome
	if math.Abs(e.degrees) <= 1 {
		o.Reward = 1
	}
	return o, nil
}
