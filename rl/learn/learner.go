package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/sim"
)

// Progress holds what happened in each episode of learning.
type Progress struct {
	// Steps is the number of steps, Returns the undiscounted sum of rewards.
	Steps   []int
	Returns []float64
}

// learner is the state that the algorithms share.
type learner struct {
	o        Options
	env      sim.Env
	bound    feature.Bound
	rng      *rand.Rand
	alpha    []float64 // step size of each feature
	actions  int
	obs, phi []float64
	// values are Q(s, a) for all a at the observation at hand.
	values, probs  []float64
	weights, trace []float64 // actions x features, row by row
}

func newLearner(o Options) (*learner, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	m, err := o.Features.Map()
	if err != nil {
		return nil, err
	}
	spec := o.Env.Spec()
	b, err := m.Bind(spec.Columns)
	if err != nil {
		return nil, err
	}
	k, n := spec.Actions, m.Dim()
	l := &learner{
		o: o, env: sim.TimeLimit(o.Env, o.MaxSteps), bound: b, actions: k,
		rng: rand.New(rand.NewPCG(o.Seed, 0x6c6561726e)), // a stream of its own, whatever else has this seed
		obs: make([]float64, len(spec.Columns)), phi: make([]float64, n), alpha: make([]float64, n),
		values: make([]float64, k), probs: make([]float64, k),
		weights: make([]float64, k*n), trace: make([]float64, k*n),
	}
	for i := range l.alpha {
		l.alpha[i] = o.Alpha
	}
	if scaled, ok := m.(interface{ RateScales() []float64 }); ok {
		for i, s := range scaled.RateScales() {
			l.alpha[i] *= s
		}
	}
	return l, nil
}

// learn plays the episodes of an algorithm.
func learn(ctx context.Context, o Options, episode func(*learner) (int, float64, error)) (Q, Progress, error) {
	l, err := newLearner(o)
	if err != nil {
		return Q{}, Progress{}, err
	}
	var p Progress
	for e := range o.Episodes {
		if err := ctx.Err(); err != nil {
			return Q{}, p, err
		}
		steps, total, err := episode(l)
		if err != nil {
			return Q{}, p, fmt.Errorf("episode %d: %w", e, err)
		}
		p.Steps, p.Returns = append(p.Steps, steps), append(p.Returns, total)
		if !finite(l.weights) {
			return Q{}, p, fmt.Errorf("%w in episode %d at alpha %v; make alpha smaller", ErrDiverged, e, o.Alpha)
		}
	}
	q := Q{Features: o.Features}
	for row := range slices.Chunk(l.weights, len(l.phi)) {
		q.Weights = append(q.Weights, row)
	}
	return q, p, nil
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// begin starts an episode.
func (l *learner) begin() {
	clear(l.trace)
	l.env.Reset(l.obs, l.rng)
	l.observe()
}

// observe reads the features of the observation at hand, and their values.
func (l *learner) observe() {
	l.bound.Apply(l.phi, l.obs)
	l.evaluate()
}

// step takes an action and looks at where it leads.
func (l *learner) step(action int) (sim.Outcome, error) {
	out, err := l.env.Step(l.obs, action)
	if err == nil {
		l.observe()
	}
	return out, err
}

// evaluate computes the action values of the features at hand.
func (l *learner) evaluate() {
	n := len(l.phi)
	for a := range l.values {
		sum := 0.0
		for i, w := range l.weights[a*n : a*n+n] {
			sum += w * l.phi[i]
		}
		l.values[a] = sum
	}
}

// mark adds the gradient of Q(s, action) to the traces.
func (l *learner) mark(action int) {
	n := len(l.phi)
	for i, x := range l.phi {
		l.trace[action*n+i] += x
	}
}

func (l *learner) decay(factor float64) {
	for i := range l.trace {
		l.trace[i] *= factor
	}
}

// update moves the weights by the temporal difference delta along the traces.
func (l *learner) update(delta float64) {
	n := len(l.phi)
	for a := range l.actions {
		w, e := l.weights[a*n:a*n+n], l.trace[a*n:a*n+n]
		for i, alpha := range l.alpha {
			w[i] += alpha * delta * e[i]
		}
	}
}

// explore draws an action by the values at hand.
func (l *learner) explore() int {
	if l.o.Temperature > 0 {
		return l.boltzmann()
	}
	if l.o.Epsilon > 0 && l.rng.Float64() < l.o.Epsilon {
		return l.rng.IntN(l.actions)
	}
	best, ties := 0, 0
	for a, v := range l.values {
		switch {
		case v > l.values[best] || a == 0:
			best, ties = a, 1
		case v == l.values[best]:
			// Keeps each of the ties with equal probability.
			if ties++; l.rng.IntN(ties) == 0 {
				best = a
			}
		}
	}
	return best
}

func (l *learner) boltzmann() int {
	top, total := slices.Max(l.values), 0.0
	for a, v := range l.values {
		l.probs[a] = math.Exp((v - top) / l.o.Temperature)
		total += l.probs[a]
	}
	u := l.rng.Float64() * total
	for a, p := range l.probs {
		if u < p {
			return a
		}
		u -= p
	}
	return slices.Index(l.values, top)
}
