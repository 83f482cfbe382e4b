package file_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// flaws are values that are wrong whatever stands beside them, as JSON, and what
// is to be said of them.
var flaws = map[string]map[string]string{
	"action":        {"-1": "is negative", "0.5": "is not an integer", "null": "is missing", `"left"`: "is not a number"},
	"behavior_prob": {"0": "is zero for the logged action", "1.5": "is above 1 and no probability: are these percentages?", "null": "is missing", `"NaN"`: ""},
	"reward":        {"7": "is outside the declared bounds [0, 1]", `"much"`: "is not a number"},
	"obs_a":         {"null": "is missing", `"old"`: "is not a number"},
	"discount":      {"-1": "is not between 0 and 1", "null": "is missing"},
	"terminated":    {"2": "is neither true nor false", "null": "is missing"},
	"step":          {"0.5": "is not an integer", `"first"`: "is not a number", "null": "is missing"},
}

// All faults of the rows are told at once: those that were put in, and no other
// that only follows from them. The first comes alone where no more is asked for.
func TestAllFaultsAtOnce(t *testing.T) {
	dir := t.TempDir()
	for format, encode := range map[string]func([]map[string]string) string{"csv": asCSV, "ndjson": asNDJSON} {
		header := map[string]int{"csv": 1, "ndjson": 0}[format]
		rapid.Check(t, func(t *rapid.T) {
			rows := clean(rapid.IntRange(1, 40).Draw(t, "episodes"))
			want := map[string]bool{}
			for range rapid.IntRange(1, 40).Draw(t, "flaws") {
				row := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
				column := rapid.SampledFrom(slices.Sorted(maps.Keys(flaws))).Draw(t, "column")
				value := rapid.SampledFrom(slices.Sorted(maps.Keys(flaws[column]))).Draw(t, "value")
				what := flaws[column][value]
				if rows[row][column+" spoilt"] != "" {
					continue
				}
				if what == "" { // which the formats write differently
					value, what = "null", "is missing"
				}
				rows[row][column], rows[row][column+" spoilt"] = value, "yes"
				want[fmt.Sprintf("%d: %s: %s", row+1+header, column, what)] = true
			}
			path := dir + "/log." + format
			if err := os.WriteFile(path, []byte(encode(rows)), 0o600); err != nil {
				t.Fatal(err)
			}
			o := trajectory.Options{Need: trajectory.AllParts &^ (trajectory.Final | trajectory.ActionProbs | trajectory.TargetProb), Observations: []string{"obs_a"},
				Unit: trajectory.UnitPerson, Reward: &trajectory.Range{Max: 1}, Faults: 1000}
			_, _, err := file.Read(context.Background(), []string{path}, "", o)
			all := found(t, err)
			got := map[string]bool{}
			for i, f := range all {
				got[fmt.Sprintf("%d: %s: %s", f.Row, f.Column, f.What)] = true
				if i > 0 && f.Row < all[i-1].Row {
					t.Fatalf("row %d comes after row %d", f.Row, all[i-1].Row)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-put in +found)\n%s\n%s", diff, encode(rows))
			}
			o.Faults = 3
			_, _, err = file.Read(context.Background(), []string{path}, "", o)
			if diff := cmp.Diff(texts(all[:min(3, len(all))]), texts(found(t, err))); diff != "" {
				t.Fatalf("the first three: (-of all +of three)\n%s", diff)
			}
			var several *trajectory.FaultsError
			if errors.As(err, &several) {
				sum := 0
				for _, k := range several.Kinds {
					sum += k.Faults
				}
				if several.Total != len(all) || sum != len(all) {
					t.Fatalf("%d faults, %d by kind; want %d", several.Total, sum, len(all))
				}
			}
			o.Faults = 0
			if _, _, err = file.Read(context.Background(), []string{path}, "", o); err == nil || err.Error() != all[0].Error() {
				t.Fatalf("the first alone: %v; want %v", err, all[0])
			}
		})
	}
}

// clean is a log without a fault.
func clean(episodes int) []map[string]string {
	var rows []map[string]string
	for e := range episodes {
		for s := range 3 {
			rows = append(rows, map[string]string{
				"episode_id": fmt.Sprintf(`"e%d"`, e), "unit_id": fmt.Sprintf(`"u%d"`, e/2), "step": fmt.Sprint(s), "obs_a": "1", "obs_b": "0", "action": "1",
				"behavior_prob": "0.25", "prob_0": "0.75", "prob_1": "0.25", "target_prob": "0.5", "reward": "0.5", "terminated": fmt.Sprint(s == 2), "truncated": "false", "discount": "0.5",
			})
		}
	}
	return rows
}

// found lists the faults that an error tells.
func found(t *rapid.T, err error) []*trajectory.InputError {
	var several *trajectory.FaultsError
	var one *trajectory.InputError
	if errors.As(err, &several) {
		return several.First
	}
	if !errors.As(err, &one) || !errors.Is(err, trajectory.ErrInput) {
		t.Fatalf("%v: no fault of the data", err)
	}
	return []*trajectory.InputError{one}
}

