package file_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// littleRoom is for some hundred persons.
const littleRoom = 1 << 17

// scattered is a log of persons whose one to three episodes stand anywhere, with numbers
// that not every option takes.
func scattered(persons int) []map[string]string {
	r := rand.New(rand.NewPCG(8, 1))
	var episodes [][]map[string]string
	for p := range persons {
		for e := range 1 + r.IntN(3) {
			var rows []map[string]string
			n := 1 + r.IntN(4)
			for step := range n {
				action := r.IntN(2)
				row := map[string]string{
					"episode_id": fmt.Sprintf(`"e%d-%d"`, p, e), "unit_id": fmt.Sprintf(`"u%d"`, p), "step": fmt.Sprint(step),
					"obs_a": fmt.Sprint(r.IntN(9)), "obs_b": fmt.Sprint(r.Float64()), "action": fmt.Sprint(action), "behavior_prob": []string{"0.75", "0.25"}[action],
					"prob_0": "0.75", "prob_1": "0.25", "target_prob": "0.5", "reward": fmt.Sprint(2 * r.Float64()), "discount": "1",
					"terminated": fmt.Sprint(step == n-1 && e == 0), "truncated": "false", "next_obs_a": "null", "next_obs_b": "null",
				}
				switch {
				case r.IntN(50) == 0:
					row["behavior_prob"] = "0"
				case r.IntN(20) == 0:
					row["obs_a"] = "null"
				case step == n-1 && r.IntN(9) == 0:
					row["next_obs_a"], row["next_obs_b"] = "3", "4"
				}
				rows = append(rows, row)
			}
			episodes = append(episodes, rows)
		}
	}
	r.Shuffle(len(episodes), func(i, j int) { episodes[i], episodes[j] = episodes[j], episodes[i] })
	return slices.Concat(episodes...)
}

// each is inTurn in no order.
func each(d *trajectory.Dataset) []string {
	out := inTurn(d)
	slices.Sort(out)
	return out
}

// inTurn writes all that is read of every person, without names.
func inTurn(d *trajectory.Dataset) []string {
	var out []string
	part := func(values []float64, e, width int) []float64 {
		if values == nil {
			return nil
		}
		return values[d.EpisodeStart[e]*width : d.EpisodeStart[e+1]*width]
	}
	for p := range d.Persons() {
		var b strings.Builder
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			fmt.Fprintln(&b, d.Origin[e], d.FirstRow[e], d.Columns, d.Ended(e), d.FinalObservation(e), part(d.Obs, e, len(d.Columns)), part(d.Reward, e, 1),
				part(d.BehaviorProb, e, 1), part(d.ActionProbs, e, d.Actions), part(d.TargetProb, e, 1), part(d.Discount, e, 1))
			if d.Action != nil {
				fmt.Fprintln(&b, d.Action[d.EpisodeStart[e]:d.EpisodeStart[e+1]])
			}
		}
		out = append(out, b.String())
	}
	return out
}

// inParts reads files by parts, of persons who do not stand together.
func inParts(t *testing.T, names []string, o trajectory.Options) (persons []string, notices []string, dir string, err error) {
	t.Helper()
	s, err := file.Open(t.Context(), names, "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if dir, err = s.Together(t.Context()); err != nil {
		return nil, nil, "", err
	}
	for d := (&trajectory.Dataset{}); ; {
		if err := s.Part(d); errors.Is(err, io.EOF) {
			slices.Sort(persons)
			return persons, s.Notices(), dir, nil
		} else if err != nil {
			return nil, nil, "", err
		}
		if d.PersonID != nil || d.EpisodeID != nil {
			t.Error("a part has names")
		}
		persons = append(persons, each(d)...)
	}
}

// temporary has the process keep temporary files in a directory, and tells what has a name
// there.
func temporary(t *testing.T) (dir string, names func() []string) {
	dir = t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir, func() []string {
		var names []string
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, f := range found {
			if !strings.HasPrefix(f.Name(), "Test") { // where tests have their data
				names = append(names, f.Name())
			}
		}
		return names
	}
}

