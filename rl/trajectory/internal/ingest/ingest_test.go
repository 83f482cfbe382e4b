package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

func everything() trajectory.Options { return trajectory.Options{Optional: trajectory.AllParts} }

func episodes(d *trajectory.Dataset) string {
	var b strings.Builder
	for p := range d.Persons() {
		fmt.Fprintf(&b, "%s:", d.PersonID[p])
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			fmt.Fprintf(&b, " %s%s%d%v", d.EpisodeID[e], d.Origin[e], d.FirstRow[e], d.Reward[d.EpisodeStart[e]:d.EpisodeStart[e+1]])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Rows of one episode lie in several batches, a person's episodes in several
// batches and files, and the unit changes exactly where a batch ends: whatever
// the size of the batches, the persons are the same.
func TestUnitsAcrossBatchesAndFiles(t *testing.T) {
	files := []string{`unit_id,episode_id,reward
		ann,e1,1
		ann,e1,2
		ann,e1,3
		bob,e2,4
		bob,e2,5
		ann,e3,6`, `unit_id,episode_id,reward
		bob,e4,7
		cai,e5,8
		cai,e5,9
		ann,e6,10`}
	want := "ann: e1a1[1 2 3] e3a6[6] e6b4[10]\nbob: e2a4[4 5] e4b1[7]\ncai: e5b2[8 9]\n"
	for batch := 1; batch <= 7; batch++ {
		out := mustRead(t, everything(), batch, files...)
		if got := episodes(out.data); got != want {
			t.Errorf("batches of %d:\n%swant\n%s", batch, got, want)
		}
	}
}

// A unit that changes within an episode is refused at its row, also where the
// change falls on the end of a batch.
func TestUnitThatChangesWithinAnEpisode(t *testing.T) {
	for batch := 1; batch <= 5; batch++ {
		_, err := read(t, everything(), batch, "episode_id,unit_id,reward\ne,ann,1\ne,ann,2\ne,bob,3\ne,bob,4")
		wantError(t, err, "a:3: unit_id: changes within an episode; give all rows of an episode to one person", trajectory.ErrEpisode)
	}
}

// One id in two spellings would be two units: it is refused in whatever batch or
// file the second spelling comes.
func TestSpellingsAcrossBatches(t *testing.T) {
	const again = " is another spelling of the id in row 1 of a, and would count as another unit; write every id in one way: no spaces or quotes around it, ASCII digits and hyphens and, in numbers, no plus sign, leading zeros, decimal point, exponent, thousands or 0x"
	for _, c := range []struct{ first, second string }{
		{"7", "07"}, {"07", "7"}, {"7", "7.0"}, {"+7", "7."}, {" 7", "7"}, {"-7", "-07.00"}, {"0", "-0"}, {"ann", "ann "}, {"00", "0.0"}, {"7", "7e0"}, {"70e-1", "7"}, {"7.50", "7.5"},
	} {
		for batch := 1; batch <= 3; batch++ {
			for _, files := range [][]string{
				{"episode_id,unit_id,reward\na,\"" + c.first + "\",1\nb,x,1\nc,\"" + c.second + "\",1"},
				{"episode_id,unit_id,reward\na,\"" + c.first + "\",1", "episode_id,unit_id,reward\nb,x,1\nc,\"" + c.second + "\",1"},
			} {
				for i := range files {
					files[i] = strings.ReplaceAll(files[i], "\"", "")
				}
				_, err := read(t, everything(), batch, files...)
				at := "a:3"
				if len(files) == 2 {
					at = "b:2"
				}
				wantError(t, err, at+": unit_id:"+again, trajectory.ErrValue)
			}
		}
	}
	// Where episodes are the units, their ids are held to the same.
	_, err := read(t, everything(), 1, "episode_id,reward\n1,1\n2,1\n01,1")
	wantError(t, err, "a:3: episode_id:"+again, trajectory.ErrValue)
	// Different ids that look alike are let be.
	mustRead(t, everything(), 2, "episode_id,reward\n7,1\n-7,1\n70,1\n0.7,1\n7e1x,1\nx7,1\nx07,1\n7.01,1\n.5,1")
}

// Missing observations become what the options say, in the last one as well, and
// rewards are clipped only where that is asked.
func TestReplacements(t *testing.T) {
	const text = "episode_id,obs_x,obs_y,reward,next_obs_x,next_obs_y\na,1,,5,,4\na,,4,-5,,6"
	o := everything()
	o.Missing = trajectory.MissingZero
	o.Reward, o.ClipRewards = &trajectory.Range{Min: -1, Max: 2}, true
	for batch := 1; batch <= 2; batch++ {
		d := mustRead(t, o, batch, text).data
		if !slices.Equal(d.Obs, []float64{1, 0, 0, 4}) || !slices.Equal(d.Final, []float64{0, 6}) || !slices.Equal(d.Reward, []float64{2, -1}) {
			t.Errorf("zero: %v %v %v", d.Obs, d.Final, d.Reward)
		}
		mean := o
		mean.Missing, mean.Means = trajectory.MissingMean, map[string]float64{"obs_x": 7, "obs_y": 8}
		d = mustRead(t, mean, batch, text).data
		if !slices.Equal(d.Obs, []float64{1, 8, 7, 4}) || !slices.Equal(d.Final, []float64{7, 6}) {
			t.Errorf("mean: %v %v", d.Obs, d.Final)
		}
	}
}

// Columns are found by name, alias, mapping and wish, in the order of the file
// or of the wish.
func TestBinding(t *testing.T) {
	for _, c := range []struct {
		name, text string
		change     func(*trajectory.Options)
		columns    []string
		obs        []float64
	}{
		{"all in the order of the file", "obs_b,episode_id,obs_a,reward\n1,e,2,0", nil, []string{"obs_b", "obs_a"}, []float64{1, 2}},
		{"those wished for", "obs_b,episode_id,obs_a,reward\n1,e,2,0", func(o *trajectory.Options) { o.Observations = []string{"a", "obs_b"} }, []string{"a", "obs_b"}, []float64{2, 1}},
		{"a column that is no obs_", "age,episode_id,reward\n1,e,0", func(o *trajectory.Options) { o.Observations = []string{"obs_age"} }, []string{"obs_age"}, []float64{1}},
		{"none wished for", "obs_b,episode_id,reward\n1,e,0", func(o *trajectory.Options) { o.Observations = []string{} }, nil, nil},
		{"none there", "episode_id,reward\ne,0", nil, nil, nil},
		{"mapped", "AGE,episode_id,gain\n1,e,0", func(o *trajectory.Options) {
			o.Columns = map[string]string{"obs_age": "AGE", "reward": "gain"}
		}, []string{"obs_age"}, []float64{1}},
		{"mapped by the wished name", "AGE,episode_id,reward\n1,e,0", func(o *trajectory.Options) {
			o.Observations, o.Columns = []string{"age"}, map[string]string{"age": "AGE"}
		}, []string{"age"}, []float64{1}},
		{"list", "traj_id,observation[],click\ne,1|2|3,0", nil, []string{"obs_0", "obs_1", "obs_2"}, []float64{1, 2, 3}},
		{"list wished for", "traj_id,observation[],click\ne,1|2,0", func(o *trajectory.Options) { o.Observations = []string{"obs_0", "obs_1"} }, []string{"obs_0", "obs_1"}, []float64{1, 2}},
		{"list of one number", "traj_id,obs_x[],click\ne,1,0", nil, []string{"obs_x"}, []float64{1}},
		{"number for a list", "traj_id,observation,click\ne,1,0", nil, []string{"observation"}, []float64{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := everything()
			if c.change != nil {
				c.change(&o)
			}
			d := mustRead(t, o, 1, c.text).data
			if !slices.Equal(d.Columns, c.columns) || !slices.Equal(d.Obs, c.obs) {
				t.Errorf("%v %v, want %v %v", d.Columns, d.Obs, c.columns, c.obs)
			}
		})
	}
}

func TestListOfProbabilities(t *testing.T) {
	d := mustRead(t, everything(), 1, "episode_id,action,behavior_prob,action_probs[],reward\ne,1,0.75,0.25|0.75,0\ne,0,0.5,0.5|0.5,0").data
	if d.Actions != 2 || !slices.Equal(d.ActionProbs, []float64{0.25, 0.75, 0.5, 0.5}) || !slices.Equal(d.Action, []int32{1, 0}) {
		t.Errorf("%+v", d)
	}
}

func TestNotices(t *testing.T) {
	out := mustRead(t, everything(), 1, "trajectory_id,obs_x,reward,terminal,note,\ne,1,0,1,x,y", "trajectory_id,obs_x,reward,terminal,note,")
	want := []string{
		"column trajectory_id is read as episode_id",
		"no column unit_id: each episode is taken for a person of its own; map unit_id to the column that names the person if a person can have several",
		"column terminal is read as terminated",
		"column terminal is read as terminated; logs of SCOPE-RL mean truncated by it: map truncated to terminal for those",
		"column 6 has no name and is ignored",
		"columns not used: note",
		"b has no rows",
	}
	if diff := cmp.Diff(want, out.notices); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestProgressIsTold(t *testing.T) {
	var got []trajectory.Progress
	o := trajectory.Options{Progress: func(p trajectory.Progress) { got = append(got, p) }}
	mustRead(t, o, 1024, "episode_id,reward\na,1\nb,2", "episode_id,reward\nc,1"+strings.Repeat("\nc,1", 1<<16))
	want := []trajectory.Progress{
		{File: "a", Index: 0, Files: 2, Bytes: 2, Rows: 2},
		{File: "b", Index: 1, Files: 2, Bytes: 1 << 16, Rows: 1<<16 + 2},
		{File: "b", Index: 1, Files: 2, Bytes: 1<<16 + 1, Rows: 1<<16 + 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What a table or the context says is passed on, and the table is closed.
func TestErrorsFromOutside(t *testing.T) {
	lost := errors.New("lost")
	for _, c := range []struct {
		name string
		t    failing
	}{
		{"select", failing{onSelect: lost}}, {"read", failing{onRead: lost}}, {"close", failing{onRead: io.EOF, onClose: lost}}, {"width", failing{onWidth: lost}},
	} {
		open := 1
		c.t.memory = parse("episode_id,observation[],reward\na,1|2,1", 1)
		c.t.open = &open
		format := table.Format{Open: func(context.Context, string) (table.Table, error) { return &c.t, nil }}
		s, err := ingest.NewStream(context.Background(), format, []string{"a"}, everything())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := ingest.Collect(s); !errors.Is(err, lost) || open != 0 {
			t.Errorf("%s: %v, %d open", c.name, err, open)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := parse("episode_id,reward\na,1\nb,1", 1)
	open := 1
	m.open = &open
	s, err := ingest.NewStream(ctx, table.Format{Open: func(context.Context, string) (table.Table, error) { return m, nil }}, []string{"a"}, everything())
	if err != nil {
		t.Fatal(err)
	}
	if e, err := s.Next(); err != nil || e.Reward[0] != 1 {
		t.Fatal(e, err)
	}
	cancel()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) || open != 0 {
		t.Errorf("%v, %d open", err, open)
	}
	if _, err := ingest.NewStream(context.Background(), table.Format{}, []string{"a"}, trajectory.Options{Horizon: -1}); !errors.Is(err, trajectory.ErrOptions) {
		t.Errorf("bad options: %v", err)
	}
	if _, err := ingest.NewStream(context.Background(), table.Format{}, nil, everything()); !errors.Is(err, trajectory.ErrEmpty) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ingest.NewStream(context.Background(), table.Format{}, make([]string, 1<<16+1), everything()); !errors.Is(err, trajectory.ErrInput) {
		t.Errorf("too many files: %v", err)
	}
	none := table.Format{Open: func(context.Context, string) (table.Table, error) { return nil, os.ErrNotExist }}
	s, err = ingest.NewStream(context.Background(), none, []string{"a"}, everything())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
}

// failing is a table that fails.
type failing struct {
	*memory
	onSelect, onRead, onWidth, onClose error
}

func (f *failing) Select(p []table.Pick) error {
	if f.onSelect != nil {
		return f.onSelect
	}
	return f.memory.Select(p)
}

func (f *failing) Read(b *table.Batch) error {
	if f.onRead != nil && f.next > 0 {
		return f.onRead
	}
	return f.memory.Read(b)
}

func (f *failing) Width(i int) (int, error) {
	if f.onWidth != nil {
		return 0, f.onWidth
	}
	return f.memory.Width(i)
}

func (f *failing) Close() error { return errors.Join(f.memory.Close(), f.onClose) }

func wantError(t *testing.T, err error, want string, kind error) {
	t.Helper()
	if err == nil || err.Error() != want || !errors.Is(err, kind) || !errors.Is(err, trajectory.ErrInput) {
		t.Errorf("\n got %v\nwant %s (%v)", err, want, kind)
	}
}
