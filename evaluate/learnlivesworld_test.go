package evaluate_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// lifeWorld is a trial in which times to an event have a constant hazard by covariates and arm, and are
// censored at a rate by arm. Times count up to 1.
type lifeWorld struct {
	trialWorld

	hazard func(x []float64, arm int) float64
	leave  []float64
}

func lifeWorlds() []lifeWorld {
	half := []float64{0.5, 0.5}
	worlds := []lifeWorld{
		{trialWorld{"a threshold", 4, half, nil, 1}, func(x []float64, arm int) float64 {
			if (x[1] > 0.5) == (arm == 1) {
				return 0.5
			}
			return 1.5
		}, []float64{0.5, 0.5}},
		{trialWorld{"one in five benefits", 3, []float64{0.4, 0.6}, nil, 1}, func(x []float64, arm int) float64 {
			switch {
			case arm == 0:
				return 1
			case x[0] > 0.8:
				return 0.15
			}
			return 1.4
		}, []float64{0.3, 1.2}},
		{trialWorld{"twelve states, three arms", 0, []float64{1. / 3, 1. / 3, 1. / 3}, nil, 0}, func(x []float64, arm int) float64 {
			if int(x[0])%3 == arm {
				return 0.4
			}
			return 1.4
		}, []float64{0.2, 0.6, 1}},
		{trialWorld{"a line", 4, half, nil, linear}, func(x []float64, arm int) float64 {
			if arm == 0 {
				return 0.3 + 0.9*(x[0]+x[1])
			}
			return 2.1 - 0.9*(x[0]+x[1])
		}, []float64{0.8, 0.2}},
		{trialWorld{"no arm is better anywhere", 2, half, nil, 1}, func(x []float64, _ int) float64 { return 0.3 + 2*x[0] }, []float64{0.1, 1.5}},
	}
	for i, w := range worlds {
		worlds[i].success = func(x []float64, arm int) float64 { return -math.Expm1(-w.hazard(x, arm)) / w.hazard(x, arm) }
	}
	return worlds
}

// draw makes the log of so many persons.
func (w lifeWorld) draw(persons int, seed uint64) *trajectory.Dataset {
	r := rand.New(rand.NewPCG(seed, 12))
	d := &trajectory.Dataset{Columns: append(slices.Clone(w.names()), "obs_status"), PersonStart: []int{0}, EpisodeStart: []int{0}}
	for range persons {
		x, u, arm := w.point(r), r.Float64(), 0
		for arm < len(w.arms)-1 && u >= w.arms[arm] {
			u -= w.arms[arm]
			arm++
		}
		event, leaves, status := r.ExpFloat64()/w.hazard(x, arm), r.ExpFloat64()/w.leave[arm], 1.0
		if leaves < event {
			status = 0
		}
		d.Obs = append(append(d.Obs, x...), status)
		d.Action, d.Reward, d.BehaviorProb = append(d.Action, int32(arm)), append(d.Reward, min(event, leaves)), append(d.BehaviorProb, w.arms[arm])
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, len(d.Reward)), append(d.PersonStart, len(d.Reward))
	}
	d.Terminated = slices.Repeat([]bool{true}, persons)
	return d
}

// public are the facts that are given.
func (w lifeWorld) public(persons int, epsilon float64, adjacency dp.Adjacency) evaluate.Public {
	p := w.trialWorld.public(persons, epsilon, adjacency)
	p.Reward = evaluate.Range{}
	p.Outcome = &evaluate.Outcome{Event: "obs_status", Unit: "years", Causes: []evaluate.Cause{{Name: "relapse", Number: 1}}, Censored: []float64{0}, Grouped: true}
	for j := range 8 {
		p.Outcome.Ends = append(p.Outcome.Ends, float64(j+1)/8)
	}
	return p
}
