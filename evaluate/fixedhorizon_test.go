package evaluate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The process of these tests has three states, in each of which a reward is paid, and
// every episode has ten decisions from state 0 on; the last is marked as an end.
var (
	fixedNext = [3][2][3]float64{
		{{.7, .3, 0}, {.2, .5, .3}}, {{.5, .5, 0}, {0, .4, .6}}, {{.3, .3, .4}, {.1, .2, .7}},
	}
	fixedReward = [3]float64{0, .4, 1}
)

const fixedHorizon = 10

// fixedData is a log of a fair coin.
func fixedData(persons int, seed uint64) *trajectory.Dataset {
	rng := rand.New(rand.NewPCG(seed, 3))
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for range persons {
		state := 0
		for range fixedHorizon {
			a := rng.IntN(2)
			d.Obs, d.Action = append(d.Obs, float64(state)), append(d.Action, int32(a))
			d.BehaviorProb, d.Reward = append(d.BehaviorProb, .5), append(d.Reward, fixedReward[state])
			u, next := rng.Float64(), fixedNext[state][a]
			state = 0
			for state < 2 && u >= next[state] {
				u -= next[state]
				state++
			}
		}
		d.Terminated = append(d.Terminated, true)
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
	}
	return d
}

// fixedValue is what state 0 is worth with all decisions to go, where action 1 has
// probability one, by backward induction.
func fixedValue(one float64) float64 {
	var v [3]float64
	for range fixedHorizon {
		now := fixedReward
		for s := range now {
			for k, x := range v {
				now[s] += ((1-one)*fixedNext[s][0][k] + one*fixedNext[s][1][k]) * x
			}
		}
		v = now
	}
	return v[0]
}

func fixedPublic(persons int64, epsilon float64, target policy.Policy) Public {
	return Public{
		Persons: persons, Gamma: 1, Horizon: fixedHorizon, Reward: Range{Min: 0, Max: 1},
		Features: must(feature.NewTabular(3, "obs_state")), Target: target,
		Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-5}},
	}
}

func fixedTarget() policy.Policy {
	return must(policy.NewTable([]float64{.2, .8, .2, .8, .2, .8}, 2, "obs_state"))
}

// TestModelKnowsTheHorizon: ends at the horizon are none of a state's own, so that the
// model of dp-fqe finds the value of a policy in episodes that all end there, within a
// tenth; taken for chance ends it would say 3.1 for 5.6.
func TestModelKnowsTheHorizon(t *testing.T) {
	want := fixedValue(.8)
	if math.Abs(want-5.606) > 1e-3 {
		t.Fatalf("the value is %v; want 5.606", want)
	}
	r := perform(t, DPFQE{}, fixedPublic(2000, 5, fixedTarget()), fixedData(2000, 1), noise.NewSeeded(1))
	model := r.Answers[0].Diagnostics["model"].(plugIn)
	if math.Abs(model.Value-want) > .1*want {
		t.Errorf("the model says %v; the value is %v", model.Value, want)
	}
	if e := r.Answers[0].Estimate; e.Interval[0] > want || e.Interval[1] < want {
		t.Errorf("the interval %v does not hold %v", e.Interval, want)
	}
}

// TestPlanForecastsTheIntervalOfTheModel: the plan of dp-fqe tells the error of its
// interval, whose noise is that of dp-pdis at .3 of the budget (of mu^2; both pay for the
// choice of a cap with the same part of theirs). It falls with epsilon. How wide the interval is only the
// data tell, of a guard. Without an interval there is none.
func TestPlanForecastsTheIntervalOfTheModel(t *testing.T) {
	last := math.Inf(1)
	for _, epsilon := range []float64{.5, 1, 5} {
		p := fixedPublic(2000, epsilon, must(policy.NewTable([]float64{.4, .6, .4, .6, .4, .6}, 2, "obs_state")))
		expected, whole := must(DPFQE{}.Plan(p)).Expected, must(DPPDIS{}.Plan(p)).Expected
		if ratio := expected.StdPrivacy / whole.StdPrivacy; math.Abs(ratio-1/math.Sqrt(.3)) > .02 {
			t.Errorf("epsilon %v: noise %v, %v times that of dp-pdis", epsilon, expected.StdPrivacy, ratio)
		}
		if !(expected.StdPrivacy < last) || expected.HalfWidth != 0 {
			t.Errorf("epsilon %v: half width %v forecast, noise %v after %v", epsilon, expected.HalfWidth, expected.StdPrivacy, last)
		}
		last = expected.StdPrivacy
	}
	if e := must(DPFQE{Interval: "none"}.Plan(fixedPublic(2000, 1, fixedTarget()))).Expected; e.HalfWidth != 0 {
		t.Errorf("no interval is paid for, and %v is forecast", e.HalfWidth)
	}
}

// TestNoBandsOffPolicy: a value of the state alone cannot be right where the decisions
// left matter, so that off-policy no interval is claimed and the first note says so, in
// the plan and in the release, by auto too. On-policy bands come with their condition.
func TestNoBandsOffPolicy(t *testing.T) {
	d := fixedData(500, 3)
	off := fixedPublic(500, 1, fixedTarget())
	for name, m := range map[string]Estimator{"dp-refine": DPRefine{}, "auto": Auto{}, "lstd": DPRefine{Form: "lstd"}} {
		at := 0
		if name == "auto" {
			at = 1 // after what it chose
		}
		plan := must(m.Plan(off))
		r := perform(t, m, off, d, noise.NewSeeded(3))
		if r.Bands != nil || r.Diagnostics[stdByCoordinate] != nil || r.Diagnostics[privacyByCoordinate] == nil {
			t.Errorf("%s: bands %v, diagnostics %v", name, r.Bands, r.Diagnostics)
		}
		for _, notes := range [][]string{plan.Notes, r.Notes} {
			if !strings.HasPrefix(notes[at], "No interval is claimed") || strings.Contains(fmt.Sprint(notes), "1.96") {
				t.Errorf("%s: notes %q", name, notes)
			}
		}
	}
	r := perform(t, DPRefine{}, fixedPublic(500, 1, policy.Logged{}), d, noise.NewSeeded(4))
	if r.Bands == nil || r.Bands.Condition == "" || !strings.Contains(r.Notes[0], r.Bands.Condition) {
		t.Errorf("on-policy: bands %+v, first note %q", r.Bands, r.Notes[0])
	}
	if want := fixedValue(.5); r.Bands != nil && (r.Bands.Lower[0] > want || r.Bands.Upper[0] < want) {
		t.Errorf("on-policy the band of state 0 is [%v, %v]; the value is %v", r.Bands.Lower[0], r.Bands.Upper[0], want)
	}
}
