package replay_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestWaysToRunAreAlike: by parts of any size and with the noise of shards the release is
// that of all data at once; where a part is changed by what else is in it, it is not.
func TestWaysToRunAreAlike(t *testing.T) {
	for _, name := range []string{"dp-is", "dp-pdis", "dp-wis", "dp-is on-policy"} {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			plan, p := planOf(t, options()[name], adjacency)
			if plan.Gather() == nil || plan.InParts() != nil {
				t.Fatalf("%s has one way to run", name)
			}
			draw, differ := drawn(t, p, 5), 0
			for i := range 24 {
				pair, err := draw.Pair()
				if err != nil {
					t.Fatal(err)
				}
				whole := replay.Of(plan, pair.Data, pair.Neighbour)
				of := func(d *trajectory.Dataset) []*trajectory.Dataset { return replay.Parts(d, 1+i%persons) }
				parts := replay.OfParts(plan, replay.Targets(p), of(pair.Data), of(pair.Neighbour))
				for _, other := range []replay.Run{parts, replay.Joined(whole), replay.Joined(parts)} {
					if err := replay.Alike(t.Context(), whole, other, i%2 == 1, uint64(i)); err != nil {
						t.Errorf("%s, %v, %s: %v", name, adjacency, pair.Kind, err)
					}
				}
				scaled := func(d *trajectory.Dataset) []*trajectory.Dataset {
					all := of(d)
					for _, part := range all {
						byLargest(part.Reward)
					}
					return all
				}
				err = replay.Alike(t.Context(), whole, replay.OfParts(plan, replay.Targets(p), scaled(pair.Data), scaled(pair.Neighbour)), i%2 == 1, uint64(i))
				if errors.Is(err, replay.ErrBroken) {
					differ++
				} else if err != nil {
					t.Error(err)
				}
			}
			if differ < 6 {
				t.Errorf("%s, %v: %d of 24 pairs show that rewards are scaled by part", name, adjacency, differ)
			}
		}
	}
}

// TestPartsMakeTheReleaseOfAllDataAtOnce, for every method but gpope and every form of it.
func TestPartsMakeTheReleaseOfAllDataAtOnce(t *testing.T) {
	for name, option := range options() {
		adjacencies := []dp.Adjacency{dp.ReplaceOne}
		if option["name"] == "dp-learn" { // halves go by names
			adjacencies = append(adjacencies, dp.AddRemoveOne)
		}
		for _, adjacency := range adjacencies {
			plan, p := planOf(t, option, adjacency)
			alikeInParts(t, name, plan, p)
		}
	}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		plan, p := sumsPlan(t, returns{}, adjacency)
		alikeInParts(t, "returns", plan, p)
	}
}

func alikeInParts(t *testing.T, name string, plan *evaluate.Plan, p evaluate.Public) {
	t.Helper()
	if plan.Gather() == nil {
		if plan.Method != "gpope" {
			t.Errorf("%s needs all data at once", name)
		}
		return
	}
	draw := drawn(t, p, 7)
	for i := range 6 {
		pair, err := draw.Pair()
		if err != nil {
			t.Fatal(err)
		}
		of := func(d *trajectory.Dataset) []*trajectory.Dataset { return replay.Parts(d, 1+i%persons) }
		parts := replay.OfParts(plan, replay.Targets(p), of(pair.Data), of(pair.Neighbour))
		if err := replay.Alike(t.Context(), replay.Of(plan, pair.Data, pair.Neighbour), parts, i%2 == 1, uint64(i)); err != nil {
			t.Errorf("%s, %s: %v", name, pair.Kind, err)
		}
	}
}

// TestCountsOfShardsAreThoseOfOneProcess: noise is drawn once for the counts of all.
func TestCountsOfShardsAreThoseOfOneProcess(t *testing.T) {
	for _, name := range []string{"survival", "survival gaussian", "survival running sums", "survival of policies", "survival of steps"} {
		plan, p := planOf(t, options()[name], dp.ReplaceOne)
		if err := plan.InParts(); err != nil {
			t.Fatal(err)
		}
		draw := drawn(t, p, 6)
		for i := range 24 {
			pair, err := draw.Pair()
			if err != nil {
				t.Fatal(err)
			}
			whole := replay.Of(plan, pair.Data, pair.Neighbour)
			if err := replay.Alike(t.Context(), whole, replay.Joined(whole), i%2 == 1, uint64(i)); err != nil {
				t.Errorf("%s, %s: %v", name, pair.Kind, err)
			}
		}
	}
}

// byLargest halves the rewards of a part in which one is above a half.
func byLargest(rewards []float64) {
	if len(rewards) == 0 || slices.Max(rewards) <= 0.5 {
		return
	}
	for i := range rewards {
		rewards[i] /= 2
	}
}
