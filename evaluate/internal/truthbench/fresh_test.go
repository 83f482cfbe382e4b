package truthbench

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Fresh are ten random problems, five of one decision and five of two to ten, on which nothing was tuned: of rare, even and
// frequent rewards, with states of different frequencies and least probabilities of actions of .02 or .1.
func Fresh(seed uint64) (out []Problem) {
	for k := range 10 {
		rng := rand.New(rand.NewPCG(uint64(k), seed))
		states, actions := 2+rng.IntN(5), 2+rng.IntN(2)
		m := &mdp{horizon: 1, gamma: 1, coin: true, start: uneven(rng, states, 2)}
		if k >= 5 {
			m.horizon = 2 * (k - 4)
		}
		floor, level, share := []float64{0.02, 0.1}[rng.IntN(2)], []float64{0.03, 0.5, 0.9}[rng.IntN(3)], rng.Float64()
		if m.horizon > 1 {
			floor = 0.1
		}
		for range states {
			b, p := uneven(rng, actions, 1.5), uneven(rng, actions, 0.5)
			var next [][]branch
			for a := range actions {
				b[a] = floor + (1-floor*float64(actions))*b[a]
				p[a] = (1-share/2)*b[a] + share/2*p[a]
				reward := min(level*(0.5+rng.Float64()), 1)
				var branches []branch
				for s, q := range uneven(rng, states, 1) {
					branches = append(branches, branch{p: q, state: s, reward: reward})
				}
				next = append(next, branches)
			}
			m.next, m.behavior, m.target = append(m.next, next), append(m.behavior, b), append(m.target, p)
		}
		out = append(out, m.problem(fmt.Sprintf("fresh %d", k)))
	}
	return out
}

// uneven are probabilities, the more unequal the larger the power.
func uneven(rng *rand.Rand, k int, power float64) []float64 {
	p, sum := make([]float64, k), 0.0
	for i := range p {
		p[i] = math.Pow(rng.ExpFloat64(), power)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
