package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Ids of several columns are those of all their texts, in every format, streamed, and
// spelled alike part by part.
func TestIDsOfSeveralColumns(t *testing.T) {
	dir := t.TempDir()
	csv := "patient_id,course,site,step,reward\n7,1,a,0,1\n7,1,a,1,2\n7,2,a,0,3\n8,1,a,0,4\n8,1,b,0,5\n"
	var ndjson strings.Builder
	type row struct {
		Patient int64   `parquet:"patient_id"`
		Course  int32   `parquet:"course"`
		Site    string  `parquet:"site"`
		Step    int64   `parquet:"step"`
		Reward  float64 `parquet:"reward"`
	}
	var rows []row
	for _, line := range strings.Split(strings.TrimSpace(csv), "\n")[1:] {
		var r row
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%d %d %s %d %g", &r.Patient, &r.Course, &r.Site, &r.Step, &r.Reward); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
		fmt.Fprintf(&ndjson, "{\"patient_id\":%d,\"course\":%d,\"site\":%q,\"step\":%d,\"reward\":%g}\n", r.Patient, r.Course, r.Site, r.Step, r.Reward)
	}
	names := []string{put(t, "x.csv", csv), put(t, "x.ndjson", ndjson.String()), filepath.Join(dir, "x.parquet")}
	if err := parquet.WriteFile(names[2], rows); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for _, sort := range []bool{false, true} {
			o := trajectory.Options{Unit: trajectory.UnitPerson, Steps: trajectory.Steps{Sort: sort},
				Joined: map[string][]string{"episode_id": {"patient_id", "course", "site"}, "unit_id": {"site", "patient_id"}}}
			d, _, err := file.Read(t.Context(), []string{name}, "", o)
			if err != nil {
				t.Fatal(name, err)
			}
			if got := fmt.Sprint(d.EpisodeID, d.PersonID, d.Reward); got != "[7/1/a 7/2/a 8/1/a 8/1/b] [a/7 a/8 b/8] [1 2 3 4 5]" {
				t.Error(name, sort, got)
			}
			o.Joined = map[string][]string{"unit_id": {"site", "patient_id"}}
			o.EpisodePerPerson, o.Steps.Ordered = true, true
			if _, _, err := file.Read(t.Context(), []string{name}, "", o); err == nil || !strings.Contains(err.Error(), "step") {
				t.Error(name, err) // two courses of one patient have one step
			}
			// patient_id stands for unit_id by its name, though it is a part of the other.
			o = trajectory.Options{Unit: trajectory.UnitPerson, Joined: map[string][]string{"episode_id": {"patient_id", "course", "site"}}}
			if d, _, err = file.Read(t.Context(), []string{name}, "", o); err != nil || fmt.Sprint(d.PersonID) != "[7 8]" {
				t.Error(name, err, d)
			}
		}
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
}

func TestWrongIDsOfSeveralColumns(t *testing.T) {
	both := map[string][]string{"episode_id": {"unit_id", "nr"}}
	units := map[string][]string{"episode_id": {"site", "who", "nr"}, "unit_id": {"site", "who"}}
	for _, c := range []struct {
		joined     map[string][]string
		columns    map[string]string
		text, want string
	}{
		{both, nil, "unit_id,nr,step,reward\nu,1,0,1\nu,,0,1\n", "3: episode_id: is missing"},
		{units, nil, "site,who,nr,step,reward\na,1,1,0,1\n,1,1,0,1\n", "3: episode_id: is missing"},
		{units, nil, "site,who,nr,step,reward\na,1,1,0,1\na,01,2,0,1\n", "3: unit_id: is another spelling of the id in row 2"},
		{units, nil, "site,who,nr,step,reward\n\"a/1\",1,1,0,1\na,1/1,2,0,1\n\"a/1\",1.0,2,0,1\n", "4: unit_id: is another spelling of the id in row 2"},
		{units, nil, "site,who,nr,step,reward\na,\u200b1,1,0,1\n", "2: unit_id: holds a character that cannot be seen"},
		{both, nil, "unit_id,step,reward\nu,0,1\n", "nr: the file has no such column, which the mapping names for episode_id"},
		{map[string][]string{"reward": {"a", "b"}}, nil, "", "only episode_id and unit_id may be of several"},
		{map[string][]string{"unit_id": {"a"}}, nil, "", "unit_id is mapped to 1 columns; want one, or 2 to 4"},
		{map[string][]string{"unit_id": {"a", "a"}}, nil, "", "want the names of different columns"},
		{map[string][]string{"unit_id": {"a", "none"}}, nil, "", "want the names of different columns"},
		{both, map[string]string{"episode_id": "nr"}, "", "episode_id is mapped to one column and to several"},
		{both, map[string]string{"reward": "nr"}, "", "the column nr is mapped to both episode_id and reward"},
	} {
		o := trajectory.Options{Unit: trajectory.UnitPerson, Joined: c.joined, Columns: c.columns}
		if _, _, err := file.Read(t.Context(), []string{put(t, "x.csv", c.text)}, "", o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %s", c.text, err, c.want)
		}
	}
}
