package file_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// visit draws a log of rising steps, in which episodes of a person may begin at any, and
// which holds rows that cannot be used.
func visit(t *rapid.T) []map[string]string {
	var rows []map[string]string
	episode := 0
	for p := range rapid.IntRange(1, 5).Draw(t, "persons") {
		for range rapid.IntRange(1, 3).Draw(t, "episodes") {
			episode++
			day := rapid.IntRange(1, 9).Draw(t, "day")
			n := rapid.IntRange(1, 3).Draw(t, "rows")
			for i := range n {
				row := map[string]string{"episode_id": fmt.Sprintf(`"e%d"`, episode), "unit_id": fmt.Sprintf(`"u%d"`, p), "step": strconv.Itoa(day),
					"obs_a": strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "a")), "action": strconv.Itoa(rapid.IntRange(0, 1).Draw(t, "action")),
					"behavior_prob": "0.5", "reward": strconv.Itoa(len(rows)), "terminated": strconv.FormatBool(i == n-1), "truncated": "false"}
				switch rapid.IntRange(0, 30).Draw(t, "odd") {
				case 0:
					row["behavior_prob"] = "2"
				case 1:
					row["step"] = "null"
				case 2:
					row["step"] = strconv.Itoa(day - 1) // of the row before, it may be
				case 3:
					row["action"], row["reward"], row["terminated"] = "null", "null", "false"
				}
				rows = append(rows, row)
				day += rapid.IntRange(1, 3).Draw(t, "gap")
			}
		}
	}
	return rows
}

// inOrder sorts rows as data.steps.sort is said to do.
func inOrder(rows []map[string]string) []map[string]string {
	step := func(r map[string]string) float64 {
		if v, err := strconv.ParseFloat(r["step"], 64); err == nil {
			return v
		}
		return 1e9
	}
	first := map[string]float64{}
	for _, r := range rows {
		e := r["episode_id"]
		if _, seen := first[e]; r["step"] == "null" { // it may begin at any
			first[e] = -1
		} else if !seen || step(r) < first[e] {
			first[e] = step(r)
		}
	}
	id := func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b map[string]string) int {
		return cmp.Or(id(a["unit_id"], b["unit_id"]), cmp.Compare(first[a["episode_id"]], first[b["episode_id"]]),
			id(a["episode_id"], b["episode_id"]), cmp.Compare(step(a), step(b)))
	})
	return rows
}

// tied tells that rows of an episode have one step.
func tied(sorted []map[string]string) bool {
	for i := range sorted[1:] {
		if a, b := sorted[i], sorted[i+1]; a["episode_id"] == b["episode_id"] && a["step"] == b["step"] {
			return true
		}
	}
	return false
}

// unplaced writes all that is read of a dataset but where it stood.
func unplaced(d *trajectory.Dataset) string {
	return fmt.Sprint(d.PersonID, d.EpisodeID, d.PersonStart, d.EpisodeStart, d.Columns, d.Obs, d.Action, d.Reward, d.BehaviorProb, d.Terminated, d.Final, d.HasFinal, d.LeftOut, d.Lost)
}

func orderOptions(t *rapid.T) trajectory.Options {
	return trajectory.Options{Need: trajectory.Action | trajectory.BehaviorProb, Optional: trajectory.Final, Unit: trajectory.UnitPerson, Repair: true, Missing: trajectory.MissingZero,
		Horizon: rapid.IntRange(0, 4).Draw(t, "horizon"), EpisodesPerPerson: rapid.IntRange(0, 2).Draw(t, "most"), Steps: trajectory.Steps{Ordered: true}, Observations: []string{"obs_a"}, Alone: true}
}

