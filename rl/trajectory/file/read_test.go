package file_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// origins are left out of comparisons between files.
var origins = cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow")

func read(t *testing.T, text string, o trajectory.Options) (*trajectory.Dataset, []string) {
	t.Helper()
	path := put(t, "log.csv", text)
	d, notices, err := file.Read(context.Background(), []string{path}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	return d, notices
}

// The same log in every spelling that CSV allows is the same dataset.
func TestSpellingsOfCSV(t *testing.T) {
	plain := "episode_id,step,obs_a,reward,terminated\nx,0,1.5,0,false\nx,1,2,1,true\n\"y,\",0,-3,0,true\n"
	want, _ := read(t, plain, everything())
	for name, text := range map[string]string{
		"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
		"byte order mark": "\ufeff" + plain,
		"no last newline": strings.TrimSuffix(plain, "\n"),
		"CRLF, no last":   strings.TrimSuffix(strings.ReplaceAll(plain, "\n", "\r\n"), "\r\n"),
		"empty lines":     "\n\r\n" + strings.ReplaceAll(plain, "\n", "\n\n"),
		"quoted header":   `"episode_id","step","obs_a","reward","terminated"` + plain[strings.Index(plain, "\n"):],
		"quoted numbers":  "episode_id,step,obs_a,reward,terminated\n\"x\",\"0\",\"1.5\",\"0\",\"FALSE\"\r\nx,1,2.000,1e0,1\n\"y,\",0,-3,0,True\n",
		"quoted CR":       "note,episode_id,step,obs_a,reward,terminated\n\"a\rb\",x,0,1.5,0,false\na\r\x00b,x,1,2,1,true\n\"\",\"y,\",0,-3,0,true\n",
		"quoted newline":  "note,episode_id,step,obs_a,reward,terminated\n\"a\n\"\"b\"\"\",x,0,1.5,0,false\n,x,1,2,1,true\n\"\",\"y,\",0,-3,0,true\n",
	} {
		o := everything()
		o.Multiline = name == "quoted newline"
		got, _ := read(t, text, o)
		if d := cmp.Diff(want, got, origins); d != "" {
			t.Errorf("%s: (-plain +this)\n%s", name, d)
		}
	}
}

func TestGzip(t *testing.T) {
	text := "episode_id,reward\n1,2\n"
	path := filepath.Join(t.TempDir(), "log.csv.gz")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(w)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	d, _, err := file.Read(context.Background(), []string{path}, "", everything())
	if err != nil || d.Rows() != 1 || d.Reward[0] != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = file.Read(context.Background(), []string{path}, "", everything())
	if !errors.Is(err, trajectory.ErrFormat) || !strings.Contains(err.Error(), "the file may be cut short or damaged") {
		t.Errorf("a gzip file cut short: %v", err)
	}
}

// Persons keep the order of their first episode and their episodes the order of
// the file, wherever they lie.
func TestEpisodesAreGroupedByPerson(t *testing.T) {
	d, _ := read(t, `episode_id,unit_id,obs_a,reward,next_obs_a,terminated
e1,ann,1,10,2,false
e1,ann,2,11,,false
e2,bob,3,12,9,true
e3,ann,4,13,8,true
e4,eve,5,14,,false
e5,bob,6,15,7,false
`, everything())
	want := &trajectory.Dataset{
		Columns: []string{"obs_a"}, PersonStart: []int{0, 2, 4, 5}, EpisodeStart: []int{0, 2, 3, 4, 5, 6},
		Obs: []float64{1, 2, 4, 3, 6, 5}, Reward: []float64{10, 11, 13, 12, 15, 14},
		Terminated: []bool{false, true, true, false, false},
		Final:      []float64{0, 8, 9, 7, 0}, HasFinal: []bool{false, true, true, true, false},
		PersonID: []string{"ann", "bob", "eve"}, EpisodeID: []string{"e1", "e3", "e2", "e5", "e4"},
		FirstRow: []int{2, 5, 4, 7, 6},
	}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for e, f := range d.Origin {
		if !strings.HasSuffix(f, "log.csv") {
			t.Errorf("episode %d comes from %s", e, f)
		}
	}
}

// capped is a log of two persons whose episodes are mixed.
const capped = `episode_id,unit_id,obs_a,reward,terminated
1,ann,1,1,false
1,ann,2,1,true
2,bob,3,1,false
2,bob,4,1,false
2,bob,5,1,true
3,ann,6,1,false
3,ann,7,1,true
4,ann,8,1,true
`

func TestHorizonKeepsAPersonsFirstDecisions(t *testing.T) {
	o := everything()
	o.Horizon = 3
	d, notices := read(t, capped, o)
	if diff := cmp.Diff([]float64{1, 2, 6, 3, 4, 5}, d.Obs); diff != "" {
		t.Errorf("observations (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, false, true}, d.Terminated); diff != "" {
		t.Errorf("an episode that is cut is truncated: (-want +got)\n%s", diff)
	}
	if got := d.FinalObservation(1); len(got) != 1 || got[0] != 7 {
		t.Errorf("the final observation of an episode that is cut is %v, want that of the next row, [7]", got)
	}
	if diff := cmp.Diff([]string{"decisions beyond the horizon were left out"}, notices); diff != "" {
		t.Error(diff)
	}
}

func TestEpisodesPerPersonKeepsTheFirst(t *testing.T) {
	o := everything()
	o.EpisodesPerPerson = 1
	d, _ := read(t, capped, o)
	if diff := cmp.Diff([]float64{1, 2, 3, 4, 5}, d.Obs); diff != "" {
		t.Errorf("observations (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, d.PersonStart); diff != "" {
		t.Error(diff)
	}
}

func TestFinalObservationRows(t *testing.T) {
	text := "episode_id,obs_a,action,reward,terminated\n1,1,0,5,false\n1,2,,,\n2,3,1,6,true\n2,4,,,false\n3,9,1,1,false\n"
	d, _ := read(t, text, everything())
	want := &trajectory.Dataset{Columns: []string{"obs_a"}, PersonStart: []int{0, 1, 2, 3}, EpisodeStart: []int{0, 1, 2, 3},
		Obs: []float64{1, 3, 9}, Action: []int32{0, 1, 1}, Reward: []float64{5, 6, 1}, Terminated: []bool{false, true, false},
		Final: []float64{2, 4, 0}, HasFinal: []bool{true, true, false},
		PersonID: []string{"1", "2", "3"}, EpisodeID: []string{"1", "2", "3"}}
	if diff := cmp.Diff(want, d, origins); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The flag may stand in the last row instead of the last decision's.
	d, _ = read(t, "episode_id,obs_a,action,reward,terminated\n1,1,0,5,false\n1,2,,,true\n", everything())
	if !d.Terminated[0] || d.Rows() != 1 {
		t.Errorf("a flag in the row of the final observation: %+v", d)
	}
}

func TestTerminatedWins(t *testing.T) {
	d, _ := read(t, "episode_id,reward,terminated,truncated\n1,5,1,1\n2,5,0,1\n", everything())
	if diff := cmp.Diff([]bool{true, false}, d.Terminated); diff != "" {
		t.Error(diff)
	}
}

// A log of the layout of the Open Bandit Dataset, with made-up rows.
const bandit = `,timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0
0,2000-01-01 00:00:01+00:00,14,3,0,0.03,cef3,0.0
1,2000-01-01 00:00:02+00:00,10,1,1,0.5,cef3,2.0
2,2000-01-01 00:00:03+00:00,0,2,0,0.47,03a5,
`

func TestOneRowEpisodes(t *testing.T) {
	o := trajectory.Options{OneRowEpisodes: true, Need: trajectory.Action | trajectory.BehaviorProb,
		Observations: []string{"user-item_affinity_0", "position"}, Missing: trajectory.MissingZero}
	d, notices := read(t, bandit, o)
	want := &trajectory.Dataset{Columns: o.Observations, PersonStart: []int{0, 1, 2, 3}, EpisodeStart: []int{0, 1, 2, 3},
		Obs: []float64{0, 3, 2, 1, 0, 2}, Action: []int32{14, 10, 0}, Reward: []float64{0, 1, 0},
		BehaviorProb: []float64{.03, .5, .47}, Terminated: []bool{true, true, true}, FirstRow: []int{2, 3, 4}}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	wantNotices := []string{noUnit, "column item_id is read as action", "column propensity_score is read as behavior_prob",
		"column click is read as reward", "column 1 has no name and is ignored", "columns not used: timestamp, user_feature_0",
		"missing observations were replaced: 1 (user-item_affinity_0: 1)"}
	if diff := cmp.Diff(wantNotices, notices); diff != "" {
		t.Errorf("notices (-want +got)\n%s", diff)
	}
	// With a person column, the rows of a person come together.
	o.Columns = map[string]string{"unit_id": "user_feature_0"}
	d, _ = read(t, bandit, o)
	if diff := cmp.Diff([]int{0, 2, 3}, d.PersonStart); diff != "" {
		t.Errorf("persons (-want +got)\n%s", diff)
	}
	o.Horizon = 1
	d, notices = read(t, bandit, o)
	if diff := cmp.Diff([]int32{14, 0}, d.Action); diff != "" {
		t.Errorf("with a horizon of 1 (-want +got)\n%s", diff)
	}
	if last := notices[len(notices)-1]; !strings.HasPrefix(last, "further rows of persons of whom the row that stands first counts: 1 (the first: ") || !strings.HasSuffix(last, ":3)") {
		t.Errorf("the second row of a person is told as %q", last)
	}
}

func TestMissingObservations(t *testing.T) {
	text := "episode_id,obs_a,obs_b,reward,next_obs_a,next_obs_b\n1,,2,0,3,\n1,3,,0,,9\n"
	o := everything()
	o.Missing, o.Means = trajectory.MissingMean, map[string]float64{"obs_a": 10, "obs_b": -1}
	d, _ := read(t, text, o)
	if diff := cmp.Diff([]float64{10, 2, 3, -1}, d.Obs); diff != "" {
		t.Errorf("means (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]float64{10, 9}, d.Final); diff != "" {
		t.Errorf("means of the final observation (-want +got)\n%s", diff)
	}
	o.Missing, o.Means = trajectory.MissingZero, nil
	d, _ = read(t, text, o)
	if diff := cmp.Diff([]float64{0, 2, 3, 0}, d.Obs); diff != "" {
		t.Errorf("zeros (-want +got)\n%s", diff)
	}
	// What is missing in a column that is not used does not matter.
	d, _ = read(t, text, trajectory.Options{Observations: []string{}})
	if d.Rows() != 2 || len(d.Columns) != 0 {
		t.Errorf("no observations: %+v", d)
	}
}

func TestRewardsAreClippedOnRequest(t *testing.T) {
	d, _ := read(t, "episode_id,reward\n1,-5\n1,0.5\n1,5\n", trajectory.Options{
		Reward: &trajectory.Range{Min: -1, Max: 1}, ClipRewards: true})
	if diff := cmp.Diff([]float64{-1, .5, 1}, d.Reward); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

const noUnit = "no column unit_id: each episode is taken for a person of its own; map unit_id to the column that names the person if a person can have several"

func TestMappingWins(t *testing.T) {
	d, notices := read(t, "episode_id,who,reward,gain,behavior_prob,p,obs_a,age\n1,u,1,7,0.1,0.2,3,40\n", trajectory.Options{
		Optional: trajectory.AllParts,
		Columns:  map[string]string{"reward": "gain", "behavior_prob": "p", "unit_id": "who", "obs_age": "age"}})
	if d.Reward[0] != 7 || d.BehaviorProb[0] != .2 || d.PersonID[0] != "u" {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{"obs_a", "obs_age"}, d.Columns); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{3, 40}, d.Obs); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(strings.Join(notices, "\n"), "columns not used: reward, behavior_prob") {
		t.Errorf("notices %q", notices)
	}
}

func TestTerminalOfScopeRLIsPointedOut(t *testing.T) {
	d, notices := read(t, "episode_id,reward,terminal\n1,0,1\n", everything())
	if !d.Terminated[0] || !strings.Contains(strings.Join(notices, "\n"), "SCOPE-RL") {
		t.Errorf("%v %q", d.Terminated, notices)
	}
	d, _ = read(t, "episode_id,reward,terminal\n1,0,1\n", trajectory.Options{Columns: map[string]string{"truncated": "terminal"}})
	if d.Ended(0) {
		t.Error("terminal mapped to truncated terminates")
	}
}

// The first patients of the PBC trial, as R gives them and as a canonical log.
func TestFirstPatientsOfPBC(t *testing.T) {
	o := trajectory.Options{Need: trajectory.Action | trajectory.BehaviorProb, Optional: trajectory.AllParts, Reward: &trajectory.Range{Max: 1},
		Missing: trajectory.MissingZero}
	d, _, err := file.Read(context.Background(), []string{"testdata/pbc_canonical.csv"}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	if d.Persons() != 29 || d.Episodes() != 29 || d.Rows() != 199 || len(d.Columns) != 14 {
		t.Errorf("%d persons, %d episodes, %d rows, %d columns", d.Persons(), d.Episodes(), d.Rows(), len(d.Columns))
	}
	raw, _, err := file.Read(context.Background(), []string{"testdata/pbc_raw.csv"}, "", trajectory.Options{
		Columns: map[string]string{"episode_id": "id", "reward": "status", "action": "trt", "obs_phos": "alk.phos"},
		Need:    trajectory.Action, Missing: trajectory.MissingZero, Observations: []string{"obs_phos", "bili"}})
	if err != nil {
		t.Fatal(err)
	}
	if raw.Rows() != 199 || raw.Obs[0] != 1718 || raw.Obs[1] != 14.5 {
		t.Errorf("%d rows, %v", raw.Rows(), raw.Obs[:2])
	}
	for i := range raw.Rows() {
		if got, want := raw.Obs[2*i+1], d.Obs[14*i+d.Column("obs_bili")]; got != want {
			t.Fatalf("row %d: bilirubin %v and %v", i, got, want)
		}
	}
}
