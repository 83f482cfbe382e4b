package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// A file of lines with lists of rows is read as the file is of which each row is a line, with
// what is wrong with values; a line without a row leaves its person out.
func TestRowsInListsAreRead(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		repair, sort := rapid.Bool().Draw(rt, "repair"), rapid.Bool().Draw(rt, "sort")
		var nested, flat strings.Builder
		empty := 0
		for p := range rapid.IntRange(1, 4).Draw(rt, "persons") {
			value := func() string {
				return rapid.SampledFrom([]string{"1", "0.5", "null", `"x"`, "{}", "2"}).Draw(rt, "value")
			}
			age, rows := value(), []string{}
			for range rapid.IntRange(0, 3).Draw(rt, "rows") {
				step := rapid.IntRange(0, 2).Draw(rt, "step")
				lactate, reward := value(), value()
				rows = append(rows, fmt.Sprintf(`{"t":%d,"vitals":{"deep":{"lactate":%s},"x":[1]}, "reward":%s,"action":0}`, step, lactate, reward))
				fmt.Fprintf(&flat, `{"who":"p%d","age":%s,"t":%d,"lactate":%s,"reward":%s,"action":0}`+"\n", p, age, step, lactate, reward)
			}
			list := `[ ` + strings.Join(rows, " , ") + ` ]`
			if len(rows) == 0 {
				empty++
				list = rapid.SampledFrom([]string{"[]", "null", "7", `{"t":0}`, `[7]`, `["{}"]`}).Draw(rt, "list")
				// What stands in place of it in a file of lines: a row that cannot be used.
				fmt.Fprintf(&flat, `{"who":"p%d","age":%s,"t":0,"lactate":null,"reward":"none","action":0}`+"\n", p, age)
			}
			fmt.Fprintf(&nested, `{"log":{"visits":%s},"who":"p%d","age":%s}`+"\n", list, p, age)
		}
		// The columns stand in the first rows, of another person.
		fmt.Fprint(&nested, `{"log":{"visits":[{"t":0,"vitals":{"deep":{"lactate":1}},"reward":1,"action":0}]},"who":"z","age":1}`+"\n")
		fmt.Fprint(&flat, `{"who":"z","age":1,"t":0,"lactate":1,"reward":1,"action":0}`+"\n")
		read := func(name, text, rows, lactate string) (*trajectory.Dataset, error) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				rt.Fatal(err)
			}
			d, _, err := file.Read(context.Background(), []string{path}, "", trajectory.Options{
				Columns: map[string]string{"unit_id": "who", "step": "t"}, Observations: []string{"age", lactate}, Rows: rows, EpisodePerPerson: true,
				Unit: trajectory.UnitPerson, Missing: trajectory.MissingZero, Repair: repair, Steps: trajectory.Steps{Ordered: true, Sort: sort}, Need: trajectory.Action})
			return d, err
		}
		got, err := read("nested.ndjson", nested.String(), "log.visits", "vitals.deep.lactate")
		want, flatErr := read("flat.ndjson", flat.String(), "", "lactate")
		if (err == nil) != (flatErr == nil) || repair && err != nil || !repair && empty > 0 && err == nil {
			rt.Fatalf("%v; of lines %v:\n%s\n%s", err, flatErr, nested.String(), flat.String())
		}
		if err != nil {
			return
		}
		got.Columns = want.Columns
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow", "LeftOut"), cmpopts.IgnoreUnexported(trajectory.Dataset{}), cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			rt.Fatalf("%s\n%s\n%s", diff, nested.String(), flat.String())
		}
	})
}

// A batch is shorter than a line may be: every row comes once.
func TestALongListIsReadOnce(t *testing.T) {
	var rows []map[string]any
	for i := range 5000 {
		rows = append(rows, map[string]any{"reward": i})
	}
	line, err := json.Marshal(map[string]any{"unit_id": "p", "steps": rows})
	if err != nil {
		t.Fatal(err)
	}
	path := put(t, "long.ndjson", string(line)+"\n")
	d, _, err := file.Read(t.Context(), []string{path}, "", trajectory.Options{Rows: "steps", EpisodePerPerson: true, End: trajectory.EndTerminated})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range d.Reward {
		if r != float64(i) {
			t.Fatalf("reward %d is %g", i, r)
		}
	}
	if d.Rows() != 5000 || d.Episodes() != 1 {
		t.Errorf("%d rows, %d episodes", d.Rows(), d.Episodes())
	}
}

