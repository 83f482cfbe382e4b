package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// The fixed parts of the problem.
const (
	// Actions is the number of items.
	Actions = 4
	// Visits is the number of steps, after which an episode terminates.
	Visits = 20

	// Spread is the largest angle between a mood and the taste, in degrees.
	Spread = 45

	least = .05 // probability of a click on the opposite of the mood
	half  = .35 // half of what it rises by
)

// Columns names the observation columns: cosine and sine of the mood.
func Columns() []string { return []string{"obs_mood_cos", "obs_mood_sin"} }

// Options says whose device it is.
type Options struct {
	// Taste is the middle of the person's moods, in degrees, -360 to 360.
	Taste float64
}

// Env is one person's device; it implements [sim.Env].
type Env struct {
	taste, mood float64 // in radians
	visits      int
	rng         *rand.Rand
}

// New returns the device of a person, whose mood is the taste until Reset.
func New(o Options) (*Env, error) {
	if !(math.Abs(o.Taste) <= 360) {
		return nil, fmt.Errorf("%w: bandit: taste is %v; want -360 to 360, in degrees", sim.ErrOptions, o.Taste)
	}
	taste := o.Taste * math.Pi / 180
	return &Env{taste: taste, mood: taste}, nil
}

// Spec implements [sim.Env].
func (*Env) Spec() sim.Spec {
	return sim.Spec{
		Name: "contextual-bandit", Columns: Columns(), Actions: Actions, MaxSteps: Visits,
		Ranges: []sim.Range{{Low: -1, High: 1}, {Low: -1, High: 1}}, Reward: sim.Range{Low: 0, High: 1},
	}
}

// Reset begins the first visit. Moods and clicks are drawn from rng, until the next Reset.
func (e *Env) Reset(obs []float64, rng *rand.Rand) {
	e.rng, e.visits = rng, 0
	e.visit(obs)
}

// visit draws a mood.
func (e *Env) visit(obs []float64) {
	e.mood = e.taste + Spread*math.Pi/180*(2*e.rng.Float64()-1)
	obs[1], obs[0] = math.Sincos(e.mood)
}

// Click is the probability of a click on an item at the mood of the visit.
func (e *Env) Click(item int) float64 {
	return least + half*(1+math.Cos(e.mood-float64(item)*2*math.Pi/Actions))
}

// Step implements [sim.Env]: it recommends an item and goes on to the next visit. It never
// fails, and panics before the first Reset.
func (e *Env) Step(obs []float64, action int) (sim.Outcome, error) {
	if uint(action) >= Actions {
		panic(fmt.Sprintf("bandit: action %d", action))
	}
	var out sim.Outcome
	if e.rng.Float64() < e.Click(action) {
		out.Reward = 1
	}
	e.visits++
	out.Terminated = e.visits >= Visits
	e.visit(obs)
	return out, nil
}