// Persons whose episodes do not stand together are what they are in the dataset of all
// rows, and so are notices: in memory and from disk, for formats, files, caps and repairs.
func TestPersonsPutTogetherAreThoseOfTheDataset(t *testing.T) {
	tmp, named := temporary(t)
	for name, c := range map[string]struct {
		persons int
		change  func(*trajectory.Options)
	}{
		"few":                      {40, func(*trajectory.Options) {}},
		"many":                     {8000, func(*trajectory.Options) {}},
		"a horizon":                {40, func(o *trajectory.Options) { o.Horizon = 4 }},
		"a horizon, and many":      {8000, func(o *trajectory.Options) { o.Horizon = 4 }},
		"first episodes":           {40, func(o *trajectory.Options) { o.EpisodesPerPerson = 1 }},
		"some columns":             {40, func(o *trajectory.Options) { o.Observations, o.Optional = []string{"obs_b"}, trajectory.BehaviorProb }},
		"episodes are the unit":    {40, func(o *trajectory.Options) { o.Unit = trajectory.UnitEpisode }},
		"rewards that are clipped": {40, func(o *trajectory.Options) { o.Reward, o.ClipRewards = &trajectory.Range{Max: 1}, true }},
	} {
		t.Run(name, func(t *testing.T) {
			rows := scattered(c.persons)
			o := trajectory.Options{Need: trajectory.Action, Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Repair: true, RowsInMemory: littleRoom}
			c.change(&o)
			half := 0
			for i := len(rows) / 2; half == 0; i++ {
				if rows[i]["step"] == "0" {
					half = i
				}
			}
			logs := [][]string{{put(t, "1.csv", asCSV(rows[:half])), put(t, "2.csv", asCSV(rows[half:]))}}
			if c.persons < 1000 {
				logs = append(logs, []string{put(t, "x.csv", asCSV(rows))}, []string{put(t, "x.ndjson", asNDJSON(rows))})
			}
			for _, names := range logs {
				d, want, err := file.Read(context.Background(), names, "", o)
				if err != nil {
					t.Fatal(err)
				}
				got, notices, dir, err := inParts(t, names, o)
				if err != nil {
					t.Fatal(err)
				}
				o := o
				o.RowsInMemory = 0
				if inMemory, _, _, err := inParts(t, names, o); err != nil || !slices.Equal(inMemory, got) {
					t.Errorf("%d persons in memory differ from %d on disk, %v", len(inMemory), len(got), err)
				}
				if !slices.Equal(got, each(d)) {
					t.Errorf("%d persons in parts differ from %d in memory", len(got), d.Persons())
				}
				if diff := cmp.Diff(want, notices); diff != "" {
					t.Error(diff)
				}
				if onDisk := map[bool]string{true: tmp}[c.persons > 1000]; dir != onDisk {
					t.Errorf("rows were in %q; want %q", dir, onDisk)
				}
				if left := named(); len(left) > 0 {
					t.Errorf("left: %q", left)
				}
			}
		})
	}
}

// What is wrong is told as of data in memory, however many rows were kept before, and
// nothing is left of them.
func TestFaultsOfPersonsPutTogetherAreThoseOfTheDataset(t *testing.T) {
	_, named := temporary(t)
	rows := scattered(8000)
	o := trajectory.Options{Need: trajectory.Action | trajectory.BehaviorProb, Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Whole: []string{"obs_a"}, RowsInMemory: littleRoom}
	for i := range rows {
		if rows[i]["behavior_prob"] == "0" {
			rows[i]["behavior_prob"], rows[i]["action"] = "0.25", "1"
		}
		if rows[i]["obs_a"] == "null" {
			rows[i]["obs_a"] = "1"
		}
	}
	last := len(rows) - 1
	for name, spoil := range map[string]map[string]string{
		"a probability":        {"behavior_prob": "1.5"},
		"no action":            {"action": "null", "reward": "1"},
		"a spelling":           {"unit_id": `"u0 "`},
		"an episode again":     {"episode_id": rows[0]["episode_id"], "step": "0"},
		"a step":               {"step": "7"},
		"an id without a name": {"unit_id": "null"},
	} {
		was := rows[last]
		rows[last] = map[string]string{}
		for k, v := range was {
			rows[last][k] = v
		}
		for k, v := range spoil {
			rows[last][k] = v
		}
		names := []string{put(t, "x.csv", asCSV(rows))}
		rows[last] = was
		_, _, want := file.Read(context.Background(), names, "", o)
		_, _, _, err := inParts(t, names, o)
		if err == nil || want == nil || err.Error() != want.Error() || !strings.Contains(err.Error(), fmt.Sprintf("x.csv:%d", last+2)) {
			t.Errorf("%s: %v; want %v", name, err, want)
		}
		if left := named(); len(left) > 0 {
			t.Errorf("%s: left %q", name, left)
		}
	}
}

// What cannot be kept is an error that says where, and a caller who gives up is heard
// while rows are read again too; nothing is left.
func TestKeepingRowsEndsWithTheDiskAndTheCaller(t *testing.T) {
	dir, named := temporary(t)
	name := put(t, "x.csv", asCSV(scattered(8000)))
	o := trajectory.Options{Need: trajectory.Action, Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Repair: true, RowsInMemory: littleRoom}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := file.Open(ctx, []string{name}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Together(ctx); err != nil {
		t.Fatal(err)
	}
	var d trajectory.Dataset
	if err := s.Part(&d); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Part(&d); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := named(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	away := filepath.Join(dir, "away")
	t.Setenv("TMPDIR", away)
	if s, err = file.Open(t.Context(), []string{name}, "", o); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Together(t.Context()); err == nil || !strings.Contains(err.Error(), away) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("without a directory: %v", err)
	}
	if !s.NoRoom() {
		t.Error("nobody says that there was no room")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
