package truthbench

import (
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/evaluate"
)

// Problems lists the benchmark problems.
func Problems() []Problem {
	out := []Problem{
		bandit("bandit, arm at .5", 0.5, 0.6, 0.4),
		bandit("bandit, arm at .02", 0.02, 0.6, 0.4),
		untried("arm never tried, worth 0", 0),
		untried("arm never tried, worth 1", 1),
		bandit("clicks, arm at .5", 0.5, 0.01, 0.008),
		bandit("clicks, arm at .02", 0.02, 0.01, 0.008),
		contextual("contextual 10x20", 20, 0.5),
		contextual("contextual 10x40, clicks", 40, 0.02),
	}
	for _, horizon := range []int{5, 12, 20} {
		out = append(out,
			clinical(horizon, 0.3).problem(fmt.Sprintf("clinical %d near", horizon)),
			clinical(horizon, 1).problem(fmt.Sprintf("clinical %d far", horizon)))
	}
	for _, horizon := range []int{5, 10} {
		out = append(out,
			garnet(horizon, 0.2).problem(fmt.Sprintf("garnet %d near", horizon)),
			garnet(horizon, 0.7).problem(fmt.Sprintf("garnet %d far", horizon)))
	}
	return append(out, heavy(), grid(), chain(), linearGaussian(5), linearGaussian(10))
}

func single(p float64) []float64 { return []float64{1 - p, p} }

// click is a decision that ends the episode and is worth r on average.
func click(r float64) []branch { return []branch{{p: 1, state: done, reward: r}} }

// bandit evaluates the second of two arms.
func bandit(name string, logged, worth, other float64) Problem {
	m := &mdp{horizon: 1, gamma: 1, start: []float64{1}, coin: true,
		next: [][][]branch{{click(other), click(worth)}}, behavior: [][]float64{single(logged)}, target: [][]float64{single(1)}}
	return m.problem(name)
}

// untried evaluates a policy that half of the time takes an arm that was never
// logged. The value lies at an end of what the data leave open.
func untried(name string, worth float64) Problem {
	m := &mdp{horizon: 1, gamma: 1, start: []float64{1}, coin: true, next: [][][]branch{{click(0.4), click(0.6), click(worth)}},
		behavior: [][]float64{{0.5, 0.5, 0}}, target: [][]float64{{0, 0.5, 0.5}}}
	return m.problem(name)
}

// contextual has ten contexts and click rates up to most.
func contextual(name string, actions int, most float64) Problem {
	rng := rand.New(rand.NewPCG(uint64(actions), 1))
	m := &mdp{horizon: 1, gamma: 1, coin: true}
	for range 10 {
		m.start = append(m.start, 0.1)
		var next [][]branch
		for range actions {
			next = append(next, click(most*rng.Float64()))
		}
		m.next = append(m.next, next)
		m.behavior = append(m.behavior, mixture(rng, actions))
	}
	m.toward(0.7)
	return m.problem(name)
}

// mixture is a random distribution that gives every action some probability.
func mixture(rng *rand.Rand, actions int) []float64 {
	p, sum := make([]float64, actions), 0.0
	for a := range p {
		p[a] = 0.2 + rng.Float64()
		sum += p[a]
	}
	for a := range p {
		p[a] /= sum
	}
	return p
}

// clinical has six severities and two treatments. Patients get worse or better by a
// step; who gets worse from the last severity dies, and the episode ends. The
// second treatment helps those who are ill and burdens those who are not.
func clinical(horizon int, share float64) *mdp {
	m := &mdp{horizon: horizon, gamma: 1, start: []float64{0.1, 0.3, 0.3, 0.2, 0.1, 0}}
	for s := range 6 {
		var next [][]branch
		for a := range 2 {
			worse, better := 0.15+0.04*float64(s), 0.2
			burden := 0.0
			if a == 1 {
				worse, better, burden = 0.6*worse, 0.35, 0.15
			}
			reward := 1 - float64(s)/8 - burden
			up := branch{p: worse, state: s + 1, reward: reward}
			if s == 5 {
				up.state, up.reward = done, 0
			}
			next = append(next, []branch{up, {p: better, state: max(s-1, 0), reward: reward}, {p: 1 - worse - better, state: s, reward: reward}})
		}
		m.next = append(m.next, next)
		m.behavior = append(m.behavior, single(0.25+0.08*float64(s)))
	}
	m.toward(share)
	return m
}

// garnet is a random process of 20 states, 4 actions and 3 successors (Archibald,
// McKinnon and Thomas 1995).
func garnet(horizon int, share float64) *mdp {
	rng := rand.New(rand.NewPCG(20, 4))
	m := &mdp{horizon: horizon, gamma: 1, coin: true}
	for range 20 {
		m.start = append(m.start, 0.05)
		var next [][]branch
		for range 4 {
			reward, p := rng.Float64(), mixture(rng, 3)
			var branches []branch
			for _, x := range p {
				branches = append(branches, branch{x, rng.IntN(20), reward})
			}
			next = append(next, branches)
		}
		m.next = append(m.next, next)
		m.behavior = append(m.behavior, mixture(rng, 4))
	}
	m.toward(share)
	return m
}

// heavy has weights of 0 and 1024.
func heavy() Problem {
	m := &mdp{horizon: 10, gamma: 1, start: []float64{1}, coin: true, behavior: [][]float64{single(0.5)}, target: [][]float64{single(1)},
		next: [][][]branch{{{{p: 1, reward: 0.3}}, {{p: 1, reward: 0.7}}}}}
	return m.problem("heavy tails")
}

// grid is a walk over five by five cells, with slips, to the far corner.
func grid() Problem {
	p := gridProcess().problem("gridworld")
	p.Return = &evaluate.Range{Min: 0, Max: 1}
	return p
}

func gridProcess() *mdp {
	const side = 5
	steps := [4][2]int{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}
	m := &mdp{horizon: 20, gamma: 0.95, start: make([]float64, side*side)}
	m.start[0] = 1
	for cell := range side * side {
		var next [][]branch
		for a := range steps {
			var branches []branch
			for b, step := range steps {
				p := 0.05
				if a == b {
					p = 0.85
				}
				x, y := min(max(cell%side+step[0], 0), side-1), min(max(cell/side+step[1], 0), side-1)
				to := branch{p: p, state: y*side + x}
				if to.state == side*side-1 {
					to.state, to.reward = done, 1
				}
				branches = append(branches, to)
			}
			next = append(next, branches)
		}
		m.next = append(m.next, next)
		m.behavior = append(m.behavior, []float64{0.35, 0.35, 0.15, 0.15})
		m.target = append(m.target, []float64{0.4, 0.4, 0.1, 0.1})
	}
	return m
}

// chain has ten states; the second action advances, and the end is worth 1.
func chain() Problem {
	const states = 10
	m := &mdp{horizon: 30, gamma: 0.99}
	for s := range states {
		advance := branch{p: 1, state: s + 1}
		if s == states-1 {
			advance.state, advance.reward = done, 1
		}
		m.start = append(m.start, 1.0/states)
		m.next = append(m.next, [][]branch{{{p: 1, state: s}}, {advance}})
		m.behavior = append(m.behavior, single(0.5))
		m.target = append(m.target, single(0.6))
	}
	p := m.problem("chain")
	p.Return = &evaluate.Range{Min: 0, Max: 1}
	return p
}
