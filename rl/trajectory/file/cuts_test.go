package file_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// The rows of a person are cut where more than the gap passes between two of them, in
// whatever order they stand: as by an id that was made by the same rule beforehand.
func TestEpisodesCutByAGap(t *testing.T) {
	dir := t.TempDir()
	start := time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		var rows []string
		for p := range rapid.IntRange(1, 3).Draw(r, "persons") {
			at := start
			for range rapid.IntRange(1, 5).Draw(r, "rows") {
				rows = append(rows, fmt.Sprintf("u%d,%s,%d", p, at.Format("2006-01-02T15:04:05"), len(rows)))
				at = at.Add(time.Duration(rapid.IntRange(1, 3).Draw(r, "hours"))*time.Hour + time.Duration(rapid.IntRange(0, 1).Draw(r, "seconds"))*time.Second)
			}
		}
		o := trajectory.Options{Unit: trajectory.UnitPerson, Gap: 2 * time.Hour, Steps: trajectory.Steps{Date: "iso", Sort: true}, Alone: true}
		order := rapid.Permutation(rows).Draw(r, "order")
		d, _, err := file.Read(t.Context(), []string{rewrite(t, dir, "x.csv", "unit_id,step,reward\n"+strings.Join(order, "\n"))}, "", o)
		if err != nil {
			r.Fatal(err)
		}
		var got []string
		for e := range d.Episodes() {
			got = append(got, fmt.Sprint(d.EpisodeID[e], d.Reward[d.EpisodeStart[e]:d.EpisodeStart[e+1]]))
		}
		if want := cutByHand(rows, 2*time.Hour); !slices.Equal(got, want) {
			r.Fatalf("%v: %v; want %v", rows, got, want)
		}
	})
}

// cutByHand cuts sorted rows.
func cutByHand(rows []string, gap time.Duration) []string {
	var out []string
	var person string
	var before time.Time
	var rewards []string
	n := 0
	end := func() {
		if len(rewards) > 0 {
			out = append(out, fmt.Sprintf("%s/%d[%s]", person, n, strings.Join(rewards, " ")))
		}
		rewards = nil
	}
	for _, row := range rows {
		f := strings.Split(row, ",")
		at, _ := time.Parse("2006-01-02T15:04:05", f[1])
		switch {
		case f[0] != person:
			end()
			person, n = f[0], 1
		case at.Sub(before) > gap:
			end()
			n++
		}
		before, rewards = at, append(rewards, f[2])
	}
	end()
	return out
}

// A row whose step cannot be read may be anywhere: its person has one episode, which cannot
// be used, and nobody else's are cut otherwise.
func TestStepsThatCannotBeReadCutNothing(t *testing.T) {
	for name, c := range map[string]struct {
		o    trajectory.Options
		text string
	}{
		"gap":     {trajectory.Options{Gap: time.Hour, Steps: trajectory.Steps{Date: "iso", Sort: true}}, "u,2024-01-03,1\nv,2024-01-01,2\nu,soon,3\nv,2024-01-03,4\nu,2024-01-01,5\n"},
		"restart": {trajectory.Options{Restart: true}, "u,0,1\nv,0,2\nu,,3\nv,0,4\nu,0,5\n"},
	} {
		c.o.Unit, c.o.Repair = trajectory.UnitPerson, true
		d, _, err := file.Read(t.Context(), []string{put(t, "x.csv", "unit_id,step,reward\n"+c.text)}, "", c.o)
		if err != nil || fmt.Sprint(d.EpisodeID, d.Reward, d.PersonID, d.LeftOut) != "[v/1 v/2] [2 4] [u v] [1 0]" {
			t.Error(name, err, d)
		}
	}
}

// Steps start anew where they do not rise; one that was lost or stands twice makes its
// episode one that cannot be used.
func TestEpisodesCutWhereStepsStartAnew(t *testing.T) {
	a := put(t, "a.csv", "unit_id,step,reward\nu,1,1\nw,1,9\nu,2,2\nu,1,3\nv,1,4\n")
	b := put(t, "b.csv", "unit_id,step,reward\nu,2,5\nv,3,6\nu,2,7\nw,1,8\n")
	o := trajectory.Options{Unit: trajectory.UnitPerson, Restart: true, Repair: true, Steps: trajectory.Steps{From: 1}}
	d, notices, err := file.Read(t.Context(), []string{a, b}, "", o)
	if err != nil || fmt.Sprint(d.EpisodeID, d.Reward, d.PersonID, d.LeftOut) != "[u/1 u/2 w/1 w/2] [1 2 3 5 9 8] [u v w] [1 1 0]" {
		t.Error(err, d, notices)
	}
	for _, bad := range []trajectory.Options{
		{Restart: true, Gap: 1}, {Restart: true, EpisodePerPerson: true}, {Restart: true, OneRowEpisodes: true}, {Restart: true, Columns: map[string]string{"episode_id": "x"}},
		{Restart: true, Unit: trajectory.UnitEpisode}, {Gap: -1}, {Gap: 1}, {Gap: 1, Steps: trajectory.Steps{Date: "iso"}}, {Restart: true, Steps: trajectory.Steps{Ordered: true}},
	} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
