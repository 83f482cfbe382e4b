package evaluate_test

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestGroupsCountWhatIsLost: an episode that was left out belongs to the group that its rows
// name, so that the interval of that group allows for it. Half of the failures of each group
// are lost; without them all that is left is near 1.
func TestGroupsCountWhatIsLost(t *testing.T) {
	const persons, logs = 600, 40
	d := &trajectory.Dataset{Columns: []string{"obs_sex"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for p := range persons {
		d.Obs = append(d.Obs, float64(p%2))
		d.Reward = append(d.Reward, float64(p%4/2))
		d.Terminated = append(d.Terminated, true)
		d.EpisodeStart = append(d.EpisodeStart, p+1)
		d.PersonStart = append(d.PersonStart, p+1)
	}
	full := 0.5 // of both groups: persons 2 and 3 of four succeed
	d, _ = d.LeaveOut(func(row int) bool { return row%4 < 2 && row%8 < 4 })
	for _, fixed := range []bool{false, true} {
		public := evaluate.Public{Persons: persons, Gamma: 1, Horizon: 1, Episodes: 1, Reward: evaluate.Range{Max: 1}, Target: policy.Logged{},
			By:      &evaluate.Groups{Column: "obs_sex", Fixed: fixed, Of: []evaluate.Group{{Name: "f", Number: 0}, {Name: "m", Number: 1}}},
			Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 3, Delta: 1e-5}}}
		if fixed {
			public.By.Of[0].Persons, public.By.Of[1].Persons = persons/2, persons/2
		}
		plan, held := must(evaluate.DPIS{}.Plan(public)), 0
		for seed := range logs {
			r := runOf(t, plan, d, noise.NewSeeded(uint64(seed)))
			ok := true
			for _, a := range r.Answers {
				ok = ok && a.Estimate.Interval[0] <= full && full <= a.Estimate.Interval[1]
			}
			if ok {
				held++
			}
		}
		if held < 34 { // 38 are expected of intervals that hold with 95%; fewer than 34 have probability 1e-2 at most
			t.Errorf("fixed %v: %d of %d releases hold both groups", fixed, held, logs)
		}
	}
}

// TestWhoNamesAnotherGroupInALostEpisodeIsCounted in the interval of every group: half of the failures of each have a
// second episode, which is left out and names the other one.
func TestWhoNamesAnotherGroupInALostEpisodeIsCounted(t *testing.T) {
	const persons = 600
	d := &trajectory.Dataset{Columns: []string{"obs_sex"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	lost := []bool{}
	for p := range persons {
		episodes := 1
		if p%8 < 2 {
			episodes = 2
		}
		for e := range episodes {
			d.Obs = append(d.Obs, float64((p+e)%2))
			d.Reward = append(d.Reward, float64(p%4/2))
			d.Terminated = append(d.Terminated, true)
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			lost = append(lost, e == 1)
		}
		d.PersonStart = append(d.PersonStart, len(d.Reward))
	}
	d, _ = d.LeaveOut(func(row int) bool { return lost[row] })
	r := run(t, evaluate.DPIS{}, evaluate.Public{
		Persons: persons, Gamma: 1, Horizon: 2, Episodes: 2, EpisodeHorizon: 1, Reward: evaluate.Range{Max: 1}, Target: policy.Logged{},
		By:      &evaluate.Groups{Column: "obs_sex", Of: []evaluate.Group{{Name: "f", Number: 0}, {Name: "m", Number: 1}}},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 100, Delta: 1e-5}},
	}, d, noise.NewSeeded(1))
	for _, a := range r.Answers {
		if in := a.Estimate.Interval; !(in[0] <= 0.5 && in[1] >= 5./6) {
			t.Errorf("%s is in %v; half of the group succeed, or five of six, if those who name both succeed", a.Name, in)
		}
	}
}
