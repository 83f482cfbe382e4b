package ingest_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
)

// drawn is an episode of which each row has an action or not, and a reward, "" for none.
type drawn struct {
	actions []bool
	rewards []string
}

// final tells that the last row is an observation without a decision.
func (d drawn) final() bool {
	n := len(d.actions) - 1
	return !d.actions[n] && d.rewards[n] == ""
}

// returned is what an episode is worth by the rule, or that it cannot be used: told row by
// row from the table, without the reader. Where actions are not read a row needs none for its
// reward, and where there is neither it is no decision.
func (d drawn) returned(onLast, actions bool) (rewards []float64, usable bool) {
	n := len(d.actions)
	if d.final() {
		n--
	}
	for i := range n {
		v := map[string]float64{"": 0, "0": 0, "1": 1}[d.rewards[i]]
		if !d.actions[i] && (actions || d.rewards[i] == "") || onLast && (i < n-1 && v != 0 || i == n-1 && d.rewards[i] == "") {
			return nil, false
		}
		rewards = append(rewards, v)
	}
	return rewards, n > 0
}

// TestEmptyRewards: what is read of episodes with empty rewards is what the two rules say,
// wherever batches end, whether the column of actions is read or only looked at, and where
// violations are rejected an episode that cannot be used is an error.
func TestEmptyRewards(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		onLast := rapid.Bool().Draw(rt, "on last")
		all := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) drawn {
			n := rapid.IntRange(1, 4).Draw(rt, "rows")
			return drawn{rapid.SliceOfN(rapid.SampledFrom([]bool{true, true, true, false}), n, n).Draw(rt, "actions"),
				rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "0", "1"}), n, n).Draw(rt, "rewards")}
		}), 1, 5).Draw(rt, "episodes")
		text := "unit_id,episode_id,action,reward"
		for e, d := range all {
			for i := range d.actions {
				text += fmt.Sprintf("\nu%d,e%d,%s,%s", e, e, map[bool]string{true: "0"}[d.actions[i]], d.rewards[i])
			}
		}
		for batch := range 7 {
			o := trajectory.Options{RewardOnLast: onLast, EmptyIsZero: !onLast, Repair: true, Unit: trajectory.UnitPerson, Reward: &trajectory.Range{Max: 1}}
			if batch%2 == 1 {
				o.Need = trajectory.Action
			}
			want, sound, empty := "", true, 0
			for _, d := range all {
				rewards, usable := d.returned(onLast, o.Need != 0)
				want, sound = want+fmt.Sprintf("%v;", rewards), sound && usable
				for _, r := range d.rewards[:len(rewards)] {
					if r == "" {
						empty++
					}
				}
			}
			s, check := stream(t, o, batch+1, text)
			d, _, err := ingest.Collect(s)
			if check(); err != nil {
				rt.Fatal(err)
			}
			got := ""
			for p := range d.Persons() {
				switch e := d.PersonStart[p]; {
				case d.PersonStart[p+1] > e:
					got += fmt.Sprintf("%v;", d.Reward[d.EpisodeStart[e]:d.EpisodeStart[e+1]])
				default:
					got += "[];"
				}
			}
			if got != want || s.Repaired().Empty != empty {
				rt.Fatalf("batches of %d, on last %v: %s with %d empty, want %s with %d, of\n%s", batch+1, onLast, got, s.Repaired().Empty, want, empty, text)
			}
			o.Repair = false
			if _, err := read(t, o, batch+1, text); (err == nil) != sound || err != nil && !errors.Is(err, trajectory.ErrInput) {
				rt.Fatalf("batches of %d: rejecting gives %v, want sound %v, of\n%s", batch+1, err, sound, text)
			}
		}
	})
}
