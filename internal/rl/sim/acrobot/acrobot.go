package acrobot

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// The fixed parts of the problem. Both links are 1 m long and weigh 1 kg; their centre of mass
// is in the middle and their moment of inertia 1 kg m^2.
const (
	// Actions is the number of actions: torques of -1, 0 and 1 N m.
	Actions = 3
	// MaxSteps is the customary limit on an episode.
	MaxSteps = 500

	// MaxVelocity1 and MaxVelocity2 bound the angular velocities.
	MaxVelocity1 = 4 * math.Pi
	MaxVelocity2 = 9 * math.Pi

	gravity  = 9.8
	centre   = .5
	interval = .2
)

// Columns names the observation columns.
func Columns() []string {
	return []string{"obs_cos_1", "obs_sin_1", "obs_cos_2", "obs_sin_2", "obs_velocity_1", "obs_velocity_2"}
}

// Equation says which equation of motion the second link follows.
type Equation int

// The equations. That of the book has a term in the square of the first link's velocity that the
// paper leaves out.
const (
	// Book is that of Sutton and Barto (1998): Gymnasium's default.
	Book Equation = iota
	// NIPS is that of Sutton (1996).
	NIPS
)

// Options says which variant is simulated. The zero value is Gymnasium's Acrobot-v1.
type Options struct {
	// Equation is Book by default.
	Equation Equation
}

// Env is Acrobot; it implements [sim.Env].
type Env struct {
	// State is the angle of the first link, 0 hanging down, that of the second to the first, and
	// their velocities. It may be set to go on from elsewhere.
	State [4]float64

	nips bool
}

// New returns the problem, at rest and hanging down.
func New(o Options) (*Env, error) {
	if o.Equation != Book && o.Equation != NIPS {
		return nil, fmt.Errorf("%w: acrobot: unknown equation %d", sim.ErrOptions, o.Equation)
	}
	return &Env{nips: o.Equation == NIPS}, nil
}

// Spec implements [sim.Env].
func (*Env) Spec() sim.Spec {
	one := sim.Range{Low: -1, High: 1}
	return sim.Spec{
		Name: "acrobot", Columns: Columns(), Actions: Actions, MaxSteps: MaxSteps,
		Ranges: []sim.Range{one, one, one, one, {Low: -MaxVelocity1, High: MaxVelocity1}, {Low: -MaxVelocity2, High: MaxVelocity2}},
		Reward: sim.Range{Low: -1, High: 0},
	}
}

// Reset starts with each component of the state uniform between -0.1 and 0.1.
func (e *Env) Reset(obs []float64, rng *rand.Rand) {
	for i := range e.State {
		e.State[i] = -0.1 + 0.2*rng.Float64()
	}
	e.observe(obs)
}

// Step implements [sim.Env]; it never fails.
func (e *Env) Step(obs []float64, action int) (sim.Outcome, error) {
	if uint(action) >= Actions {
		panic(fmt.Sprintf("acrobot: action %d", action))
	}
	s := e.integrate(float64(action - 1))
	s[0], s[1] = wrap(s[0]), wrap(s[1])
	s[2] = min(max(s[2], -MaxVelocity1), MaxVelocity1)
	s[3] = min(max(s[3], -MaxVelocity2), MaxVelocity2)
	e.State = s
	e.observe(obs)
	if -math.Cos(s[0])-math.Cos(s[1]+s[0]) > 1 {
		return sim.Outcome{Terminated: true}, nil
	}
	return sim.Outcome{Reward: -1}, nil
}

func (e *Env) observe(obs []float64) {
	obs[1], obs[0] = math.Sincos(e.State[0])
	obs[3], obs[2] = math.Sincos(e.State[1])
	obs[4], obs[5] = e.State[2], e.State[3]
}

// integrate takes one step of the classical Runge-Kutta method of order 4.
func (e *Env) integrate(torque float64) [4]float64 {
	at := func(k [4]float64, h float64) [4]float64 {
		s := e.State
		for i := range s {
			s[i] += h * k[i]
		}
		return e.derivative(s, torque)
	}
	k1 := e.derivative(e.State, torque)
	k2 := at(k1, interval/2)
	k3 := at(k2, interval/2)
	k4 := at(k3, interval)
	s := e.State
	for i := range s {
		s[i] += interval / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
	}
	return s
}

// derivative is that of the state by time, Sutton (1996), figure 4, in which phi_2 and
// phi_1 have cosines of angles less pi/2: sines.
func (e *Env) derivative(s [4]float64, torque float64) [4]float64 {
	sin1 := math.Sin(s[0])
	sin2, cos2 := math.Sincos(s[1])
	v1, v2 := s[2], s[3]
	d1 := centre*centre + (1 + centre*centre + 2*centre*cos2) + 2
	d2 := centre*centre + centre*cos2 + 1
	phi2 := centre * gravity * math.Sin(s[0]+s[1])
	phi1 := -centre*v2*v2*sin2 - 2*centre*v2*v1*sin2 + (centre+1)*gravity*sin1 + phi2
	push := torque + d2/d1*phi1 - phi2
	if !e.nips {
		push -= centre * v1 * v1 * sin2
	}
	a2 := push / (centre*centre + 1 - d2*d2/d1)
	return [4]float64{v1, v2, -(d2*a2 + phi1) / d1, a2}
}

// wrap brings an angle to [-pi, pi] by whole turns.
func wrap(x float64) float64 {
	for x > math.Pi {
		x -= 2 * math.Pi
	}
	for x < -math.Pi {
		x += 2 * math.Pi
	}
	return x
}
