// How episodes end, and how many of their rows and of a person's episodes are kept.

package ingest_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/google/go-cmp/cmp"
)

// The caps count a person's decisions and episodes over all batches and files.
func TestCapsAcrossBatchesAndFiles(t *testing.T) {
	files := []string{`unit_id,episode_id,obs_x,reward,action,behavior_prob,prob_0,prob_1,target_prob,discount,terminated
		ann,e1,1,1,0,0.5,0.5,0.5,1,1,0
		ann,e1,2,2,1,0.5,0.5,0.5,1,1,0
		ann,e1,3,3,0,0.5,0.5,0.5,1,1,1
		bob,e2,4,4,1,0.5,0.5,0.5,1,1,1
		ann,e3,6,6,1,0.5,0.5,0.5,1,1,0
		ann,e3,7,7,1,0.5,0.5,0.5,1,1,1`, `unit_id,episode_id,obs_x,reward,action,behavior_prob,prob_0,prob_1,target_prob,discount,terminated
		ann,e4,8,8,1,0.5,0.5,0.5,1,1,1
		bob,e5,9,9,1,0.5,0.5,0.5,1,1,1
		bob,e6,10,10,1,0.5,0.5,0.5,1,1,0
		bob,e6,11,11,1,0.5,0.5,0.5,1,1,1`}
	for _, c := range []struct {
		horizon, episodes, each int
		want                    string
		unused                  trajectory.Unused
	}{
		{0, 0, 0, "ann: e1a1[1 2 3] e3a5[6 7] e4b1[8]\nbob: e2a4[4] e5b2[9] e6b3[10 11]\n", trajectory.Unused{}},
		{4, 0, 0, "ann: e1a1[1 2 3] e3a5[6]\nbob: e2a4[4] e5b2[9] e6b3[10 11]\n", trajectory.Unused{Horizon: 2}},
		{3, 0, 0, "ann: e1a1[1 2 3]\nbob: e2a4[4] e5b2[9] e6b3[10]\n", trajectory.Unused{Horizon: 4}},
		{1, 0, 0, "ann: e1a1[1]\nbob: e2a4[4]\n", trajectory.Unused{Horizon: 8}},
		{0, 1, 0, "ann: e1a1[1 2 3]\nbob: e2a4[4]\n", trajectory.Unused{Episodes: 6}},
		{0, 2, 0, "ann: e1a1[1 2 3] e3a5[6 7]\nbob: e2a4[4] e5b2[9]\n", trajectory.Unused{Episodes: 3}},
		{2, 1, 0, "ann: e1a1[1 2]\nbob: e2a4[4]\n", trajectory.Unused{Horizon: 1, Episodes: 6}},
		{0, 0, 2, "ann: e1a1[1 2] e3a5[6 7] e4b1[8]\nbob: e2a4[4] e5b2[9] e6b3[10 11]\n", trajectory.Unused{EpisodeDecisions: 1}},
		{0, 2, 1, "ann: e1a1[1] e3a5[6]\nbob: e2a4[4] e5b2[9]\n", trajectory.Unused{Episodes: 3, EpisodeDecisions: 3}},
		{4, 0, 2, "ann: e1a1[1 2] e3a5[6 7]\nbob: e2a4[4] e5b2[9] e6b3[10 11]\n", trajectory.Unused{Horizon: 1, EpisodeDecisions: 1}},
		{3, 0, 2, "ann: e1a1[1 2] e3a5[6]\nbob: e2a4[4] e5b2[9] e6b3[10]\n", trajectory.Unused{Horizon: 3, EpisodeDecisions: 1}},
	} {
		for batch := 1; batch <= 7; batch++ {
			o := everything()
			o.Horizon, o.EpisodesPerPerson, o.EpisodeDecisions = c.horizon, c.episodes, c.each
			out := mustRead(t, o, batch, files...)
			if got := episodes(out.data); got != c.want || out.unused != c.unused {
				t.Errorf("horizon %d, episodes %d of %d, batches of %d:\n%s%+v, want\n%s%+v", c.horizon, c.episodes, c.each, batch, got, out.unused, c.want, c.unused)
			}
			d := out.data
			if len(d.Action) != d.Rows() || len(d.ActionProbs) != 2*d.Rows() || len(d.BehaviorProb) != d.Rows() || len(d.Discount) != d.Rows() || len(d.Obs) != d.Rows() || len(d.TargetProb) != d.Rows() {
				t.Errorf("horizon %d: the columns differ in length", c.horizon)
			}
			// An episode that the cap cut is truncated, and the first row left out
			// is its final observation.
			if c.horizon == 4 && c.each == 0 && (d.Ended(1) || !cmp.Equal(d.FinalObservation(1), []float64{7}) || !d.Ended(0) || d.FinalObservation(0) != nil) {
				t.Errorf("batches of %d: the cut episode: %v %v", batch, d.Terminated, d.Final)
			}
		}
	}
}

