package evaluate_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestWhatComesLaterIsSaidToBeNoPart of the answer, by every method, wherever the check would not refuse it.
func TestWhatComesLaterIsSaidToBeNoPart(t *testing.T) {
	for _, c := range []struct {
		horizon, episodes, each int64
		want                    string
	}{
		{1, 0, 0, "Only a person's first decision counts; later ones are no part of the answer."},
		{3, 1, 0, "Only a person's first 3 decisions in one episode count; later ones are no part of the answer."},
		{12, 4, 3, "Only a person's first 12 decisions in 4 episodes, of an episode the first 3, count; later ones are no part of the answer."},
	} {
		for _, m := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}, evaluate.DPDR{}, evaluate.DPDistribution{}} {
			p := banditPublic(t, 1000, dp.ReplaceOne, policy.Logged{})
			p.Horizon, p.Episodes, p.EpisodeHorizon = c.horizon, c.episodes, c.each
			for _, p.Complete = range []bool{false, true} {
				plan := must(m.Plan(p))
				_, fact := plan.Facts["counted"]
				if said := slices.Contains(plan.Notes, c.want); said == p.Complete || fact == p.Complete {
					t.Errorf("%s, records complete %v: %q, public fact %v; want %q", plan.Method, p.Complete, plan.Notes, fact, c.want)
				}
			}
		}
	}
}

// TestNothingComesAfterARow that is protected by itself.
func TestNothingComesAfterARow(t *testing.T) {
	p := banditPublic(t, 1000, dp.ReplaceOne, policy.Logged{})
	p.Privacy.Unit = evaluate.Row
	if told, found := must(evaluate.DPIS{}.Plan(p)).Facts["counted"]; found {
		t.Errorf("a release of rows counts %v", told)
	}
}

// TestNobodyGaveARangeOfRewards where a range of returns stands in its place.
func TestNobodyGaveARangeOfRewards(t *testing.T) {
	p := banditPublic(t, 1000, dp.ReplaceOne, policy.Logged{})
	p.Reward, p.Return = evaluate.Range{}, &evaluate.Range{Max: 100}
	plan := must(evaluate.DPIS{}.Plan(p))
	if told, found := plan.Facts["reward"]; found {
		t.Errorf("the release tells rewards within %v", told)
	}
}

// TestARangeHasToBeToldApart: 2^-40 of 1e14 is 90.9.
func TestARangeHasToBeToldApart(t *testing.T) {
	for _, m := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}, evaluate.DPDR{}, evaluate.DPDistribution{}} {
		p := banditPublic(t, 1000, dp.ReplaceOne, policy.Logged{})
		for width, refused := range map[float64]bool{1: true, 90: true, 92: false, 1e14: false} {
			p.Reward = evaluate.Range{Min: 1e14, Max: 1e14 + width}
			if _, err := m.Plan(p); errors.Is(err, evaluate.ErrPublic) != refused || !refused && err != nil {
				t.Errorf("%T: rewards %v from 1e14 on: %v", m, width, err)
			}
		}
	}
}
