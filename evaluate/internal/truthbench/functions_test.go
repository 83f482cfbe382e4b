package truthbench

import (
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Function is a decision process whose logged policy has a value function that is
// known exactly. Episodes end by themselves; few reach the horizon, where they are
// cut off with their last state on record.
type Function struct {
	Name string
	// V is the value by state, and J its mean over Start, where episodes start.
	V, Start []float64
	J        float64
	// Horizon, Gamma and Return are public; Return is nil where it follows from
	// rewards in [0, 1].
	Horizon int
	Gamma   float64
	Return  *evaluate.Range

	simulate func(rng *rand.Rand, w *writer)
}

// Draw makes the log of so many persons of one episode each.
func (f Function) Draw(persons int, seed uint64) *trajectory.Dataset {
	return Problem{Horizon: f.Horizon, simulate: f.simulate}.Draw(persons, seed)
}

// Public are the facts that an evaluation is given.
func (f Function) Public(persons int, epsilon float64, adjacency dp.Adjacency) evaluate.Public {
	p := Problem{Gamma: f.Gamma, Horizon: f.Horizon, Return: f.Return, Target: policy.Logged{}}.Public(persons, epsilon, adjacency)
	features, err := feature.NewTabular(len(f.V), column)
	if err != nil {
		panic(err) // the problem is a constant of the program
	}
	p.Features = features
	return p
}

// Functions lists the benchmark problems of value functions.
func Functions() []Function {
	unit := &evaluate.Range{Min: 0, Max: 1}
	return []Function{
		line(40).function("chain, 40 states", 200, unit),
		walk(true).function("gridworld, from a corner", 200, unit),
		walk(false).function("gridworld, from anywhere", 200, unit),
		ending(0.1, 0.95).function("garnet, range 19", 60, nil),
		ending(0.4, 0.95).function("garnet, range 8", 10, nil),
		illness(0.95).function("clinical, range 20", 80, nil),
		illness(1).function("clinical, range 80", 80, nil),
	}
}

// function is the problem of the logged policy's values.
func (m *mdp) function(name string, horizon int, returns *evaluate.Range) Function {
	m.horizon, m.target = horizon, m.behavior
	f := Function{Name: name, Horizon: horizon, Gamma: m.gamma, Return: returns, simulate: m.cutOff}
	f.V = m.forever()
	f.Start, f.J = m.start, dot(m.start, f.V)
	return f
}

// forever is the value of the logged policy without a horizon.
func (m *mdp) forever() []float64 {
	v := make([]float64, len(m.next))
	for {
		next := m.backup(v, func(s int, q []float64) float64 { return dot(m.behavior[s], q) })
		change := 0.0
		for s := range v {
			change = max(change, math.Abs(next[s]-v[s]))
		}
		if v = next; change < 1e-13 {
			return v
		}
	}
}

// cutOff plays one episode and records the state in which the horizon met it.
func (m *mdp) cutOff(rng *rand.Rand, w *writer) {
	final := m.play(rng, w)
	w.end(final == done)
	w.data.HasFinal = append(w.data.HasFinal, final != done)
	w.data.Final = append(w.data.Final, math.Max(float64(final), 0))
}

// line has so many states; a fair coin advances, and the end is worth 1.
func line(states int) *mdp {
	m := &mdp{gamma: 0.99}
	for s := range states {
		advance := branch{p: 1, state: s + 1}
		if s == states-1 {
			advance.state, advance.reward = done, 1
		}
		m.start = append(m.start, 1/float64(states))
		m.next = append(m.next, [][]branch{{{p: 1, state: s}}, {advance}})
		m.behavior = append(m.behavior, single(0.5))
	}
	return m
}

// walk is the walk over five by five cells, without the corner that ends it.
func walk(corner bool) *mdp {
	m := gridProcess()
	last := len(m.next) - 1
	m.next, m.behavior = m.next[:last], m.behavior[:last]
	m.start = make([]float64, last)
	for s := range m.start {
		m.start[s] = 1 / float64(last)
		if corner {
			m.start[s] = 0
		}
	}
	if corner {
		m.start[0] = 1
	}
	return m
}

// ending is the random process, left with probability leave after each decision.
func ending(leave, gamma float64) *mdp {
	m := garnet(0, 0)
	m.gamma = gamma
	for _, actions := range m.next {
		for a, branches := range actions {
			reward := branches[0].reward
			for i := range branches {
				branches[i].p *= 1 - leave
			}
			actions[a] = append(branches, branch{leave, done, reward})
		}
	}
	return m
}

// illness is the clinical process until discharge or death: who does not get worse in
// the first severity goes home.
func illness(gamma float64) *mdp {
	m := clinical(0, 0)
	m.gamma = gamma
	for _, branches := range m.next[0] {
		branches[1].state, branches[2].state = done, done
	}
	return m
}
