package yamlfile

import (
	"fmt"
	"io"
	"strings"

	"github.com/discreet-rl/discreet/internal/rl/sim/acrobot"
	"github.com/discreet-rl/discreet/internal/rl/sim/bandit"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// environment is what agents live in.
type environment struct {
	// Name is cart-pole, mountain-car, acrobot or contextual-bandit.
	Name string `yaml:"name"`
	// Gravity lists values for cart-pole; each agent is given one of them, uniformly.
	Gravity []float64 `yaml:"gravity"`
	// Taste lists directions in degrees, for contextual-bandit.
	Taste []float64 `yaml:"taste"`
	// Equation of acrobot is book or nips.
	Equation string `yaml:"equation"`
	// MaxSteps bounds an episode.
	MaxSteps int `yaml:"max_steps"`
}

// problem is what a section of the configuration may name as its environment.
type problem struct {
	name string
	// all makes the environments that a section describes.
	all func(environment) ([]simulate.Environment, error)
	// immediate tells that a reward follows from its own decision alone, so that by default it
	// is not discounted to earlier ones; unbounded that the problem does not bound all observations.
	immediate, unbounded bool
}

// problems lists all of them.
func problems() []problem {
	return []problem{
		{name: "cart-pole", all: environment.poles, unbounded: true},
		{name: "mountain-car", all: one(func() (sim.Env, error) { return mountaincar.New(mountaincar.Options{}) })},
		{name: "acrobot", all: environment.acrobot},
		{name: "contextual-bandit", all: environment.devices, immediate: true},
	}
}

// problemNamed finds a problem.
func problemNamed(name string) (problem, error) {
	var names []string
	for _, p := range problems() {
		if p.name == name {
			return p, nil
		}
		names = append(names, p.name)
	}
	last := len(names) - 1
	return problem{}, fmt.Errorf("%w: environment.name is %q; want %s or %s", ErrSyntax, name, strings.Join(names[:last], ", "), names[last])
}

// all lists the environments that the section describes.
func (e environment) all() ([]simulate.Environment, sim.Spec, error) {
	if e.MaxSteps < 0 {
		return nil, sim.Spec{}, fmt.Errorf("%w: environment.max_steps is %d; want 1 at least", ErrSyntax, e.MaxSteps)
	}
	p, err := problemNamed(e.Name)
	if err != nil {
		return nil, sim.Spec{}, err
	}
	if err := e.foreign(); err != nil {
		return nil, sim.Spec{}, err
	}
	out, err := p.all(e)
	if err != nil {
		return nil, sim.Spec{}, err
	}
	var spec sim.Spec
	for _, environment := range out { // every one is made once, so that what is wrong is told now
		env, err := environment.New()
		if err != nil {
			return nil, spec, fmt.Errorf("environment: %w", err)
		}
		spec = env.Spec()
	}
	return out, spec, nil
}

// foreign refuses keys of other environments.
func (e environment) foreign() error {
	for _, k := range []struct {
		key, owner string
		set        bool
	}{
		{"gravity", "cart-pole", len(e.Gravity) > 0}, {"taste", "contextual-bandit", len(e.Taste) > 0}, {"equation", "acrobot", e.Equation != ""},
	} {
		if k.set && e.Name != k.owner {
			return fmt.Errorf("%w: environment.%s belongs to %s; remove it", ErrSyntax, k.key, k.owner)
		}
	}
	return nil
}

// one makes the environment of a problem without keys of its own.
func one(build func() (sim.Env, error)) func(environment) ([]simulate.Environment, error) {
	return func(e environment) ([]simulate.Environment, error) {
		return []simulate.Environment{{Name: e.Name, New: build}}, nil
	}
}

// mostGravity is several times the sun's; what is above it was not meant.
const mostGravity = 1000.

func (e environment) poles() ([]simulate.Environment, error) {
	gravity := e.Gravity
	if len(gravity) == 0 {
		gravity = []float64{9.8}
	}
	var out []simulate.Environment
	for _, g := range gravity {
		if !(g > 0 && g <= mostGravity) {
			return nil, fmt.Errorf("%w: environment.gravity is %v; want above 0 to %v, in m/s^2", ErrSyntax, g, mostGravity)
		}
		out = append(out, simulate.Environment{
			Name: fmt.Sprintf("cart-pole, gravity %v", g),
			New:  func() (sim.Env, error) { return cartpole.New(cartpole.Options{Gravity: g, MaxSteps: 200}) },
		})
	}
	return out, nil
}

func (e environment) acrobot() ([]simulate.Environment, error) {
	var o acrobot.Options
	switch e.Equation {
	case "", "book":
	case "nips":
		o.Equation = acrobot.NIPS
	default:
		return nil, fmt.Errorf("%w: environment.equation is %q; want book or nips", ErrSyntax, e.Equation)
	}
	return []simulate.Environment{{Name: "acrobot, " + or(e.Equation, "book"), New: func() (sim.Env, error) { return acrobot.New(o) }}}, nil
}

// devices are those of persons of several tastes, by default the eight that are 45 degrees apart.
func (e environment) devices() ([]simulate.Environment, error) {
	if e.MaxSteps > bandit.Visits {
		return nil, fmt.Errorf("%w: environment.max_steps is %d; an episode of contextual-bandit has %d visits at most", ErrSyntax, e.MaxSteps, bandit.Visits)
	}
	tastes := e.Taste
	if len(tastes) == 0 {
		tastes = []float64{0, 45, 90, 135, 180, 225, 270, 315}
	}
	var out []simulate.Environment
	for _, taste := range tastes {
		if !(taste >= -360 && taste <= 360) {
			return nil, fmt.Errorf("%w: environment.taste is %v; want -360 to 360, in degrees", ErrSyntax, taste)
		}
		out = append(out, simulate.Environment{
			Name: fmt.Sprintf("contextual-bandit, taste %v", taste),
			New:  func() (sim.Env, error) { return bandit.New(bandit.Options{Taste: taste}) },
		})
	}
	return out, nil
}

// scaled tells whether networks see scaled observations: by default where the problem itself bounds
// all of them.
func (t Train) scaled() bool {
	if t.Network.Scale != nil {
		return *t.Network.Scale
	}
	p, err := problemNamed(t.Environment.Name)
	return err != nil || !p.unbounded
}

// WritePolicy writes the policy of the configuration's environment; see [train.Policy].
func (t Train) WritePolicy(w io.Writer, l device.Local, theta []float64) error {
	_, spec, err := t.Environment.all()
	if err != nil {
		return err
	}
	if !l.Scale {
		spec.Ranges = nil
	}
	return train.Policy{Network: l.Network, Theta: theta, Columns: spec.Columns, Ranges: spec.Ranges, Greedy: l.Greedy}.Write(w)
}
