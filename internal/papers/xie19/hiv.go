package xie19

import (
	"context"
	"math"
	"sync"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/hiv"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
)

// The paper's treatment of HIV: the policy to evaluate comes from Q-learning, the
// data from the softmax of its Q. What it does not give: everything else. Rewards
// are in units of the average reward that it names, 1e5.
const (
	hivUnit        = 1e5
	hivGamma       = 0.98
	hivSteps       = 100 // 500 days
	hivPatience    = 700 // 0.98^700 is below 1e-6
	hivSpread      = 0.5 // of the first state, so that patients differ
	hivTemperature = 3   // of the behaviour policy, in units of Q
	hivReference   = 20
)

// hivReward bounds the reward of a step, in units of 1e5: what lies outside is
// cut.
func hivReward() evaluate.Range { return evaluate.Range{Min: -1, Max: 8} }

// hivReturn bounds a discounted return.
func hivReturn() evaluate.Range { return evaluate.Range{Min: 0, Max: 150} }

// patient scales and cuts rewards.
type patient struct{ *hiv.Env }

func (p patient) Step(obs []float64, action int) (sim.Outcome, error) {
	o, err := p.Env.Step(obs, action)
	bound := hivReward()
	o.Reward = min(max(o.Reward/hivUnit, bound.Min), bound.Max)
	return o, err
}

func newPatient() (sim.Env, error) {
	env, err := hiv.New(hiv.Options{Log10: true, Tolerance: 1e-5, StartSpread: hivSpread, MaxSteps: hivSteps})
	return patient{env}, err
}

// patientAt starts from the logarithms of a state. It draws nothing.
func patientAt(obs []float64) (sim.Env, error) {
	var start hiv.State
	for i, x := range obs {
		start[i] = math.Pow(10, x)
	}
	env, err := hiv.New(hiv.Options{Log10: true, Tolerance: 1e-5, Start: start})
	return patient{env}, err
}

// hivSpec are the columns and their public ranges.
func hivSpec(kind string, order int) (feature.Spec, error) {
	env, err := newPatient()
	if err != nil {
		return feature.Spec{}, err
	}
	s := feature.Spec{
		Kind: kind, Order: order, Names: env.Spec().Columns,
		Low: []float64{4, -3, -1, -3, -2, 0}, High: []float64{6, 6, 4, 3, 7, 4},
	}
	s.Intercept = kind == "columns"
	return s, nil
}

// treatment is learned once, in a fraction of a second.
var treatment = sync.OnceValues(func() (*view, error) {
	env, err := newPatient()
	if err != nil {
		return nil, err
	}
	basis, err := hivSpec("fourier", 1)
	if err != nil {
		return nil, err
	}
	q, _, err := learn.QLearning(context.Background(), learn.Options{
		Env: env, Features: basis, Alpha: 0.001, Gamma: hivGamma, Lambda: 0.9, Epsilon: 0.15, Episodes: 200, Seed: 1,
	})
	if err != nil {
		return nil, err
	}
	target, err := q.Greedy(0)
	if err != nil {
		return nil, err
	}
	behaviour, err := q.Softmax(hivTemperature)
	if err != nil {
		return nil, err
	}
	columns, err := hivSpec("columns", 0)
	if err != nil {
		return nil, err
	}
	features, err := columns.Map()
	if err != nil {
		return nil, err
	}
	w := &world{
		name: "HIV treatment", gamma: hivGamma, steps: hivSteps,
		reward: hivReward(), returns: hivReturn(),
		features: features, behaviour: behaviour,
		episode: newPatient, from: patientAt, reference: hivReference, trial: new(latest[simulated]),
	}
	return &view{world: w, name: w.name, target: target, policy: target, patience: hivPatience, rollouts: 1, relative: true}, nil
})
