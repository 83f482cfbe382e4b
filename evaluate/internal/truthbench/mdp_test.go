package truthbench

import (
	"math/rand/v2"
	"slices"

	"github.com/discreet-rl/discreet/rl/policy"
)

// mdp is a finite decision process over a horizon. Rewards lie in [0, 1].
type mdp struct {
	horizon int
	gamma   float64
	start   []float64 // probability of each state
	// next[s][a] lists what may follow; target and behavior hold the probability of
	// every action in every state.
	next             [][][]branch
	target, behavior [][]float64
	// coin draws rewards as 0 or 1 with the branch's reward as the mean.
	coin bool
}

// branch is one outcome of a decision; a state of done ends the episode.
type branch struct {
	p      float64
	state  int
	reward float64
}

const done = -1

// value is that of a policy, by backward induction.
func (m *mdp) value(policy [][]float64) float64 {
	v := make([]float64, len(m.next))
	for range m.horizon {
		v = m.backup(v, func(s int, q []float64) float64 {
			sum := 0.0
			for a, p := range policy[s] {
				sum += p * q[a]
			}
			return sum
		})
	}
	return dot(m.start, v)
}

// backup is one step of backward induction: combine makes the value of a state of
// those of its actions.
func (m *mdp) backup(v []float64, combine func(s int, q []float64) float64) []float64 {
	out := make([]float64, len(v))
	for s, actions := range m.next {
		q := make([]float64, len(actions))
		for a, branches := range actions {
			for _, b := range branches {
				q[a] += b.p * b.reward
				if b.state != done {
					q[a] += b.p * m.gamma * v[b.state]
				}
			}
		}
		out[s] = combine(s, q)
	}
	return out
}

// greedy is, in every state, the action that is best with the whole horizon to go.
func (m *mdp) greedy() []int {
	v, best := make([]float64, len(m.next)), make([]int, len(m.next))
	for range m.horizon {
		v = m.backup(v, func(s int, q []float64) float64 {
			best[s] = 0
			for a := range q {
				if q[a] > q[best[s]] {
					best[s] = a
				}
			}
			return q[best[s]]
		})
	}
	return best
}

// toward mixes the logged policy with the greedy one.
func (m *mdp) toward(share float64) {
	best := m.greedy()
	m.target = make([][]float64, len(m.next))
	for s, row := range m.behavior {
		m.target[s] = make([]float64, len(row))
		for a, p := range row {
			m.target[s][a] = (1 - share) * p
		}
		m.target[s][best[s]] += share
	}
}

func (m *mdp) problem(name string) Problem {
	between := make([][]float64, len(m.target))
	for s, row := range m.target {
		for a, p := range row {
			between[s] = append(between[s], (p+m.behavior[s][a])/2)
		}
	}
	return Problem{Name: name, Target: table(m.target), Behavior: table(m.behavior), J: m.value(m.target), Logged: m.value(m.behavior),
		Between: table(between), Middle: m.value(between),
		Horizon: m.horizon, Gamma: m.gamma, States: len(m.next), simulate: m.simulate}
}

// table is a policy of the probability of every action in every state.
func table(probabilities [][]float64) policy.Policy {
	p, err := policy.NewTable(slices.Concat(probabilities...), len(probabilities[0]), column)
	if err != nil {
		panic(err) // the problem is a constant of the program
	}
	return p
}

// simulate plays one episode of the logged policy. An episode that reaches the
// horizon is over.
func (m *mdp) simulate(rng *rand.Rand, w *writer) { w.end(m.play(rng, w) == done) }

// play plays one episode and returns the state that it stops in.
func (m *mdp) play(rng *rand.Rand, w *writer) int {
	s := choose(rng, m.start)
	for t := 0; t < m.horizon && s != done; t++ {
		a := choose(rng, m.behavior[s])
		branches := m.next[s][a]
		u, i := rng.Float64(), 0
		for ; i < len(branches)-1 && u >= branches[i].p; i++ {
			u -= branches[i].p
		}
		reward := branches[i].reward
		if m.coin {
			reward = 0
			if rng.Float64() < branches[i].reward {
				reward = 1
			}
		}
		w.decision(float64(s), a, reward, m.behavior[s][a], m.target[s][a])
		s = branches[i].state
	}
	return s
}

func choose(rng *rand.Rand, p []float64) int {
	u, last := rng.Float64(), 0
	for i, x := range p {
		if x == 0 {
			continue
		}
		if u < x {
			return i
		}
		u -= x
		last = i
	}
	return last
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
