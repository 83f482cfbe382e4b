package file_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// repairing reads everything and repairs.
func repairing() trajectory.Options {
	return trajectory.Options{Need: trajectory.Action, Optional: trajectory.AllParts, Unit: trajectory.UnitPerson, Observations: []string{"obs_a", "obs_b"},
		Repair: true, Missing: trajectory.MissingZero, Reward: &trajectory.Range{Max: 5}, ClipRewards: true}
}

// Values alone never have a run refused, whatever they are and wherever they stand:
// who asks learns nothing from a failure. Everybody counts, and nobody else's rows
// are read otherwise.
func TestNoValueHasARunRefusedThatRepairs(t *testing.T) {
	values := []string{"null", `"abc"`, `" 7"`, "-1", "0", "1e308", "1e999", "2.5", "true", `"NaN"`, "[1,2]", "[]", `{"a":1}`, "7"}
	for _, format := range []string{"csv", "ndjson", "parquet"} {
		t.Run(format, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			path := filepath.Join(t.TempDir(), "log."+format)
			left := 0
			for range 300 {
				var others record
				for i := range 1 + r.IntN(3) {
					others = append(others, person(r, fmt.Sprint(i))...)
				}
				hostile := person(r, "x")
				for _, row := range hostile {
					row["episode_id"] = strings.Replace(row["episode_id"], "e", "x", 1)
				}
				lists := false // what a column holds, numbers or lists, is for the first row to say
				for range 1 + r.IntN(4) {
					v := values[r.IntN(len(values))]
					lists = lists || v[0] == '[' && format == "ndjson"
					hostile[r.IntN(len(hostile))][logColumns[1+r.IntN(len(logColumns)-1)]] = v
				}
				if lists {
					continue
				}
				for _, row := range hostile {
					row["unit_id"] = `"x"`
				}
				rows := append(others[:len(others):len(others)], hostile...)
				if r.IntN(2) == 0 {
					rows = append(hostile[:len(hostile):len(hostile)], others...)
				}
				o := repairing()
				formats[format].write(t, r, path, others)
				alone, _, err := file.Read(context.Background(), []string{path}, format, o)
				if err != nil {
					t.Fatal(err)
				}
				formats[format].write(t, r, path, rows)
				with, _, err := file.Read(context.Background(), []string{path}, format, o)
				if err != nil {
					t.Fatalf("%v of\n%v", err, hostile)
				}
				if with.Persons() != alone.Persons()+1 {
					t.Fatalf("%d persons, and with one more %d", alone.Persons(), with.Persons())
				}
				left += alone.Episodes() + 3 - with.Episodes()
				if diff := cmp.Diff(decisions(alone), decisions(with)); diff != "" {
					t.Fatalf("others are read otherwise beside\n%v\n%s", hostile, diff)
				}
			}
			if left < 100 {
				t.Errorf("%d episodes were left out: the comparison tells little", left)
			}
		})
	}
}

// Whether a value that the options reject by name has the run refused does not
// depend on where a batch of rows ends, nor on other faults of the episode.
func TestARejectedValueIsRefusedBesideOtherFaults(t *testing.T) {
	for at := 1020; at < 1030; at++ { // a batch has 1024 rows
		var b strings.Builder
		b.WriteString("unit_id,episode_id,step,obs_a,reward\n")
		for i := range at {
			fmt.Fprintf(&b, "u%d,e%d,0,0,0\n", i, i)
		}
		b.WriteString("x,x,0,nine,0\nx,x,7,1,0\nx,x,2,1,-3\n")
		path := filepath.Join(t.TempDir(), "log.csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		o := trajectory.Options{Unit: trajectory.UnitPerson, Repair: true, Reward: &trajectory.Range{Max: 1}}
		_, _, err := file.Read(context.Background(), []string{path}, "", o)
		if err == nil || !strings.Contains(err.Error(), "outside the declared bounds") {
			t.Errorf("after %d rows: %v; want a refusal of the reward", at, err)
		}
	}
}

func TestAllRecordsMayBeLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	text := "unit_id,episode_id,step,obs_a,obs_b,action,reward,terminated\na,1,0,0,0,0,x,true\nb,2,0,0,0,0,NaN,true\na,3,1,0,0,0,0,true\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, notices, err := file.Read(context.Background(), []string{path}, "", repairing())
	if err != nil {
		t.Fatal(err)
	}
	if d.Persons() != 2 || d.Episodes() != 0 || d.Rows() != 0 || d.Action == nil || d.Terminated == nil {
		t.Errorf("%+v; want two persons without an episode, and the parts that the file has", d)
	}
	if all := fmt.Sprint(notices); !strings.Contains(all, "left out: 3 of 3 (the first: "+path+":2: reward: is not a number") {
		t.Errorf("notices %s", all)
	}
}

func TestRepairsAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	text := "unit_id,episode_id,step,obs_a,obs_b,action,reward,terminated\n" +
		"a,1,0,,1,0,9,false\na,1,1,1,,0,-1,true\nb,2,0,0,0,1,5,true\nb,3,0,0,0,1.5,9,true\nc,4,0,,,0,1,false\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := repairing()
	sum, err := file.Validate(context.Background(), []string{path}, "", o)
	if err != nil || sum.Repaired.Rewards != 2 || sum.Repaired.Observations != 4 || sum.Repaired.Episodes != 1 || sum.Episodes != 3 || sum.Persons != 3 {
		t.Errorf("%+v, %v", sum, err)
	}
	// No value is replaced in a column that must be whole.
	o.Whole = []string{"obs_b"}
	if sum, err = file.Validate(context.Background(), []string{path}, "", o); err != nil || sum.Repaired.Episodes != 3 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// A key that one record adds, or has as a list of another length, does not decide
// what is left out of the others: the file is refused.
func TestAnAddedKeyLeavesNobodyOut(t *testing.T) {
	var others record
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 3 {
		others = append(others, person(r, fmt.Sprint(i))...)
	}
	strip := []string{"step", "terminated", "truncated", "discount", "behavior_prob", "target_prob", "prob_0", "prob_1", "next_obs_a", "next_obs_b"}
	for _, row := range others {
		for _, c := range strip {
			delete(row, c)
		}
	}
	for key, value := range map[string]string{"step": "0", "terminated": "true", "truncated": "true", "discount": "1", "behavior_prob": "1", "target_prob": "1",
		"prob_0": "1", "action_probs": "[0,1]", "obs_a": "[1,2]", "reward": "[1]"} {
		hostile := map[string]string{"unit_id": `"x"`, "episode_id": `"x"`, "obs_a": "1", "obs_b": "1", "action": "0", "reward": "1", key: value}
		for _, rows := range []record{append(record{hostile}, others...), append(others[:len(others):len(others)], hostile)} {
			path := filepath.Join(t.TempDir(), "log.ndjson")
			if err := os.WriteFile(path, []byte(asNDJSON(rows)), 0o600); err != nil {
				t.Fatal(err)
			}
			d, _, err := file.Read(context.Background(), []string{path}, "", repairing())
			if err == nil && len(decisions(d)) != len(others) {
				t.Errorf("key %s: %d of %d rows of the others are read, and nothing is refused", key, len(decisions(d)), len(others))
			}
		}
	}
}