// Rows in any order, in one file or two, are read as those that were sorted before, in
// every format, whatever cannot be used of them.
func TestRowsInAnyOrderAreReadAsSorted(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		rows, o := visit(r), orderOptions(r)
		sorted := inOrder(rows)
		o.Steps.Sort = tied(sorted) // or else the order of some is that of the file
		want, _, err := file.Read(t.Context(), []string{rewrite(t, dir, "sorted.csv", asCSV(sorted))}, "", o)
		if err != nil {
			r.Fatal(err)
		}
		shuffled := rapid.Permutation(rows).Draw(r, "order")
		o.Steps.Sort = true
		half := rapid.IntRange(1, len(rows)).Draw(r, "half")
		var names []string
		switch rapid.IntRange(0, 3).Draw(r, "form") {
		case 0:
			names = []string{rewrite(t, dir, "sorted.csv", asCSV(sorted))}
		case 1:
			names = []string{rewrite(t, dir, "1.csv", asCSV(shuffled[:half])), rewrite(t, dir, "2.csv", asCSV(shuffled[half:]))}
		case 2:
			names = []string{rewrite(t, dir, "x.ndjson", asNDJSON(shuffled))}
		case 3:
			names = []string{parquetOf(t, dir, shuffled)}
		}
		d, notices, err := file.Read(t.Context(), names, "", o)
		if err != nil {
			r.Fatal(names, err)
		}
		if got := unplaced(d); got != unplaced(want) {
			r.Fatalf("%s: %s\nsorted %s\n%v", names, got, unplaced(want), shuffled)
		}
		if !slices.Contains(notices, "rows were put in order by person, episode and step, in memory") {
			r.Fatal(names, notices)
		}
		if parts, _, err := inSeveral(t.Context(), names, o); err != nil || !slices.Equal(parts, append(inTurn(d), notices...)) {
			r.Fatal(names, "parts are other than the whole", err)
		}
	})
}

// Many episodes of a person that take turns, with ids that begin alike or are numbers or UUIDs, are read
// as those of a file in order, in one file or two, though batches of rows end within them.
func TestEpisodesThatTakeTurnsAreReadAsSorted(t *testing.T) {
	const persons, episodes, steps = 7, 40, 9
	const head = "unit_id,episode_id,step,obs_a,action,behavior_prob,reward,terminated\n"
	row := func(p, e, i int) string {
		id := fmt.Sprintf("%d/episode-%02d", p, e)
		switch e % 4 {
		case 0:
			id = strconv.Itoa(p*episodes + e - 99) // below 0 as well
		case 1:
			id += "-" + strconv.Itoa(p)
		case 2:
			id = fmt.Sprintf("%08x-0000-4000-8000-%012x", 7919*(p*episodes+e)%1000, e)
		}
		return fmt.Sprintf("%d,%s,%d,%d,%d,0.%d,%d.5,%t\n", p, id, i, p+e, i%2, 1+i%8, e*i, i == steps-1)
	}
	var turns, sorted, backwards []string
	for p := range persons {
		for i := range steps {
			for e := range episodes {
				turns = append(turns, row(p, e, i))
			}
		}
		var ids []int
		for e := range episodes {
			ids = append(ids, e)
		}
		slices.SortFunc(ids, func(a, b int) int {
			x, y := strings.Split(row(p, a, 0), ",")[1], strings.Split(row(p, b, 0), ",")[1]
			return cmp.Or(len(x)-len(y), strings.Compare(x, y))
		})
		for _, e := range ids {
			for i := range steps {
				sorted = append(sorted, row(p, e, i))
			}
		}
	}
	backwards = slices.Clone(turns)
	slices.Reverse(backwards)
	o := trajectory.Options{Need: trajectory.Action | trajectory.BehaviorProb, Unit: trajectory.UnitPerson, Horizon: 100}
	read := func(names []string) string {
		d, notices, err := file.Read(t.Context(), names, "", o)
		if err != nil {
			t.Fatal(err)
		}
		parts, apart, err := inSeveral(t.Context(), names, o)
		if err != nil || !slices.Equal(parts, append(inTurn(d), notices...)) {
			t.Error(names, "parts are other than the whole", err)
		}
		if unsorted := strings.Contains(names[0], "backwards"); apart != unsorted {
			t.Error(names, "were opened anew", apart)
		}
		return unplaced(d)
	}
	want := read([]string{put(t, "sorted.csv", head+strings.Join(sorted, ""))})
	o.Steps.Sort = true
	half := len(turns) / 2
	for _, names := range [][]string{
		{put(t, "turns.csv", head+strings.Join(turns, ""))}, {put(t, "backwards.csv", head+strings.Join(backwards, ""))},
		{put(t, "1.csv", head+strings.Join(turns[half:], "")), put(t, "2.csv", head+strings.Join(turns[:half], ""))},
	} {
		if got := read(names); got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%s differs from sorted ones at %d: %.99s; want %.99s", names, at, got[at:], want[at:])
		}
	}
}

