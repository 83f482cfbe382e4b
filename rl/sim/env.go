package sim

import (
	"math/rand/v2"

	"github.com/discreet-rl/discreet/internal/fault"
)

// ErrOptions marks settings out of range. The simulators below this package
// wrap it.
var ErrOptions = fault.Input("invalid simulator settings")

// Env is a simulated problem, one episode at a time, in the vocabulary of
// Gymnasium. It may not be shared by goroutines.
type Env interface {
	// Spec describes the problem; it does not change.
	Spec() Spec
	// Reset begins an episode and writes the first observation to obs, of length
	// len(Spec().Columns). What is random in the episode is drawn from rng, which
	// the Env may keep until the next Reset.
	Reset(obs []float64, rng *rand.Rand)
	// Step takes an action, 0 to Spec().Actions-1, and writes the observation
	// after it to obs. It panics when there is no such action. An error means
	// that the simulation itself failed, and the episode is of no use.
	Step(obs []float64, action int) (Outcome, error)
}

// Spec describes a problem.
type Spec struct {
	// Name is what the command line calls it.
	Name string
	// Columns names the observation columns.
	Columns []string
	// Actions is the number of actions.
	Actions int
	// MaxSteps is the number of steps after which an episode is customarily
	// truncated; 0 when there is no custom. [Rollout] keeps to it unless told
	// otherwise, an Env by itself does not.
	MaxSteps int
	// Ranges are public ranges of the observations, a column each: bounds where the
	// problem has them, customary scales where it has none. Nil where nothing is known.
	Ranges []Range
	// Reward bounds what a step brings. The zero value says that no bound is known.
	Reward Range
}

// Range is an interval with its ends.
type Range struct{ Low, High float64 }

// Scores is the range of an undiscounted return of 1 to steps steps, by the bounds on
// a reward; known is false where there are none.
func (s Spec) Scores(steps int) (r Range, known bool) {
	n := float64(steps)
	r = Range{min(s.Reward.Low, s.Reward.Low*n), max(s.Reward.High, s.Reward.High*n)}
	return r, steps >= 1 && s.Reward != Range{}
}

// Outcome is what a step brings besides the observation.
type Outcome struct {
	// Reward is received for the action.
	Reward float64
	// Terminated tells that the episode has ended by the problem's own rule,
	// Truncated that it is cut off by a limit of time. Both may be true.
	Terminated, Truncated bool
}

// TimeLimit truncates the episodes of env after steps steps, those included
// that terminate at that very step, as Gymnasium's wrapper does. It panics
// unless steps is at least 1.
func TimeLimit(env Env, steps int) Env {
	if steps < 1 {
		panic("sim: TimeLimit: steps below 1")
	}
	return &timeLimit{Env: env, steps: steps}
}

type timeLimit struct {
	Env
	steps, taken int
}

func (l *timeLimit) Spec() Spec {
	s := l.Env.Spec()
	s.MaxSteps = l.steps
	return s
}

func (l *timeLimit) Reset(obs []float64, rng *rand.Rand) {
	l.taken = 0
	l.Env.Reset(obs, rng)
}

func (l *timeLimit) Step(obs []float64, action int) (Outcome, error) {
	o, err := l.Env.Step(obs, action)
	l.taken++
	o.Truncated = o.Truncated || l.taken >= l.steps
	return o, err
}

// Float32 rounds observations to float32, as Gymnasium's classic problems do;
// the state itself stays in float64.
func Float32(env Env) Env { return rounded{env} }

type rounded struct{ Env }

func (r rounded) Reset(obs []float64, rng *rand.Rand) {
	r.Env.Reset(obs, rng)
	round(obs)
}

func (r rounded) Step(obs []float64, action int) (Outcome, error) {
	o, err := r.Env.Step(obs, action)
	round(obs)
	return o, err
}

func round(obs []float64) {
	for i, v := range obs {
		obs[i] = float64(float32(v))
	}
}
