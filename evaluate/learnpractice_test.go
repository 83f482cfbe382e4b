package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// otherwise is in which share of the decisions of the logged policy another action is drawn than the rule takes.
func (w process) otherwise(f evaluate.PolicyFile) (share float64) {
	at := w.start
	for step := range w.horizon {
		next := make([]float64, w.states)
		for s, p := range at {
			share += p * (1 - w.logged(s, followed(f, []float64{float64(s), float64(step)}, []string{"obs_state", "step"}))) / float64(w.horizon)
			for a := range w.actions {
				for n, q := range w.next[s][a] {
					next[n] += p * w.logged(s, a) * q
				}
			}
		}
		at = next
	}
	return share
}

// How often a rule does otherwise than was done is within its interval as often as that says, whether certificates follow
// from weights, recorded or estimated, or from noisy cells; and it follows from its noisy sums.
func TestARuleTellsHowOftenItDoesOtherwise(t *testing.T) {
	trial, ward, walk := trialWorlds()[3], clinic(), short()
	missed, all := 0, 0
	for log := range uint64(12) {
		adjacency := []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}[log%2]
		recorded, withheld := walk.public(4000, 1), walk.withheld(20000, 2)
		recorded.Design, recorded.Complete = nil, false
		recorded.Privacy.Adjacency, withheld.Privacy.Adjacency = adjacency, adjacency
		_, drawn := released(t, trial.learner(), trial.public(4000, 1, adjacency), trial.draw(4000, log), log)
		_, counted := released(t, evaluate.DPLearn{}, clinicFacts(ward, 6000, 1, adjacency), clinicLog(ward, 6000, log), log)
		_, followedUp := released(t, evaluate.DPLearn{}, recorded, walk.draw(4000, log), log)
		_, estimated := released(t, evaluate.DPLearn{}, withheld, bare(walk.draw(20000, log)), log)
		truths := make([]float64, 2)
		for s := range learnStates {
			x := []float64{float64(s)}
			truths[0] += (1 - trial.arms[followed(drawn.Learned.Policy, x, trial.names())]) / learnStates
			second := taken(x[0])
			truths[1] += []float64{second, 1 - second}[followed(counted.Learned.Policy, x, ward.names())] / learnStates
		}
		truths = append(truths, walk.otherwise(followedUp.Learned.Policy), walk.otherwise(estimated.Learned.Policy))
		for i, r := range []*evaluate.Release{drawn, counted, followedUp, estimated} {
			d := r.Learned.Differs
			if all++; d.Interval[0] > truths[i] || d.Interval[1] < truths[i] {
				missed++
			}
			if width := d.Interval[1] - d.Interval[0]; width > 0.3 || math.Abs(d.Value-truths[i]) > 0.15 {
				t.Errorf("log %d, %d: %+v, and the truth is %v", log, i, d, truths[i])
			}
		}
	}
	if most := int(0.1*float64(all) + 4*math.Sqrt(0.09*float64(all))); missed > most {
		t.Errorf("%d of %d 90%% intervals miss", missed, all)
	}
	plan, r := released(t, trial.learner(), trial.public(1000, 1, dp.ReplaceOne), trial.draw(1000, 3), 3)
	editsAreRefused(t, plan, r, map[string]func(*evaluate.Release){
		"a value": func(r *evaluate.Release) { r.Learned.Differs.Value += 0.01 },
		"an end":  func(r *evaluate.Release) { r.Learned.Differs.Interval[1] -= 0.01 },
		"nothing": func(r *evaluate.Release) { r.Learned.Differs = nil },
		"no sums": func(r *evaluate.Release) { delete(r.Diagnostics, "practice") },
	})
}

// All persons of whom nothing is known may have done otherwise, or none of them: both are within the interval of noisy cells
// as often as it says, of which an end may miss in 10 of 60 logs but for a chance of 1e-3.
func TestWhoIsNowhereMayHaveDoneOtherwise(t *testing.T) {
	w, low, high := clinic(), 0, 0
	for log := range uint64(60) {
		d, r := clinicLog(w, 6000, log), rand.New(rand.NewPCG(log, 1))
		for row := range d.Obs {
			if r.Float64() < 0.45 {
				d.Obs[row] = learnStates // no state
			}
		}
		p := clinicFacts(w, 6000, 1, []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}[log%2])
		_, x := released(t, evaluate.DPLearn{}, p, d, log)
		truth := 0.0
		for s := range learnStates {
			second := taken(float64(s))
			truth += 0.55 * []float64{second, 1 - second}[followed(x.Learned.Policy, []float64{float64(s)}, w.names())] / learnStates
		}
		if x.Learned.Differs.Interval[0] > truth {
			low++
		}
		if x.Learned.Differs.Interval[1] < truth+0.45 {
			high++
		}
	}
	if low > 10 || high > 10 {
		t.Errorf("of 60 logs %d are above what may be least, %d below what may be most", low, high)
	}
}

// Whoever has an episode that cannot be used may have done anything in it.
func TestWhoIsLeftOutMayHaveDoneOtherwise(t *testing.T) {
	w := short()
	p, d := w.public(2000, 50), w.draw(2000, 1)
	p.Design, p.Complete = nil, false
	_, whole := released(t, evaluate.DPLearn{}, p, d, 1)
	d.LeftOut = make([]int, d.Persons())
	for i := range d.LeftOut {
		d.LeftOut[i] = i % 2
	}
	_, less := released(t, evaluate.DPLearn{}, p, d, 1)
	a, b := whole.Learned.Differs.Interval, less.Learned.Differs.Interval
	if lost := (b[1] - b[0]) - (a[1] - a[0]); math.Abs(lost-0.25) > 0.03 {
		t.Errorf("%v, and %v where a quarter of all episodes are left out", a, b)
	}
}