// Nobody's data change what the caps keep of another.
func TestCapsLookAtOnePersonAlone(t *testing.T) {
	o := trajectory.Options{Horizon: 2, EpisodesPerPerson: 2}
	const ann = "\nann,a1,1\nann,a2,2\nann,a2,3\nann,a3,4"
	alone := mustRead(t, o, 2, "unit_id,episode_id,reward"+ann).data
	for _, others := range []string{"", "\nbob,b1,9", strings.Repeat("\nbob,b1,9", 50) + "\ncai,c,1"} {
		d := mustRead(t, o, 3, "unit_id,episode_id,reward"+others+ann).data
		p := slices.Index(d.PersonID, "ann")
		lo, hi := d.EpisodeStart[d.PersonStart[p]], d.EpisodeStart[d.PersonStart[p+1]]
		if !slices.Equal(d.Reward[lo:hi], alone.Reward) {
			t.Errorf("among others ann contributes %v, alone %v", d.Reward[lo:hi], alone.Reward)
		}
	}
}

// With the flag, without it, and by declaration.
func TestEndsOfEpisodes(t *testing.T) {
	const cut = "an episode whose last row is neither terminated nor truncated is taken for truncated"
	for _, c := range []struct {
		name, text string
		end        trajectory.End
		want       []bool // nil where the ends are unknown
		notice     string
	}{
		{"both flags", "episode_id,reward,terminated,truncated\na,1,0,0\na,1,1,0\nb,1,0,1\nc,1,1,1", trajectory.EndColumn, []bool{true, false, true}, ""},
		{"terminated alone", "episode_id,reward,terminated\na,1,0\na,1,1\nb,1,0", trajectory.EndColumn, []bool{true, false}, cut},
		{"no flag", "episode_id,reward\na,1\nb,1", trajectory.EndColumn, nil, "no column terminated: how episodes end is not known; methods that go on from the last observation need it"},
		{"truncated alone", "episode_id,reward,truncated\na,1,0\na,1,1", trajectory.EndColumn, nil, "no column terminated: how episodes end is not known; methods that go on from the last observation need it"},
		{"declared terminated", "episode_id,reward\na,1\na,1\nb,1", trajectory.EndTerminated, []bool{true, true}, ""},
		{"declared truncated", "episode_id,reward\na,1\na,1\nb,1", trajectory.EndTruncated, []bool{false, false}, ""},
		{"flag in the row without decision", "episode_id,obs_x,action,reward,terminated\na,1,0,1,0\na,2,,,1\nb,1,0,1,0\nb,2,,,0", trajectory.EndColumn, []bool{true, false}, cut},
	} {
		for batch := 1; batch <= 4; batch++ {
			o := everything()
			o.End = c.end
			out := mustRead(t, o, batch, c.text)
			if !slices.Equal(out.data.Terminated, c.want) || (out.data.Terminated == nil) != (c.want == nil) {
				t.Errorf("%s, batches of %d: %v, want %v", c.name, batch, out.data.Terminated, c.want)
			}
			if c.notice != "" && !slices.Contains(out.notices, c.notice) {
				t.Errorf("%s: notices %q lack %q", c.name, out.notices, c.notice)
			}
		}
	}
}

// The observation after the last decision comes from next observations or from
// a last row without decision; both may lie in another batch.
func TestFinalObservations(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       [][]float64
	}{
		{"next observations", "episode_id,obs_x,obs_y,reward,next_obs_x,next_obs_y\na,1,2,0,3,4\na,3,4,0,5,6\nb,1,1,0,,", [][]float64{{5, 6}, nil}},
		{"unknown in the middle", "episode_id,obs_x,reward,next_obs_x\na,1,0,\na,2,0,3\nb,7,0,8", [][]float64{{3}, {8}}},
		{"lists", "episode_id,observation[],reward,next_observation[]\na,1|2,0,3|4\na,3|4,0,5|6", [][]float64{{5, 6}}},
		{"row without decision", "episode_id,obs_x,action,reward\na,1,0,1\na,2,0,1\na,3,,\nb,4,0,1", [][]float64{{3}, nil}},
		{"row without decision and action unread", "episode_id,obs_x,reward\na,1,1\na,2,", [][]float64{{2}}},
	} {
		for batch := 1; batch <= 4; batch++ {
			d := mustRead(t, everything(), batch, c.text).data
			var got [][]float64
			for e := range d.Episodes() {
				got = append(got, d.FinalObservation(e))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, batches of %d: (-want +got)\n%s", c.name, batch, diff)
			}
		}
	}
	o := trajectory.Options{Need: trajectory.Final}
	for batch := 1; batch <= 2; batch++ {
		_, err := read(t, o, batch, "episode_id,obs_x,reward,truncated\na,1,0,0\na,1,0,1")
		wantError(t, err, "a:2: the episode is truncated here, and the observation after it is unknown; add next_obs columns, or a last row with the observation and neither action nor reward", trajectory.ErrEpisode)
	}
}

