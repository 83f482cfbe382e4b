package evaluate_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// process is a decision process of known truth: states, actions, a horizon, and a logged policy.
type process struct {
	name            string
	states, actions int
	horizon         int
	next            [][][]float64 // by state, action: probabilities of the next state
	reward          [][]float64   // by state, action
	start           []float64
	logs            [][]float64 // by state, probabilities of the logged policy; nil of the uniform one
}

// logged is the probability of a logged action.
func (w process) logged(s, a int) float64 {
	if w.logs == nil {
		return 1 / float64(w.actions)
	}
	return w.logs[s][a]
}

// processes are a random one of few successors, and a course of an illness that treatment can
// turn, at a cost.
func processes() []process {
	r := rand.New(rand.NewPCG(12, 12))
	garnet := process{name: "garnet", states: 10, actions: 3, horizon: 6, start: slices.Repeat([]float64{0.1}, 10)}
	for range garnet.states {
		var next [][]float64
		var reward []float64
		for range garnet.actions {
			p := make([]float64, garnet.states)
			a, b := r.IntN(garnet.states), r.IntN(garnet.states)
			u := r.Float64()
			p[a] += u
			p[b] += 1 - u
			next, reward = append(next, p), append(reward, r.Float64()*r.Float64())
		}
		garnet.next, garnet.reward = append(garnet.next, next), append(garnet.reward, reward)
	}
	course := process{name: "course of an illness", states: 6, actions: 2, horizon: 8, start: []float64{0, 0.2, 0.3, 0.3, 0.2, 0}}
	for s := range course.states {
		var next [][]float64
		var reward []float64
		for a := range course.actions {
			p := make([]float64, course.states)
			up := 0.25
			if (a == 1) == (s >= 3) { // treat the ill, not the well
				up = 0.6
			}
			p[max(s-1, 0)] += up
			p[min(s+1, course.states-1)] += 0.8 - up
			p[s] += 0.2
			next, reward = append(next, p), append(reward, max(1-0.2*float64(s)-0.05*float64(a), 0))
		}
		course.next, course.reward = append(course.next, next), append(course.reward, reward)
	}
	return []process{garnet, course}
}

// queue is one that can be shortened at a cost, which pays only while decisions are left.
func queue() process {
	w := process{name: "a queue, 8 x 2, 5 decisions", states: 8, actions: 2, horizon: 5, start: slices.Repeat([]float64{0.125}, 8)}
	for s := range 8 {
		var next [][]float64
		for a := range 2 {
			p := make([]float64, 8)
			down := 0.3 + 0.4*float64(a)
			p[max(s-1, 0)] += down
			p[min(s+1, 7)] += 0.9 - down
			p[s] += 0.1
			next = append(next, p)
		}
		w.next, w.reward = append(w.next, next), append(w.reward, []float64{0.95 - 0.1*float64(s), max(0.75-0.1*float64(s), 0)})
	}
	return w
}

// draw makes the log of so many persons.
func (w process) draw(persons int, seed uint64) *trajectory.Dataset {
	r := rand.New(rand.NewPCG(seed, 13))
	pick := func(p []float64) int {
		u := r.Float64()
		for i, v := range p {
			if u -= v; u < 0 {
				return i
			}
		}
		return len(p) - 1
	}
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for range persons {
		s := pick(w.start)
		for range w.horizon {
			var a int
			if w.logs == nil {
				a = r.IntN(w.actions)
			} else {
				a = pick(w.logs[s])
			}
			reward := 0.0
			if r.Float64() < w.reward[s][a] {
				reward = 1
			}
			d.Obs, d.Action, d.Reward = append(d.Obs, float64(s)), append(d.Action, int32(a)), append(d.Reward, reward)
			d.BehaviorProb = append(d.BehaviorProb, w.logged(s, a))
			s = pick(w.next[s][a])
		}
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, len(d.Reward)), append(d.PersonStart, len(d.PersonStart))
	}
	d.Terminated = slices.Repeat([]bool{true}, persons)
	return d
}

// worth is the value over the horizon of a rule, nil for the logged policy, or of the best there
// is.
func (w process) worth(f *evaluate.PolicyFile, best bool) float64 {
	v := make([]float64, w.states)
	for left := range w.horizon {
		now := make([]float64, w.states)
		for s := range now {
			q := make([]float64, w.actions)
			for a := range q {
				q[a] = w.reward[s][a]
				for n, p := range w.next[s][a] {
					q[a] += p * v[n]
				}
			}
			switch {
			case best:
				now[s] = slices.Max(q)
			case f != nil:
				now[s] = q[followed(*f, []float64{float64(s), float64(w.horizon - 1 - left)}, []string{"obs_state", "step"})]
			default:
				for a, x := range q {
					now[s] += x * w.logged(s, a)
				}
			}
		}
		v = now
	}
	total := 0.0
	for s, p := range w.start {
		total += p * v[s]
	}
	return total
}

// public are the facts that are given.
func (w process) public(persons int, epsilon float64) evaluate.Public {
	features, err := feature.NewTabular(w.states, "obs_state")
	if err != nil {
		panic(err)
	}
	target, err := policy.NewUniform(w.actions)
	if err != nil {
		panic(err)
	}
	return evaluate.Public{
		Persons: int64(persons), Gamma: 1, Horizon: int64(w.horizon), Episodes: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Complete: true,
		Features: features, Target: target, Design: evaluate.NewDesign(target, true, constantPolicies(w.actions)...),
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-5}},
	}
}

// top is what the best constant action is worth.
func (w process) top() float64 {
	top := math.Inf(-1)
	for a := range w.actions {
		probs := make([]float64, w.actions)
		probs[a] = 1
		top = max(top, w.worth(&evaluate.PolicyFile{Nodes: []policy.Node{{Probs: probs}}}, false))
	}
	return top
}

// recovered is the share of what the best policy gains over the logged one.
func (w process) recovered(f evaluate.PolicyFile) float64 {
	logged := w.worth(nil, false)
	return (w.worth(&f, false) - logged) / math.Max(w.worth(nil, true)-logged, 1e-9)
}
