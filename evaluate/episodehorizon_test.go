package evaluate_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// severalEpisodes is a log of persons who have two to five episodes of decisions
// by two arms at even chance. An episode goes on after a decision with probability .8, to at
// most longest, and arm 1 is worth .6 a decision.
func severalEpisodes(rng *rand.Rand, persons, longest int) *trajectory.Dataset {
	var b trajectory.Builder
	for person := range persons {
		for range 2 + rng.IntN(4) {
			e := &trajectory.Episode{Person: person}
			for !e.Terminated && e.Len() < longest {
				arm := int32(rng.IntN(2))
				reward := 0.0
				if rng.Float64() < []float64{.3, .6}[arm] {
					reward = 1
				}
				e.Action, e.BehaviorProb, e.Reward = append(e.Action, arm), append(e.BehaviorProb, .5), append(e.Reward, reward)
				e.Terminated = rng.Float64() >= .8
			}
			b.Add(e)
		}
	}
	return b.Dataset()
}

// TestEpisodeHorizonNarrowsIntervals: where persons have several episodes, and it is stated how
// many decisions one of them has, intervals are at most half as wide as with the decisions of
// a person alone, and hold the value. Of 80 a true 95% holds fewer than 69 with probability
// below 1e-3.
func TestEpisodeHorizonNarrowsIntervals(t *testing.T) {
	const logs, worth = 80, .6 * (1 + .8 + .64)
	src := noise.NewSeeded(5)
	one := must(policy.NewConstant(1))
	for _, e := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}} {
		rng := rand.New(rand.NewPCG(3, 4))
		p := evaluate.Public{
			Persons: 2000, Gamma: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Horizon: 15, Episodes: 5, Target: one,
			Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
		}
		stated := p
		stated.EpisodeHorizon = 3
		held, narrow, wide := 0, 0.0, 0.0
		with, without := must(e.Plan(stated)), must(e.Plan(p))
		for i := range logs {
			d := severalEpisodes(rng, 2000, 3)
			of := runOf(t, with, d, src).Answers[0].Estimate.Interval
			if of[0] <= worth && worth <= of[1] {
				held++
			}
			if narrow += of[1] - of[0]; i < 20 {
				of = runOf(t, without, d, src).Answers[0].Estimate.Interval
				wide += of[1] - of[0]
			}
		}
		narrow, wide = narrow/logs, wide/20
		t.Logf("%T: width %.3f with the episode horizon and %.3f without, %d of %d hold", e, narrow, wide, held, logs)
		if held < 69 || narrow > .5*wide {
			t.Errorf("%T: width %.3f with the episode horizon and %.3f without, %d of %d hold", e, narrow, wide, held, logs)
		}
	}
}

// TestEpisodeHorizonIsChecked: a dataset with a longer episode is refused, and so are facts
// that contradict each other.
func TestEpisodeHorizonIsChecked(t *testing.T) {
	d := severalEpisodes(rand.New(rand.NewPCG(1, 1)), 20, 4)
	p := evaluate.Public{
		Persons: 20, Gamma: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Horizon: 20, EpisodeHorizon: 3, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	}
	plan, err := evaluate.DPIS{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Check(t.Context(), d); err == nil {
		t.Error("an episode of four decisions passes, where three are the most")
	}
	long, one := p, p
	long.EpisodeHorizon, one.OneDecision = 21, true
	for name, p := range map[string]evaluate.Public{"longer than a person's": long, "of one decision": one} {
		if _, err := (evaluate.DPIS{}).Plan(p); err == nil {
			t.Errorf("%s: planned", name)
		}
	}
}

// TestEpisodeHorizonIsKeptOrRefused: a method either stops at the horizon of an episode or
// refuses it by name. Rewards are 1 and episodes go on after the third decision, where they
// are cut off, so that a method that went on would give more than 3.
func TestEpisodeHorizonIsKeptOrRefused(t *testing.T) {
	var b trajectory.Builder
	for person := range 3000 {
		b.Add(&trajectory.Episode{Person: person, Columns: []string{"obs_s"}, Obs: []float64{0, 0, 0}, Final: []float64{0}, Action: []int32{0, 0, 0}, BehaviorProb: []float64{1, 1, 1}, Reward: []float64{1, 1, 1}})
	}
	d := b.Dataset()
	features, err := feature.NewTabular(1, "obs_s")
	if err != nil {
		t.Fatal(err)
	}
	p := evaluate.Public{
		Persons: 3000, Gamma: 1, Reward: evaluate.Range{Min: 0, Max: 3}, Horizon: 6, Episodes: 1, EpisodeHorizon: 3, Target: policy.Logged{}, Features: features,
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 20, Delta: 1e-6}},
	}
	answered, refused := 0, 0
	for _, m := range evaluate.Methods() {
		if !m.Private || m.NeedOutcome || m.NeedArms || m.Learns || m.Name == "constant" {
			continue
		}
		e, err := evaluate.New(m.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := e.Plan(p)
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "problem.episode_horizon") {
				t.Errorf("%s: %v", m.Name, err)
			}
			continue
		}
		answered++
		r := run(t, e, p, d, noise.NewSeeded(1))
		for _, v := range r.Values {
			if v > 3.2 {
				t.Errorf("%s: a state is worth %v", plan.Method, v)
			}
		}
		if len(r.Answers) > 0 && r.Answers[0].Estimate.Value > 3.2 {
			t.Errorf("%s: %v", plan.Method, r.Answers[0].Estimate.Value)
		}
	}
	if answered < 6 || refused != 2 {
		t.Errorf("%d methods answer and %d refuse; want dp-refine and gpope to refuse", answered, refused)
	}
}
