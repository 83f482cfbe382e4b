package fqe

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// extreme is a log of one person who stays in state 0 with the least reward and is cut
// off, or who goes to state 1 and has the largest; rewards are far beyond their range.
func extreme(t *testing.T, high bool) *value.Sample {
	t.Helper()
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Obs: []float64{0}, Action: []int32{1},
		BehaviorProb: []float64{1e-9}, Reward: []float64{-1e6}, Terminated: []bool{false}}
	if high {
		d.Reward[0], d.Terminated[0] = 1e6, true
	}
	return sampleOf(t, d, tabular(t))
}

const auditRuns = 12000

// TestAudit bounds mu from below for the table, weighted by ratios and not, and for the
// mean over first states, on two persons who are as far apart as the clips allow: the
// bound stays under the claim, comes near it, and exceeds it once the noise is halved.
func TestAudit(t *testing.T) {
	const multiplier = 2
	const claim = 2.0 / multiplier
	worlds := [2]*value.Sample{extreme(t, false), extreme(t, true)}
	values := [2]*value.Sample{
		sampleOf(t, &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Obs: []float64{0}, Reward: []float64{0}, Terminated: []bool{true}}, policy.Logged{}),
		sampleOf(t, &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Obs: []float64{1}, Reward: []float64{0}, Terminated: []bool{true}}, policy.Logged{}),
	}
	table := func(form string) func(world int, multiplier float64, src *noise.Source) float64 {
		q := tableOf(form, 0)
		q.Public.Horizon = 1
		return func(world int, multiplier float64, src *noise.Source) float64 {
			q.Multiplier = multiplier
			m, err := q.Release(worlds[world], src)
			if err != nil {
				t.Fatal(err)
			}
			row, end := 0, cells
			if form == ByAction {
				row = 1
			}
			// The counts of who was cut off and who ended, and the rewards, as they were drawn.
			at := row*q.outcomes() + end
			return m.noisy.Counts[at] - m.noisy.Counts[at+1] + 2*0.49*m.noisy.Marks[row]
		}
	}
	for name, score := range map[string]func(world int, multiplier float64, src *noise.Source) float64{
		"table by action": table(ByAction), "table by state": table(ByState),
		"first states": func(world int, multiplier float64, src *noise.Source) float64 {
			q := Start{Public: tableOf(ByState, 1).Public, Multiplier: multiplier}
			q.Public.Persons, q.Public.Adjacency = 1, dp.ReplaceOne
			got, err := q.Release(tableOf(ByState, 1), values[world], []float64{0, 1.5}, src)
			if err != nil {
				t.Fatal(err)
			}
			return got.Value
		},
	} {
		lower := func(multiplier float64, seed uint64) float64 {
			src := noise.NewSeeded(seed)
			found, err := audit.DrawNumbers(auditRuns, func(world int) float64 { return score(world, multiplier, src) }).Bound(audit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return found.Mu
		}
		if got := lower(multiplier, 31); got > claim || got < 0.8*claim {
			t.Errorf("%s: mu is at least %.4f; the event claims %.4f, and the audit should find 0.8 of it", name, got, claim)
		}
		if got := lower(multiplier/2, 32); got < claim {
			t.Errorf("%s: halved noise passes: mu at least %.4f, claim %.4f", name, got, claim)
		}
	}
}