// inSeveral reads data by parts, and gives the persons in turn and then the notices. It tells whether the data had to be
// opened anew, since persons come in no order.
func inSeveral(ctx context.Context, names []string, o trajectory.Options) (found []string, apart bool, err error) {
	for {
		s, err := file.Open(ctx, names, "", o)
		if err == nil && apart {
			_, err = s.Together(ctx)
		}
		d := &trajectory.Dataset{}
		for err == nil {
			if err = s.Part(d); err == nil {
				found = append(found, inTurn(d)...)
			}
		}
		if s.Apart() && !apart {
			found, apart = nil, true
			err = s.Close()
		} else if err = cmp.Or(s.Close(), err); errors.Is(err, io.EOF) {
			return append(found, s.Notices()...), apart, nil
		}
		if err != nil {
			return nil, apart, err
		}
	}
}

// Of one file in which persons come in order, each in one place, no more rows are read than parts have, and what is wrong is
// told as of rows that are all read first, whatever comes first in the file. So it is where a person comes again after others.
func TestPersonsInOrderAreReadAsTheyCome(t *testing.T) {
	const head, persons = "unit_id,episode_id,step,action,reward\n", 3000
	var rows []string
	for p := range persons {
		for step := range 5 {
			for e := range 2 {
				rows = append(rows, fmt.Sprintf("%d,%d,%d,0,1", p, 2*p+e, step))
			}
		}
	}
	o := trajectory.Options{Unit: trajectory.UnitPerson, Need: trajectory.Action, Observations: []string{}, Steps: trajectory.Steps{Sort: true}}
	read := false // to the end
	o.Progress = func(trajectory.Progress) { read = true }
	s, err := file.Open(t.Context(), []string{put(t, "x.csv", head+strings.Join(rows, "\n"))}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	d := &trajectory.Dataset{}
	if err := errors.Join(s.Part(d), s.Close()); err != nil || d.Persons() < 100 || d.Persons() == persons || read {
		t.Errorf("%v: %d persons in a part, after all of the file: %v", err, d.Persons(), read)
	}
	last := len(rows) - 1
	for name, c := range map[string]struct {
		rows  map[int]string
		apart bool
	}{
		"nothing is wrong":          {nil, false},
		"a row comes last":          {map[int]string{7: rows[last], last: rows[7]}, true},
		"a row stands twice":        {map[int]string{7: rows[8]}, true},
		"a step is missing":         {map[int]string{last: "2999,5999,,0,1"}, true},
		"a value cannot be read":    {map[int]string{77: "7,15,3,x,1", 8: "0,0,7,0,1"}, true},
		"no person":                 {map[int]string{0: ",0,0,0,1", last: ",5999,4,0,1"}, true},
		"a person is spelled twice": {map[int]string{last: "02999,6000,0,0,1"}, true},
		"the file is broken":        {map[int]string{77: "7,15,3,0,", last: "2999,\"5999,4,0,1"}, true},
		"rows are later ones":       {map[int]string{20: "9,4,0,0,1"}, true},
	} {
		text := slices.Clone(rows)
		for at, row := range c.rows {
			text[at] = row
		}
		names := []string{put(t, "x.csv", head+strings.Join(text, "\n"))}
		for _, o.Repair = range []bool{false, true} {
			for _, o.Faults = range []int{0, 3} {
				whole, notices, want := file.Read(t.Context(), names, "", o)
				got, apart, err := inSeveral(t.Context(), names, o)
				if fmt.Sprint(err) != fmt.Sprint(want) || err == nil && !slices.Equal(got, append(inTurn(whole), notices...)) || !o.Repair && apart != c.apart {
					t.Errorf("%s: %v, opened anew %v; want %v", name, err, apart, want)
				}
			}
		}
	}
}

// Equal steps make an episode that cannot be used, and no other; where violations are
// rejected they are an error with their row and its file.
func TestEqualStepsHaveNoOrder(t *testing.T) {
	a := put(t, "a.csv", "unit_id,episode_id,step,reward\nu,e,2,1\nv,f,0,5\n")
	b := put(t, "b.csv", "unit_id,episode_id,step,reward\nv,f,1,6\nu,e,1,1\nu,e,2,1\n")
	o := trajectory.Options{Steps: trajectory.Steps{Ordered: true, Sort: true}}
	const what = "b.csv:4: step: is that of another row of the episode (a duplicate row?), so that the order of the two is not known"
	if _, _, err := file.Read(t.Context(), []string{a, b}, "", o); err == nil || !strings.Contains(err.Error(), what) {
		t.Errorf("%v; want %s", err, what)
	}
	o.Repair = true
	d, notices, err := file.Read(t.Context(), []string{a, b}, "", o)
	if err != nil || fmt.Sprint(d.Reward, d.LeftOut) != "[5 6] [1 0]" || !strings.Contains(strings.Join(notices, "\n"), what) {
		t.Error(err, d, notices)
	}
}

// What cannot be put in order is refused: an episode of two persons, data without steps.
func TestWhatIsNotPutInOrder(t *testing.T) {
	sort := func(o *trajectory.Options) { o.Steps.Sort = true }
	for _, c := range []struct{ text, want string }{
		{"unit_id,episode_id,step,reward\nu,e,0,1\nv,e,0,1\nu,f,0,1\n", "3: episode_id: an episode of another person has this id; give episodes of different persons different ids"},
		{"unit_id,episode_id,reward\nu,e,1\n", "step: the file has no such column"},
		{"unit_id,episode_id,step,reward\nu,e,0,1\nu,,1,1\n", "3: episode_id: is missing"},
		{"unit_id,episode_id,step,reward\nu,e,0,1\n,e,1,1\n", "3: unit_id: is missing"},
		{"unit_id,episode_id,step,reward\n7,e,0,1\n07,f,0,1\n", "is another spelling of the id in row 2"},
		{"unit_id,episode_id,step,reward\n", "there is no row of data"},
		{"unit_id,episode_id,step,reward\nu,e,1,1\n", "2: step: the episode does not start at step 0; number the decisions"},
		{"unit_id,episode_id,step,reward\nu,e,2,1\nu,e,0,1\n", "2: step: is not one more than the step before; leave no gap"},
	} {
		o := trajectory.Options{Unit: trajectory.UnitPerson}
		sort(&o)
		if _, _, err := file.Read(t.Context(), []string{put(t, "x.csv", c.text)}, "", o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %s", c.text, err, c.want)
		}
	}
}

// What an episode that is left out counts for does not depend on where a batch of rows
// ends: its first row lacks action and reward, and is the last of a batch or not.
func TestLeftOutEpisodesCountWhereverBatchesEnd(t *testing.T) {
	for _, others := range []int{3, 1023} {
		var b strings.Builder
		b.WriteString("unit_id,episode_id,step,action,reward\n")
		for i := range others {
			fmt.Fprintf(&b, "u%d,e%d,0,1,1\n", i, i)
		}
		b.WriteString("odd,a,0,,\nodd,a,1,1,1\nodd,b,0,1,1\n")
		o := trajectory.Options{Unit: trajectory.UnitPerson, Need: trajectory.Action, Repair: true, Horizon: 2}
		d, _, err := file.Read(t.Context(), []string{put(t, "x.csv", b.String())}, "", o)
		if err != nil {
			t.Fatal(err)
		}
		if d.Rows() != others || d.LeftOut[others] != 1 {
			t.Errorf("beside %d others: %d rows, %v left out", others, d.Rows(), d.LeftOut[others])
		}
	}
}

// rewrite writes a file in place of an old one.
func rewrite(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func parquetOf(t *testing.T, dir string, rows []map[string]string) string {
	t.Helper()
	path := filepath.Join(dir, "x.parquet")
	bare := make(record, len(rows))
	for i, row := range rows {
		bare[i] = map[string]string{}
		for k, v := range row {
			if v != "null" {
				bare[i][k] = strings.Trim(v, `"`)
			}
		}
	}
	asParquet(t, nil, path, bare)
	return path
}