func texts(faults []*trajectory.InputError) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Error())
	}
	return out
}

// What is wrong with keys, steps and ends is told once and does not make every row
// after it a fault; what is wrong with the columns is told together; what breaks
// the file ends the list.
func TestFaultsThatFollowFromOthersAreNotTold(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a gap", "episode_id,unit_id,step,reward|e,u,0,1|e,u,2,1|e,u,3,1|e,u,4,1|f,u,0,9|", "3: step: is not one more than the step before|6: reward: is outside the declared bounds [0, 1]"},
		{"a late start", "episode_id,unit_id,step,reward|e,u,1,1|e,u,2,1|f,u,1,1|f,u,2,1|", "2: step: the episode does not start at step 0|4: step: the episode does not start at step 0"},
		{"another person in between", "episode_id,unit_id,reward|e,u,1|e,v,1|e,v,1|e,u,1|f,w,x|", "3: unit_id: changes within an episode|5: unit_id: changes within an episode|6: reward: is not a number"},
		{"no id in between", "episode_id,unit_id,step,reward|e,u,0,1|,u,1,1|e,u,2,1|e,u,3,9|", "3: episode_id: is missing|5: reward: is outside the declared bounds [0, 1]"},
		{"no person", "episode_id,unit_id,reward|e,,1|e,,1|f,v,9|", "2: unit_id: is missing|4: reward: is outside the declared bounds [0, 1]"},
		{"apart", "episode_id,unit_id,reward|e,u,1|f,v,1|e,u,1|e,u,9|", "4: episode_id: an earlier episode has this id|5: reward: is outside the declared bounds [0, 1]"},
		{"an end too soon", "episode_id,unit_id,reward,terminated|e,u,1,1|e,u,1,0|e,u,1,0|f,v,1,1|f,v,1,0|", "2: terminated: is true before the last row of the episode|5: terminated: is true before the last row of the episode"},
		{"spellings", "episode_id,unit_id,reward|a,7,1|b,07,1|c,08,1|d,8,1|", "3: unit_id: is another spelling of the id in row 2 of F, and would count as another unit|5: unit_id: is another spelling of the id in row 4 of F, and would count as another unit"},
		{"spellings after what is not seen", "episode_id,unit_id,reward|a,x\x01,1|b,y\x01,1|c,07,1|d,7,1|", "2: unit_id: holds a character that cannot be seen|3: unit_id: holds a character that cannot be seen|5: unit_id: is another spelling of the id in row 4 of F, and would count as another unit"},
		{"columns", "id,arm,worth|1,0,1|", "0: episode_id: the file has no such column|0: reward: the file has no such column|0: unit_id: the file has no such column, and a person may own several episodes"},
		{"broken", "episode_id,unit_id,reward|e,u,9|e,u,8|e,u|e,u,7|", "2: reward: is outside the declared bounds [0, 1]|3: reward: is outside the declared bounds [0, 1]|4: : the row has 2 fields and the header has 3, and nothing after it was read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, "log.csv", strings.ReplaceAll(c.text, "|", "\n"))
			o := trajectory.Options{Unit: trajectory.UnitPerson, Reward: &trajectory.Range{Max: 1}, Observations: []string{}, Faults: 20}
			_, err := file.Validate(context.Background(), []string{path}, "", o)
			var several *trajectory.FaultsError
			if !errors.As(err, &several) {
				t.Fatalf("%v", err)
			}
			var got []string
			for _, f := range several.First {
				got = append(got, fmt.Sprintf("%d: %s: %s", f.Row, f.Column, strings.ReplaceAll(f.What, path, "F")))
			}
			if diff := cmp.Diff(strings.Split(c.want, "|"), slices.Sorted(slices.Values(got))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// How many faults there are of each kind is told alike in whatever order rows come, the most frequent kind first.
func TestKindsOfFaultsAreToldAlike(t *testing.T) {
	bad := []string{"u1,e1,,1\n", "u2,e2,1,\n", "u3,e3,0.5,1\n", "u4,e4,,1\n"}
	var told []trajectory.FaultKind
	for k := range bad {
		path := filepath.Join(t.TempDir(), "log.csv")
		text := "unit_id,episode_id,action,reward\n" + strings.Join(slices.Concat(bad[k:], bad[:k]), "")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := file.Read(t.Context(), []string{path}, "csv", trajectory.Options{Need: trajectory.Action, Unit: trajectory.UnitPerson, Faults: 1})
		var several *trajectory.FaultsError
		if !errors.As(err, &several) || len(several.Kinds) != 3 || several.Kinds[0].What != "is missing" || several.Kinds[0].Faults != 2 {
			t.Fatalf("%v", err)
		}
		if told == nil {
			told = several.Kinds
		}
		if !slices.Equal(told, several.Kinds) {
			t.Errorf("%v, and in another order of rows %v", told, several.Kinds)
		}
	}
}
