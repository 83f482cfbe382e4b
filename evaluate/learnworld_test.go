package evaluate_test

import (
	"math/rand/v2"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// trialWorld is a trial of known truth: covariates in [0, 1], arms drawn with fixed
// probabilities, and the probability of a success under each.
type trialWorld struct {
	name       string
	covariates int // 0 for one state of 12
	arms       []float64
	success    func(x []float64, arm int) float64
	depth      int
}

const (
	learnStates = 12
	linear      = -1 // in place of a depth
)

func trialWorlds() []trialWorld {
	half := []float64{0.5, 0.5}
	return []trialWorld{
		{"a threshold", 4, half, func(x []float64, arm int) float64 {
			if (x[1] > 0.5) == (arm == 1) {
				return 0.6
			}
			return 0.35
		}, 1},
		{"one in five benefits", 3, half, func(x []float64, arm int) float64 {
			switch {
			case arm == 0:
				return 0.45
			case x[0] > 0.8:
				return 0.85
			}
			return 0.35
		}, 1},
		{"two covariates", 3, []float64{0.4, 0.6}, func(x []float64, arm int) float64 {
			good := x[0] > 0.4 && x[2] > 0.3
			if good == (arm == 1) {
				return 0.65
			}
			return 0.35
		}, 2},
		{"twelve states, three arms", 0, []float64{0.3, 0.3, 0.4}, func(x []float64, arm int) float64 {
			if int(x[0])%3 == arm {
				return 0.6
			}
			return 0.35
		}, 0},
		{"a line", 4, half, func(x []float64, arm int) float64 {
			if arm == 0 {
				return 0.75 - 0.25*(x[0]+x[1])
			}
			return 0.25 + 0.25*(x[0]+x[1])
		}, linear},
		{"no arm is better anywhere", 2, half, func(x []float64, _ int) float64 { return 0.3 + 0.4*x[0] }, 1},
	}
}

// names are the columns.
func (w trialWorld) names() []string {
	if w.covariates == 0 {
		return []string{"obs_state"}
	}
	return []string{"obs_a", "obs_b", "obs_c", "obs_d"}[:w.covariates]
}

func (w trialWorld) point(r *rand.Rand) []float64 {
	if w.covariates == 0 {
		return []float64{float64(r.IntN(learnStates))}
	}
	x := make([]float64, w.covariates)
	for i := range x {
		x[i] = r.Float64()
	}
	return x
}

// draw makes the log of so many persons.
func (w trialWorld) draw(persons int, seed uint64) *trajectory.Dataset {
	r := rand.New(rand.NewPCG(seed, 11))
	d := &trajectory.Dataset{Columns: w.names(), PersonStart: []int{0}, EpisodeStart: []int{0}}
	for range persons {
		x, u, arm := w.point(r), r.Float64(), 0
		for u >= w.arms[arm] {
			u -= w.arms[arm]
			arm++
		}
		reward := 0.0
		if r.Float64() < w.success(x, arm) {
			reward = 1
		}
		d.Obs = append(d.Obs, x...)
		d.Action, d.Reward, d.BehaviorProb = append(d.Action, int32(arm)), append(d.Reward, reward), append(d.BehaviorProb, w.arms[arm])
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, len(d.Reward)), append(d.PersonStart, len(d.Reward))
	}
	d.Terminated = slices.Repeat([]bool{true}, persons)
	return d
}

// public are the facts that are given.
func (w trialWorld) public(persons int, epsilon float64, adjacency dp.Adjacency) evaluate.Public {
	var features feature.Map
	var err error
	if w.covariates == 0 {
		features, err = feature.NewTabular(learnStates, "obs_state")
	} else {
		features, err = feature.NewColumns(w.names(), slices.Repeat([]feature.Range{{Low: 0, High: 1}}, w.covariates), feature.ColumnsOptions{})
	}
	if err != nil {
		panic(err)
	}
	target, err := policy.NewUniform(len(w.arms))
	if err != nil {
		panic(err)
	}
	behaviour, err := policy.NewByStep([][]float64{w.arms})
	if err != nil {
		panic(err)
	}
	return evaluate.Public{
		Persons: int64(persons), Gamma: 1, Horizon: 1, Episodes: 1, OneDecision: true, Reward: evaluate.Range{Min: 0, Max: 1}, Complete: true,
		Features: features, Target: target, Design: evaluate.NewDesign(behaviour, true, constantPolicies(len(w.arms))...),
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-5}},
	}
}

// constantPolicies always take one action each.
func constantPolicies(actions int) (all []policy.Policy) {
	for a := range actions {
		c, err := policy.NewConstant(a)
		if err != nil {
			panic(err)
		}
		all = append(all, c)
	}
	return all
}

// worth is the value of a policy of this kind, by 20,000 persons: of rules, of every arm, of the
// logged policy and of the best there is.
func (w trialWorld) worth(f evaluate.PolicyFile) (rule float64, arms []float64, logged, best float64) {
	const points = 20000
	r := rand.New(rand.NewPCG(5, 5))
	arms = make([]float64, len(w.arms))
	for range points {
		x := w.point(r)
		top := 0.0
		for a, p := range w.arms {
			v := w.success(x, a) / points
			arms[a] += v
			logged += p * v
			top = max(top, v)
			if followed(f, x, w.names()) == a {
				rule += v
			}
		}
		best += top
	}
	return rule, arms, logged, best
}

// followed is the action of a rule.
func followed(f evaluate.PolicyFile, x []float64, names []string) int {
	if f.Nodes == nil {
		var scores []float64
		for a, w := range f.Weights {
			scores = append(scores, f.Intercept[a])
			for j := range x {
				scores[a] += w[j] * x[j]
			}
		}
		return slices.Index(scores, slices.Max(scores))
	}
	n := f.Nodes[0]
	for n.Threshold != nil {
		name := n.Input
		if n.Step {
			name = "step"
		}
		if x[slices.Index(names, name)] <= *n.Threshold {
			n = f.Nodes[n.Left]
		} else {
			n = f.Nodes[n.Right]
		}
	}
	return slices.Index(n.Probs, 1)
}

// learner is the method for a world.
func (w trialWorld) learner() evaluate.DPLearn {
	if w.depth == linear {
		return evaluate.DPLearn{Rule: "linear"}
	}
	return evaluate.DPLearn{Depth: w.depth}
}
