package cartpole

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// The fixed parts of the problem.
const (
	// Actions is the number of actions: 0 pushes left, 1 right.
	Actions = 2
	// MaxStepsV0 and MaxStepsV1 are the limits on an episode of CartPole-v0 and
	// CartPole-v1.
	MaxStepsV0 = 200
	MaxStepsV1 = 500

	// MaxPosition and MaxAngle (12 degrees, in radians) end an episode when they
	// are exceeded.
	MaxPosition = 2.4
	MaxAngle    = 12 * 2 * math.Pi / 360

	// Velocities have no bound. An observation is scaled by these, in m/s and rad/s, which
	// poles that still stand rarely exceed.
	usualVelocity = 3.0
	usualTurning  = 3.5

	massPole   = 0.1
	massCart   = 1.0
	totalMass  = massPole + massCart
	halfLength = 0.5
	poleMoment = massPole * halfLength
	force      = 10.0
	interval   = 0.02
)

// Columns names the observation columns: position (m), velocity (m/s), angle
// (rad, 0 upright) and angular velocity (rad/s).
func Columns() []string { return []string{"obs_x", "obs_x_dot", "obs_theta", "obs_theta_dot"} }

// Integrator says how the equations of motion are integrated.
type Integrator int

// The integrators. Both take one step of 0.02 s.
const (
	// Euler moves by the old velocities: Gymnasium's default.
	Euler Integrator = iota
	// SemiImplicitEuler moves by the new ones.
	SemiImplicitEuler
)

// Options says which variant is simulated. The zero value is Gymnasium's
// CartPole-v1.
type Options struct {
	// Gravity is in m/s^2; 0 stands for 9.8.
	Gravity float64
	// Integrator is Euler by default.
	Integrator Integrator
	// SuttonBartoReward pays 0 a step and -1 for the one that ends the episode,
	// instead of 1 for every step.
	SuttonBartoReward bool
	// MaxSteps is the customary limit that Spec reports; 0 stands for 500.
	MaxSteps int
}

// Env is Cart Pole; it implements [sim.Env].
type Env struct {
	// State is position, velocity, angle and angular velocity. It may be set to
	// go on from elsewhere.
	State [4]float64

	o      Options
	fallen bool // the pole has fallen since Reset
}

// New returns the problem, upright and at rest.
func New(o Options) (*Env, error) {
	if o.Gravity == 0 {
		o.Gravity = 9.8
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = MaxStepsV1
	}
	switch {
	case !(o.Gravity > 0) || math.IsInf(o.Gravity, 0):
		return nil, fmt.Errorf("%w: cart pole: gravity is %v; want a finite number above 0, in m/s^2", sim.ErrOptions, o.Gravity)
	case o.MaxSteps < 0:
		return nil, fmt.Errorf("%w: cart pole: step limit is %d; want at least 1", sim.ErrOptions, o.MaxSteps)
	case o.Integrator != Euler && o.Integrator != SemiImplicitEuler:
		return nil, fmt.Errorf("%w: cart pole: unknown integrator %d", sim.ErrOptions, o.Integrator)
	}
	return &Env{o: o}, nil
}

// Spec implements [sim.Env]. The ranges of the velocities are customary: they have no bounds.
func (e *Env) Spec() sim.Spec {
	reward := sim.Range{Low: 1, High: 1}
	if e.o.SuttonBartoReward {
		reward = sim.Range{Low: -1, High: 0}
	}
	return sim.Spec{Name: "cart-pole", Columns: Columns(), Actions: Actions, MaxSteps: e.o.MaxSteps, Ranges: []sim.Range{
		{Low: -MaxPosition, High: MaxPosition}, {Low: -usualVelocity, High: usualVelocity},
		{Low: -MaxAngle, High: MaxAngle}, {Low: -usualTurning, High: usualTurning},
	}, Reward: reward}
}

// Reset starts with each component uniform between -0.05 and 0.05.
func (e *Env) Reset(obs []float64, rng *rand.Rand) {
	for i := range e.State {
		e.State[i] = -0.05 + 0.1*rng.Float64()
	}
	e.fallen = false
	copy(obs, e.State[:])
}

// Step implements [sim.Env]; it never fails. Steps after the end go on with the
// same dynamics, and pay as Gymnasium's do: once the pole has fallen, a step
// that ends outside the limits again pays 0 (-1 with SuttonBartoReward).
func (e *Env) Step(obs []float64, action int) (sim.Outcome, error) {
	if uint(action) >= Actions {
		panic(fmt.Sprintf("cartpole: action %d", action))
	}
	e.move(float64(2*action-1) * force)
	copy(obs, e.State[:])
	x, theta := e.State[0], e.State[2]
	out := x < -MaxPosition || x > MaxPosition || theta < -MaxAngle || theta > MaxAngle
	reward := 1.0
	switch {
	case e.o.SuttonBartoReward && out:
		reward = -1
	case e.o.SuttonBartoReward || out && e.fallen:
		reward = 0
	}
	e.fallen = e.fallen || out
	return sim.Outcome{Reward: reward, Terminated: out}, nil
}

// move integrates the equations of motion (Barto, Sutton and Anderson 1983, as
// corrected by Florian 2007, without friction) over one interval.
func (e *Env) move(force float64) {
	x, xDot, theta, thetaDot := e.State[0], e.State[1], e.State[2], e.State[3]
	sin, cos := math.Sincos(theta)
	push := (force + poleMoment*thetaDot*thetaDot*sin) / totalMass
	thetaAcc := (e.o.Gravity*sin - cos*push) / (halfLength * (4.0/3.0 - massPole*cos*cos/totalMass))
	xAcc := push - poleMoment*thetaAcc*cos/totalMass
	if e.o.Integrator == Euler {
		x += interval * xDot
		xDot += interval * xAcc
		theta += interval * thetaDot
		thetaDot += interval * thetaAcc
	} else {
		xDot += interval * xAcc
		x += interval * xDot
		thetaDot += interval * thetaAcc
		theta += interval * thetaDot
	}
	e.State = [4]float64{x, xDot, theta, thetaDot}
}