// TestABlankIsNoWord: a missing value of an observation whose numbers stand for words is
// none of the words. Its episode is left out as with an unlisted one, or the run fails;
// nobody else's is read otherwise, and one-hot columns and public means stay as they are.
func TestABlankIsNoWord(t *testing.T) {
	head := "unit_id,episode_id,step,severity,stage,action,reward,terminated\n"
	mild, severe := "a,1,0,mild,1,0,0,true\n", "b,2,0,severe,2,1,1,true\n"
	severity := trajectory.Vocabulary{Words: []string{"mild", "severe"}}
	stage := trajectory.Vocabulary{Words: []string{"1", "2"}, Numeric: true}
	hot := stage
	hot.OneHot = true
	mean := func(o *trajectory.Options) {
		o.Missing, o.Means = trajectory.MissingMean, map[string]float64{"severity": 2, "stage": 2}
	}
	for name, c := range map[string]struct {
		row     string
		encode  map[string]trajectory.Vocabulary
		columns []string
		change  func(*trajectory.Options)
		obs     []float64 // of the person with a missing value; nil where it is left out
	}{
		"a word":             {"x,3,0,,1,0,1,true\n", map[string]trajectory.Vocabulary{"severity": severity}, []string{"severity"}, nil, nil},
		"a number":           {"x,3,0,mild,,0,1,true\n", map[string]trajectory.Vocabulary{"stage": stage}, []string{"stage"}, nil, nil},
		"unlisted":           {"x,3,0,midl,1,0,1,true\n", map[string]trajectory.Vocabulary{"severity": severity}, []string{"severity"}, nil, nil},
		"a later decision":   {"x,3,0,mild,1,0,1,false\nx,3,1,,1,0,1,true\n", map[string]trajectory.Vocabulary{"severity": severity}, []string{"severity"}, nil, nil},
		"one-hot":            {"x,3,0,mild,,0,1,true\n", map[string]trajectory.Vocabulary{"stage": hot}, []string{"stage_1", "stage_2"}, nil, []float64{0, 0}},
		"a number for it":    {"x,3,0,,1,0,1,true\n", map[string]trajectory.Vocabulary{"severity": severity}, []string{"severity"}, mean, []float64{2}},
		"without vocabulary": {"x,3,0,mild,,0,1,true\n", nil, []string{"stage"}, nil, []float64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.csv")
			get := func(text string, o trajectory.Options) (*trajectory.Dataset, error) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				d, _, err := file.Read(context.Background(), []string{path}, "", o)
				return d, err
			}
			o := trajectory.Options{Need: trajectory.Action, Unit: trajectory.UnitPerson, Observations: c.columns, Encode: c.encode,
				Repair: true, Missing: trajectory.MissingZero}
			if c.change != nil {
				c.change(&o)
			}
			alone, err := get(head+mild+severe, o)
			if err != nil {
				t.Fatal(err)
			}
			with, err := get(head+mild+severe+c.row, o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(alone.Obs[:len(alone.Obs):len(alone.Obs)], c.obs...), with.Obs); diff != "" || with.Persons() != 3 {
				t.Errorf("%d persons; observations (-want +got)\n%s", with.Persons(), diff)
			}
			o.Repair = false
			if _, err := get(head+mild+severe+c.row, o); (err == nil) != (c.obs != nil) {
				t.Errorf("where violations are rejected: %v", err)
			}
		})
	}
}

// TestWhatIsNoWordOrDateIsAFaultOfItsRow: true, a list or an object in a column of words or dates leaves one record out,
// as an unknown word does, wherever its row stands, and the others are read as without it.
func TestWhatIsNoWordOrDateIsAFaultOfItsRow(t *testing.T) {
	const others = `{"unit_id":"a","episode_id":1,"step":"2024-01-02","obs_a":"low","action":0,"reward":1,"terminated":true}
{"unit_id":"b","episode_id":2,"step":"2024-01-03","obs_a":"high","action":0,"reward":2,"terminated":true}
`
	o := trajectory.Options{Unit: trajectory.UnitPerson, Repair: true, Missing: trajectory.MissingZero, Reward: &trajectory.Range{Max: 5},
		ClipRewards: true, Observations: []string{"obs_a"}, Steps: trajectory.Steps{Date: "%Y-%m-%d"},
		Encode: map[string]trajectory.Vocabulary{"obs_a": {Words: []string{"low", "high"}}}}
	for _, odd := range []string{"true", "[1,2]", `[]`, `{"a":1}`, "1e"} {
		for column, row := range map[string]string{
			"step":  `{"unit_id":"x","episode_id":9,"step":` + odd + `,"obs_a":"low","action":0,"reward":1,"terminated":true}` + "\n",
			"obs_a": `{"unit_id":"x","episode_id":9,"step":"2024-01-02","obs_a":` + odd + `,"action":0,"reward":1,"terminated":true}` + "\n",
		} {
			for place, text := range []string{row + others, others + row} {
				path := filepath.Join(t.TempDir(), "log.ndjson")
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				d, notices, err := file.Read(context.Background(), []string{path}, "", o)
				if err != nil {
					t.Errorf("%s %s at place %d: %v", column, odd, place, err)
					continue
				}
				if d.Persons() != 3 || d.Rows() != 2 || d.Reward[0] != 1 || d.Reward[1] != 2 || d.Obs[0] != 0 || d.Obs[1] != 1 {
					t.Errorf("%s %s at place %d: %+v", column, odd, place, d)
				}
				if all := fmt.Sprint(notices); !strings.Contains(all, "left out: 1 of 3") || !strings.Contains(all, column+": is neither text nor a number") {
					t.Errorf("%s %s at place %d: notices %s", column, odd, place, all)
				}
			}
		}
	}
}
