package truthbench

import (
	"math/rand/v2"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Problem is a decision process with two policies and their exact values.
type Problem struct {
	Name string
	// J is the value of the target policy over the horizon, Logged that of the policy
	// that makes the logs.
	J, Logged float64
	Horizon   int
	Gamma     float64
	// Return is the public range of a return, where it is narrower than what rewards
	// in [0, 1] allow; nil elsewhere.
	Return *evaluate.Range
	// Target is the policy to evaluate.
	Target policy.Policy
	// Behavior is the policy that made the logs, as a design that is known beforehand; nil
	// where the states are not finitely many.
	Behavior policy.Policy
	// Between is half-way from the logged policy to the target, and Middle its value;
	// nil where the states are not finitely many.
	Between policy.Policy
	Middle  float64
	// States is the number of states, in the observation obs_state; 0 where the state is
	// a real number.
	States int

	simulate func(rng *rand.Rand, b *writer)
}

// Draw makes the log of so many persons of one episode each.
func (p Problem) Draw(persons int, seed uint64) *trajectory.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x7275746862656e63))
	b := newWriter(persons, p.Horizon)
	for range persons {
		p.simulate(rng, b)
	}
	return &b.data
}

// Public are the facts that an evaluation is given.
func (p Problem) Public(persons int, epsilon float64, adjacency dp.Adjacency) evaluate.Public {
	return evaluate.Public{
		Persons: int64(persons), Gamma: p.Gamma, Horizon: int64(p.Horizon), Episodes: 1,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: p.Return,
		Target:  p.Target,
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-5}},
	}
}

// Designed are the facts of Public with what the policies say of weights. An episode that
// reaches the horizon is over, and none is cut off before.
func (p Problem) Designed(persons int, epsilon float64, adjacency dp.Adjacency) evaluate.Public {
	public := p.Public(persons, epsilon, adjacency)
	if public.Design = evaluate.NewDesign(p.Behavior, true, p.Target); public.Design != nil {
		public.Complete = true
	}
	return public
}

// column holds the state.
const column = "obs_state"

// writer fills a dataset, decision by decision.
type writer struct{ data trajectory.Dataset }

func newWriter(persons, horizon int) *writer {
	rows := persons * horizon
	return &writer{trajectory.Dataset{
		Columns:     []string{column},
		PersonStart: append(make([]int, 0, persons+1), 0), EpisodeStart: append(make([]int, 0, persons+1), 0),
		Obs: make([]float64, 0, rows), Action: make([]int32, 0, rows), Reward: make([]float64, 0, rows),
		BehaviorProb: make([]float64, 0, rows), TargetProb: make([]float64, 0, rows),
		Terminated: make([]bool, 0, persons),
	}}
}

func (w *writer) decision(state float64, action int, reward, behavior, target float64) {
	d := &w.data
	d.Obs = append(d.Obs, state)
	d.Action = append(d.Action, int32(action))
	d.Reward = append(d.Reward, reward)
	d.BehaviorProb = append(d.BehaviorProb, behavior)
	d.TargetProb = append(d.TargetProb, target)
}

// end ends the episode of a person. An episode that reaches the horizon is over,
// since the value counts nothing beyond.
func (w *writer) end(terminated bool) {
	d := &w.data
	d.Terminated = append(d.Terminated, terminated)
	d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
	d.PersonStart = append(d.PersonStart, len(d.Terminated))
}
