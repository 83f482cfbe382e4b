package untuned

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Problem is a finite process, the policy that makes its logs, and the one to
// evaluate. Rewards follow from state and action and lie in [0, 1].
type Problem struct {
	// Name is part of the names of panels, Title heads them.
	Name, Title string
	// Process is known; Behaviour and Target hold the probability of every action in
	// every state, as [value.FiniteMDP] wants them.
	Process           *value.FiniteMDP
	Behaviour, Target []float64
	// Steps is where an episode is cut off; what follows is bootstrapped, and is
	// worth less than a thousandth of the range of a return.
	Steps int
	// Returns is the public range of a return.
	Returns evaluate.Range
}

// column holds the number of the state.
const column = chain.Column

// OnPolicy is the problem with the logging policy to evaluate.
func (p Problem) OnPolicy() Problem {
	p.Target = p.Behaviour
	return p
}

// logged tells whether the logging policy is evaluated.
func (p Problem) logged() bool { return slices.Equal(p.Behaviour, p.Target) }

// truth is the exact value of every state, and of the start.
func (p Problem) truth() (values []float64, start float64, err error) {
	if values, err = p.Process.Values(p.Target); err != nil {
		return nil, 0, err
	}
	return values, p.atStart(values), nil
}

func (p Problem) atStart(values []float64) (sum float64) {
	for s, x := range p.Process.Start {
		sum += x * values[s]
	}
	return sum
}

// Problems lists those on which nothing was tuned: a gridworld and a Garnet.
func Problems() []Problem { return []Problem{Gridworld(), Garnet()} }

// Gridworld is a walk over five by five cells from one corner to the other, in
// whose corner every action pays 1 and ends the episode. A step goes astray with
// probability 0.15. The logging policy leans to the corner, the target leans more.
func Gridworld() Problem {
	const side, cells, actions = 5, 25, 4
	steps := [actions][2]int{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}
	m := &value.FiniteMDP{
		States: cells, Actions: actions, Gamma: 0.95,
		P: make([]float64, cells*actions*cells), R: make([]float64, cells*actions), Start: make([]float64, cells),
	}
	m.Start[0] = 1
	for cell := range cells {
		for a := range actions {
			if cell == cells-1 {
				m.R[cell*actions+a] = 1
				continue
			}
			for b, step := range steps {
				p := 0.05
				if a == b {
					p = 0.85
				}
				x, y := min(max(cell%side+step[0], 0), side-1), min(max(cell/side+step[1], 0), side-1)
				m.P[(cell*actions+a)*cells+y*side+x] += p
			}
		}
	}
	return Problem{
		Name: "gridworld", Title: "Gridworld", Process: m, Steps: 150, Returns: evaluate.Range{Min: 0, Max: 1},
		Behaviour: slices.Repeat([]float64{0.35, 0.35, 0.15, 0.15}, cells), Target: slices.Repeat([]float64{0.4, 0.4, 0.1, 0.1}, cells),
	}
}

// Garnet is a random process of 20 states, 4 actions and 3 successors, whose
// episodes end after each step with probability 0.1. The target is the logging
// policy with one time in ten an action of its own for each state.
func Garnet() Problem {
	const states, actions, successors = 20, 4, 3
	rng := rand.New(rand.NewPCG(20, 4))
	m := &value.FiniteMDP{States: states, Actions: actions, Gamma: 0.95, P: make([]float64, states*actions*states)}
	var behaviour, target []float64
	for s := range states {
		m.Start = append(m.Start, 1.0/states)
		for a := range actions {
			m.R = append(m.R, rng.Float64())
			for _, p := range mixture(rng, successors) {
				m.P[(s*actions+a)*states+rng.IntN(states)] += 0.9 * p
			}
		}
		preferred := rng.IntN(actions)
		for a, p := range mixture(rng, actions) {
			behaviour, target = append(behaviour, p), append(target, 0.9*p)
			if a == preferred {
				target[len(target)-1] += 0.1
			}
		}
	}
	return Problem{
		Name: "garnet", Title: "Garnet", Process: m, Behaviour: behaviour, Target: target,
		Steps: 60, Returns: evaluate.Range{Min: 0, Max: (1 - math.Pow(m.Gamma, 60)) / (1 - m.Gamma)},
	}
}

// mixture is a random distribution that gives every outcome some probability.
func mixture(rng *rand.Rand, n int) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = 0.2 + rng.Float64()
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Chain is the chain of both papers, on-policy, from the given start, nil for a
// uniform one.
func Chain(name, title string, start []float64) Problem {
	pi := chain.Policy(onchain.Advance)
	return Problem{
		Name: name, Title: title, Process: chain.MDP(onchain.Gamma, start), Behaviour: pi, Target: pi,
		Steps: 10_000, Returns: evaluate.Range{Min: 0, Max: 1},
	}
}

// simulate makes the logs of m persons of one episode each. The first of more
// persons are those of fewer.
func (p Problem) simulate(m int, seed uint64) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{column}, PersonStart: make([]int, 1, m+1), EpisodeStart: make([]int, 1, m+1)}
	pcg := new(rand.PCG)
	rng := rand.New(pcg)
	k := p.Process.Actions
	for person := range m {
		pcg.Seed(seed, uint64(person))
		state := max(choose(rng, p.Process.Start), 0) // -1 is rounding here
		t := 0
		for ; t < p.Steps && state >= 0; t++ {
			a := max(choose(rng, p.Behaviour[state*k:state*k+k]), 0)
			at := state*k + a
			d.Obs = append(d.Obs, float64(state))
			d.Action = append(d.Action, int32(a))
			d.Reward = append(d.Reward, p.Process.R[at])
			d.BehaviorProb = append(d.BehaviorProb, p.Behaviour[at])
			state = choose(rng, p.Process.P[at*p.Process.States:(at+1)*p.Process.States])
		}
		d.Terminated = append(d.Terminated, state < 0)
		d.HasFinal = append(d.HasFinal, state >= 0)
		d.Final = append(d.Final, float64(max(state, 0)))
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.PersonStart = append(d.PersonStart, person+1)
	}
	return d
}

// choose draws an index; what is missing to 1 is -1.
func choose(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	for i, x := range p {
		if u < x {
			return i
		}
		u -= x
	}
	return -1
}

// first is the dataset of the first m persons.
func first(d *trajectory.Dataset, m int) *trajectory.Dataset {
	out := *d
	rows := d.EpisodeStart[m]
	out.PersonStart, out.EpisodeStart, out.Terminated = d.PersonStart[:m+1], d.EpisodeStart[:m+1], d.Terminated[:m]
	out.Obs, out.Reward, out.Action, out.BehaviorProb = d.Obs[:rows], d.Reward[:rows], d.Action[:rows], d.BehaviorProb[:rows]
	out.Final, out.HasFinal = d.Final[:m], d.HasFinal[:m]
	return &out
}
