package evaluate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// thirds is a log of persons with five decisions among three actions, each drawn with
// probability 1/3 and recorded as .33. Action 2 is worth .6 a decision, the others .2.
func thirds(rng *rand.Rand, persons int) *trajectory.Dataset {
	var b trajectory.Builder
	for person := range persons {
		e := &trajectory.Episode{Person: person, Terminated: true}
		for range 5 {
			action := int32(rng.IntN(3))
			reward := 0.0
			if rng.Float64() < []float64{.2, .2, .6}[action] {
				reward = 1
			}
			// A target that takes action 2 with probability 2/3, recorded as .67, and others with 1/6, .17.
			e.Action, e.BehaviorProb, e.Reward = append(e.Action, action), append(e.BehaviorProb, .33), append(e.Reward, reward)
			e.TargetProb = append(e.TargetProb, []float64{.17, .17, .67}[action])
		}
		b.Add(e)
	}
	return b.Dataset()
}

// TestRoundedProbabilitiesAreNoRefutation: a weight of many decisions grows with the rounding
// of each, so that recorded thirds refute themselves; with the precision stated intervals hold
// the value, and none is refuted. Of 12 a true 95% holds fewer than 8 with probability below
// 1e-3.
func TestRoundedProbabilitiesAreNoRefutation(t *testing.T) {
	const logs, worth = 12, 5 * (.6*2/3 + .2/3)
	src := noise.NewSeeded(9)
	for _, e := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}, evaluate.DPDR{Baseline: "none"}} {
		rng := rand.New(rand.NewPCG(5, 6))
		p := evaluate.Public{
			Persons: 20000, Gamma: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Horizon: 5, Episodes: 1, Target: policy.ProbColumn{},
			Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 5, Delta: 1e-6}},
		}
		stated := p
		stated.BehaviorPrecision = .01
		held, refuted, answered := 0, 0, 0
		with, without := must(e.Plan(stated)), must(e.Plan(p))
		for i := range logs {
			d := thirds(rng, 20000)
			of := runOf(t, with, d, src).Answers[0].Estimate.Interval
			if of[0] <= worth && worth <= of[1] {
				held++
			}
			if of[1]-of[0] < 5 {
				answered++
			}
			if i < 3 {
				if of = runOf(t, without, d, src).Answers[0].Estimate.Interval; of[1]-of[0] == 5 {
					refuted++
				}
			}
		}
		t.Logf("%T: %d of %d hold, %d narrower than the range; %d of 3 refuted without the precision", e, held, logs, answered, refuted)
		if held < 8 || answered < logs || refuted == 0 {
			t.Errorf("%T: %d of %d hold, %d narrower than the range; %d of 3 refuted without the precision", e, held, logs, answered, refuted)
		}
	}
}

// TestPrecisionIsAllowedForOrRefused: a private method that divides by recorded probabilities
// either allows for their precision or refuses it by name; on-policy nothing is divided.
func TestPrecisionIsAllowedForOrRefused(t *testing.T) {
	_, p := unitData("")
	p.BehaviorPrecision = .01
	for _, m := range evaluate.Methods() {
		if !m.Private || m.NeedOutcome || m.NeedArms || m.Learns || m.Name == "auto" {
			continue
		}
		e, err := evaluate.New(m.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Plan(p); err != nil {
			t.Errorf("%s on-policy: %v", m.Name, err)
		}
		off := p
		off.Target = must(policy.NewUniform(2))
		exact := off
		exact.BehaviorPrecision = 0
		if _, err := e.Plan(exact); err != nil {
			continue // on-policy alone
		}
		allows := m.Name == "dp-is" || m.Name == "dp-pdis" || m.Name == "dp-wis" || m.Name == "dp-dr"
		if _, err := e.Plan(off); (err == nil) != allows {
			t.Errorf("%s off-policy: %v", m.Name, err)
		}
	}
	p.Target, p.BehaviorPrecision = must(policy.NewUniform(2)), .6
	if _, err := (evaluate.DPIS{}).Plan(p); err == nil {
		t.Error("a precision of .6 is planned")
	}
}