// What is wrong is told with the line and the element.
func TestFaultsOfElementsAreTold(t *testing.T) {
	good := `{"unit_id":"a","steps":[{"reward":1,"v":{"x":1}},{"reward":1,"v":{"x":2}}]}` + "\n"
	for name, c := range map[string]struct{ lines, want string }{
		"a value":          {good + `{"unit_id":"b","steps":[{"reward":1,"v":{"x":1}},{"reward":"y","v":{"x":1}}]}`, ":2, element 2: reward: is not a number"},
		"an inner value":   {good + `{"unit_id":"b","steps":[{"reward":1,"v":{"x":"y"}}]}`, ":2, element 1: v.x: is not a number"},
		"no object":        {good + `{"unit_id":"b","steps":[{"reward":1,"v":3}]}`, ":2, element 1: v: is no object, and a column that lies in it is asked for"},
		"no element":       {good + `{"unit_id":"b","steps":[7]}`, ":2, element 1: reward: is missing: this element of steps is no object"},
		"no row":           {good + `{"unit_id":"b","steps":[]}`, ":2: reward: is missing: steps has no row"},
		"no list":          {good + `{"unit_id":"b"}`, ":2: reward: is missing: steps has no row"},
		"another list":     {good + `{"unit_id":"b","steps":{"reward":1}}`, ":2: reward: is missing: steps is no list of rows"},
		"a new key":        {good + strings.Repeat(good, 1100) + `{"unit_id":"b","steps":[{"reward":1,"v":{"x":1},"w":1}]}`, ":1102, element 1: has a key that none of the first rows has"},
		"twice":            {good + `{"unit_id":"b","steps":[{"reward":1,"v":{"x":1,"x":2}}]}`, ":2, element 1: v.x: comes twice in a row"},
		"two lists":        {good + `{"unit_id":"b","steps":[],"steps":[]}`, "steps: comes twice in a row"},
		"broken":           {good + `{"unit_id":"b","steps":[{"reward":1,"v":{"x":1}},]}`, ":2: the line is not a JSON object"},
		"a spelling":       {good + `{"unit_id":"7","steps":[{"reward":1,"v":{"x":1}}]}` + "\n" + `{"unit_id":"07","steps":[{"reward":1,"v":{"x":1}}]}`, ":3, element 1: unit_id: is another spelling of the id in row 2, element 1, of"},
		"in both":          {`{"unit_id":"a","reward":1,"steps":[{"reward":1,"v":{"x":1}}]}`, "reward: is a key of lines, and of the rows in their lists"},
		"a key with a dot": {`{"unit_id":"a","steps":[{"reward":1,"v":{"x":1},"v.x":1}]}`, "v.x: is a key, and by its keys with dots between them also one in an object"},
		"nowhere":          {`{"unit_id":"a","reward":1}`, "steps: none of the first lines has this key of a list of rows"},
	} {
		path := put(t, "log.ndjson", c.lines+"\n")
		_, _, err := file.Read(t.Context(), []string{path}, "", trajectory.Options{Rows: "steps", EpisodePerPerson: true, End: trajectory.EndTerminated, Observations: []string{"v.x"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		var input *trajectory.InputError
		if !errors.As(err, &input) || input.Row > 2000 {
			t.Errorf("%s: %+v", name, input)
		}
	}
	path := put(t, "log.csv", "unit_id,reward\na,1\n")
	if _, _, err := file.Read(t.Context(), []string{path}, "", trajectory.Options{Rows: "steps", EpisodePerPerson: true}); !errors.Is(err, trajectory.ErrOptions) {
		t.Errorf("CSV: %v", err)
	}
}

// A description names columns in objects and the one list of rows, but no key that few objects
// have: it may be a value.
func TestListsAndObjectsAreDescribed(t *testing.T) {
	text := ""
	for i, day := range []string{"2020-01-01", "2020-02-02", "2020-03-03"} {
		text += fmt.Sprintf(`{"user":{"id":"u%d","age":%d},"seen":{"%s":1},"log":{"visits":[{"dose":"low","result":{"x":0.5}},{"dose":"low"}]}}`+"\n", i, 40+i, day)
	}
	d, err := file.Describe(t.Context(), []string{put(t, "log.ndjson", text)}, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []file.Column{{Name: "user.id", Type: "text"}, {Name: "user.age", Type: "integer"}, {Name: "dose", Type: "text"}, {Name: "result.x", Type: "number"}}
	if diff := cmp.Diff(want, d.Columns); diff != "" || d.Rows != "log.visits" || d.Left != 0 {
		t.Errorf("%s; rows in %q, %d left", diff, d.Rows, d.Left)
	}
	if values, rows, err := d.Distinct(t.Context(), "user.id"); values != 3 || rows != 6 || err != nil {
		t.Errorf("%d values in %d rows, %v", values, rows, err)
	}
}