// A log of one-row episodes: every row ends an episode, and persons are whoever
// unit_id names, else the rows.
func TestOneRowEpisodes(t *testing.T) {
	o := everything()
	o.OneRowEpisodes = true
	const named = "unit_id,obs_x,reward,item_id,pscore\nann,1,1,0,0.5\nbob,2,2,1,0.5\nann,3,3,0,0.25\nann,4,4,0,1"
	for batch := 1; batch <= 5; batch++ {
		out := mustRead(t, o, batch, named)
		d := out.data
		if !slices.Equal(d.PersonID, []string{"ann", "bob"}) || !slices.Equal(d.Reward, []float64{1, 3, 4, 2}) || !slices.Equal(d.FirstRow, []int{1, 3, 4, 2}) ||
			!slices.Equal(d.Terminated, []bool{true, true, true, true}) || d.EpisodeID != nil {
			t.Errorf("batches of %d: %+v", batch, d)
		}
		byRow := o
		byRow.Unit = trajectory.UnitRow
		d = mustRead(t, byRow, batch, named, named).data
		if d.Persons() != 8 || d.PersonID != nil || d.Origin[4] != "b" || d.FirstRow[5] != 2 {
			t.Errorf("rows as units, batches of %d: %+v", batch, d)
		}
		capped := o
		capped.EpisodesPerPerson = 2
		out = mustRead(t, capped, batch, named)
		if !slices.Equal(out.data.Reward, []float64{1, 3, 2}) || out.unused.Episodes != 1 {
			t.Errorf("batches of %d: capped %v, %+v", batch, out.data.Reward, out.unused)
		}
		s, check := stream(t, byRow, batch, named)
		for range 3 {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if s.Persons() != 3 {
			t.Errorf("%d persons after three rows", s.Persons())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		check()
		if _, err := s.Next(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// An outcome that stands on the last row of an episode is missing where a cap would cut that
// row off, and never 0; where the whole episode is beyond a cap nothing is missing.
func TestOutcomesBeyondCapsAreMissing(t *testing.T) {
	log := `unit_id,episode_id,action,reward
		ann,e1,1,
		ann,e1,0,
		ann,e1,1,1
		ann,e2,1,
		ann,e2,0,1
		bob,e3,1,1`
	for _, c := range []struct {
		horizon, episodes, each, left int
		want                          string
	}{
		{0, 0, 0, 0, "ann: e1a1[0 0 1] e2a4[0 1]\nbob: e3a6[1]\n"},
		{0, 0, 2, 1, "ann: e2a4[0 1]\nbob: e3a6[1]\n"},
		{0, 1, 2, 1, "ann:\nbob: e3a6[1]\n"},
		{4, 0, 0, 1, "ann: e1a1[0 0 1]\nbob: e3a6[1]\n"},
		{3, 0, 0, 0, "ann: e1a1[0 0 1]\nbob: e3a6[1]\n"},
		{2, 0, 0, 1, "ann:\nbob: e3a6[1]\n"},
	} {
		for batch := 1; batch <= 6; batch++ {
			o := trajectory.Options{Optional: trajectory.Action, RewardOnLast: true, Repair: true, Horizon: c.horizon, EpisodesPerPerson: c.episodes, EpisodeDecisions: c.each}
			out := mustRead(t, o, batch, log)
			left := 0
			for p := range out.data.Persons() {
				left += out.data.Counted(p) - (out.data.PersonStart[p+1] - out.data.PersonStart[p])
			}
			if got := episodes(out.data); got != c.want || left != c.left {
				t.Errorf("%+v, batches of %d:\n%s%d left out, want\n%s%d", c, batch, got, left, c.want, c.left)
			}
		}
	}
}
