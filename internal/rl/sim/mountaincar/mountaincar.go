package mountaincar

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// The fixed parts of the problem.
const (
	// Actions is the number of actions: 0 pushes left, 1 not at all, 2 right.
	Actions = 3
	// MaxSteps is the customary limit on an episode.
	MaxSteps = 200

	// MinPosition, MaxPosition, MaxSpeed and GoalPosition bound the state.
	MinPosition  = -1.2
	MaxPosition  = 0.6
	MaxSpeed     = 0.07
	GoalPosition = 0.5

	force   = 0.001
	gravity = 0.0025
)

// Columns names the observation columns: position and velocity.
func Columns() []string { return []string{"obs_position", "obs_velocity"} }

// Options says which variant is simulated. The zero value is Gymnasium's.
type Options struct {
	// GoalVelocity is the least velocity with which the goal must be passed; 0 by
	// default. Before July 2019 there was no such condition, which is -Inf.
	GoalVelocity float64
}

// Env is Mountain Car; it implements [sim.Env].
type Env struct {
	// State is position and velocity. It may be set to go on from elsewhere.
	State [2]float64

	goalVelocity float64
}

// New returns the problem, at rest in the middle of the start interval.
func New(o Options) (*Env, error) {
	if math.IsNaN(o.GoalVelocity) {
		return nil, fmt.Errorf("%w: mountain car: goal velocity is NaN; want a number", sim.ErrOptions)
	}
	return &Env{State: [2]float64{-0.5, 0}, goalVelocity: o.GoalVelocity}, nil
}

// Spec implements [sim.Env].
func (*Env) Spec() sim.Spec {
	return sim.Spec{
		Name: "mountain-car", Columns: Columns(), Actions: Actions, MaxSteps: MaxSteps,
		Ranges: []sim.Range{{Low: MinPosition, High: MaxPosition}, {Low: -MaxSpeed, High: MaxSpeed}}, Reward: sim.Range{Low: -1, High: -1},
	}
}

// Reset starts at rest, uniformly between -0.6 and -0.4.
func (e *Env) Reset(obs []float64, rng *rand.Rand) {
	e.State = [2]float64{-0.6 + 0.2*rng.Float64(), 0}
	copy(obs, e.State[:])
}

// Step implements [sim.Env]; it never fails. The reward is -1, also for the
// step that reaches the goal.
func (e *Env) Step(obs []float64, action int) (sim.Outcome, error) {
	if uint(action) >= Actions {
		panic(fmt.Sprintf("mountaincar: action %d", action))
	}
	position, velocity := e.State[0], e.State[1]
	velocity += float64(action-1)*force - math.Cos(3*position)*gravity
	velocity = min(max(velocity, -MaxSpeed), MaxSpeed)
	position = min(max(position+velocity, MinPosition), MaxPosition)
	// The left wall stops the car; the right end does not.
	if position == MinPosition && velocity < 0 {
		velocity = 0
	}
	e.State = [2]float64{position, velocity}
	copy(obs, e.State[:])
	return sim.Outcome{Reward: -1, Terminated: position >= GoalPosition && velocity >= e.goalVelocity}, nil
}
