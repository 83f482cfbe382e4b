package minarifile_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/minarifile"
)

// anyDataset draws a dataset in which every episode has a final observation, as
// Minari wants.
func anyDataset(t *rapid.T) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{"obs_z", "obs_a", "obs_m"}[:rapid.IntRange(1, 3).Draw(t, "columns")], PersonStart: []int{0}, EpisodeStart: []int{0}}
	number := func() float64 {
		if v := math.Float64frombits(rapid.Uint64().Draw(t, "bits")); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
		return math.Copysign(0, -1)
	}
	behavior, target, discount, probs := rapid.Bool().Draw(t, "behaviour"), rapid.Bool().Draw(t, "target"), rapid.Bool().Draw(t, "discount"), rapid.Bool().Draw(t, "probs")
	if probs {
		d.Actions = rapid.IntRange(2, 4).Draw(t, "actions")
	}
	for p := range rapid.IntRange(1, 3).Draw(t, "persons") {
		d.PersonID = append(d.PersonID, fmt.Sprintf("\"person\" %d", p))
		for range rapid.IntRange(1, 3).Draw(t, "episodes") {
			d.EpisodeID = append(d.EpisodeID, fmt.Sprintf("ü%d", d.Episodes()))
			for range rapid.IntRange(1, 5).Draw(t, "rows") {
				for range d.Columns {
					d.Obs = append(d.Obs, number())
				}
				d.Reward, d.Action = append(d.Reward, number()), append(d.Action, int32(rapid.IntRange(0, 1).Draw(t, "action")))
				if behavior {
					d.BehaviorProb = append(d.BehaviorProb, 0.5)
				}
				if target {
					d.TargetProb = append(d.TargetProb, rapid.Float64Range(0, 1).Draw(t, "target"))
				}
				if discount {
					d.Discount = append(d.Discount, rapid.Float64Range(0, 1).Draw(t, "discount"))
				}
				for k := range d.Actions {
					q := 0.0
					if k < 2 {
						q = 0.5
					}
					d.ActionProbs = append(d.ActionProbs, q)
				}
			}
			for range d.Columns {
				d.Final = append(d.Final, number())
			}
			d.HasFinal, d.Terminated = append(d.HasFinal, true), append(d.Terminated, rapid.Bool().Draw(t, "terminated"))
			d.EpisodeStart = append(d.EpisodeStart, d.Rows())
		}
		d.PersonStart = append(d.PersonStart, d.Episodes())
	}
	return d
}

var sameBits = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

func TestWhatIsWrittenReadsBack(t *testing.T) {
	top := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		want := anyDataset(t)
		n++
		dir := filepath.Join(top, fmt.Sprintf("x-v%d", n))
		layout := rapid.SampledFrom([]minarifile.Layout{minarifile.Parquet, minarifile.Arrow}).Draw(t, "layout")
		if err := minarifile.Write(dir, layout, want); err != nil {
			t.Fatal(err)
		}
		got, _, err := read(dir, everything())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow"), sameBits); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
	})
}

func TestWhatMinariCannotHoldIsRefused(t *testing.T) {
	good := func() *trajectory.Dataset {
		return &trajectory.Dataset{Columns: []string{"obs_x"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1},
			Obs: []float64{3}, Action: []int32{0}, Reward: []float64{1}, Terminated: []bool{true}}
	}
	for name, c := range map[string]struct {
		change func(*trajectory.Dataset)
		kind   error
	}{
		"no action":      {func(d *trajectory.Dataset) { d.Action = nil }, trajectory.ErrColumn},
		"no observation": {func(d *trajectory.Dataset) { d.Columns, d.Obs = nil, nil }, trajectory.ErrColumn},
		"no final":       {func(d *trajectory.Dataset) { d.Terminated[0] = false }, trajectory.ErrEpisode},
	} {
		d, dir := good(), filepath.Join(t.TempDir(), "x-v0")
		c.change(d)
		if err := minarifile.Write(dir, minarifile.Parquet, d); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v; want %v", name, err, c.kind)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the directory stays", name)
		}
	}
	dir := filepath.Join(t.TempDir(), "group", "x-v0")
	if err := minarifile.Write(dir, minarifile.Parquet, good()); err != nil {
		t.Fatal(err)
	}
	if err := minarifile.Write(dir, minarifile.Parquet, good()); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second dataset in one place: %v", err)
	}
	// The last observation of a terminated episode is repeated.
	d, _, err := read(dir, everything())
	if err != nil || d.FinalObservation(0)[0] != 3 {
		t.Errorf("%v", err)
	}
}

func ExampleWrite() {
	d := &trajectory.Dataset{
		Columns: []string{"obs_x"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 2},
		Obs: []float64{0.5, 0.25}, Action: []int32{1, 0}, Reward: []float64{0, 1}, Terminated: []bool{true},
	}
	top, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "clinic-v0")
	if err := minarifile.Write(dir, minarifile.Parquet, d); err != nil {
		fmt.Println(err)
		return
	}
	back, _, err := read(dir, trajectory.Options{Optional: trajectory.Action})
	fmt.Println(back.Columns, back.Action, back.Reward, err)
	// Output: [obs_x] [1 0] [0 1] <nil>
}
