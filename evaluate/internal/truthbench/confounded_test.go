package truthbench

import (
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/policy"
)

// Confounded is a problem in which a hidden circumstance of a person moves both the
// logged decisions and the rewards. The log records what actions have as probability
// when nothing is known of the circumstance.
type Confounded struct {
	Problem
	// Factor is by how much the circumstance moves the odds of a decision.
	Factor float64
}

// hidden describes one: in context s, drawn evenly, the first action is logged with
// probability recorded[s]. Persons of the one kind take it with odds Factor times
// those, the others with odds 1/Factor times; both are so frequent that recorded is
// right on average at the first decision. The target always takes it. Taking it is
// worth one[0] to persons of the first kind and one[1] to the others, each time.
type hidden struct {
	factor   float64
	horizon  int
	recorded []float64
	one      [2]float64
}

// odds is the probability whose odds are f times those of p.
func odds(p, f float64) float64 { return f * p / (1 - p + f*p) }

// share is how frequent the first kind is in a context.
func (h hidden) share(s int) float64 {
	p, q := odds(h.recorded[s], h.factor), odds(h.recorded[s], 1/h.factor)
	return (h.recorded[s] - q) / (p - q)
}

func (h hidden) problem(name string) Confounded {
	var rows []float64
	j, logged := 0.0, 0.0
	for s := range h.recorded {
		rows = append(rows, 1, 0)
		for kind, chance := range []float64{h.share(s), 1 - h.share(s)} {
			f := h.factor
			if kind == 1 {
				f = 1 / f
			}
			worth := chance * h.one[kind] * float64(h.horizon) / float64(len(h.recorded))
			j += worth
			logged += worth * odds(h.recorded[s], f)
		}
	}
	target, err := policy.NewTable(rows, 2, column)
	if err != nil {
		panic(err) // the problem is a constant of the program
	}
	return Confounded{Factor: h.factor, Problem: Problem{Name: name, Target: target, J: j, Logged: logged,
		Horizon: h.horizon, Gamma: 1, States: len(h.recorded), simulate: h.simulate}}
}

func (h hidden) simulate(rng *rand.Rand, w *writer) {
	s := rng.IntN(len(h.recorded))
	f, mean := h.factor, h.one[0]
	if rng.Float64() >= h.share(s) {
		f, mean = 1/f, h.one[1]
	}
	for range h.horizon {
		e := h.recorded[s]
		if rng.Float64() >= odds(e, f) {
			w.decision(float64(s), 1, 0, 1-e, 0)
			continue
		}
		reward := 0.0
		if rng.Float64() < mean {
			reward = 1
		}
		w.decision(float64(s), 0, reward, e, 1)
	}
	w.end(true)
}

// ConfoundedProblems are near the worst case, each at one end of what the factor
// leaves open: who gains from the first action takes it more often, or less often.
func ConfoundedProblems() []Confounded {
	even, uneven := []float64{0.5}, []float64{0.5, 0.3, 0.6, 0.4}
	return []Confounded{
		hidden{1.5, 1, even, [2]float64{1, 0}}.problem("hidden arm, who gains takes it"),
		hidden{1.5, 1, even, [2]float64{0, 1}}.problem("hidden arm, who gains avoids it"),
		hidden{2, 1, uneven, [2]float64{0.9, 0.1}}.problem("hidden contexts, who gains takes it"),
		hidden{2, 1, uneven, [2]float64{0.1, 0.9}}.problem("hidden contexts, who gains avoids it"),
		hidden{1.5, 3, even, [2]float64{0.9, 0.1}}.problem("hidden over three, who gains takes it"),
		hidden{1.5, 3, even, [2]float64{0, 0.3}}.problem("hidden over three, who gains avoids it"),
	}
}
