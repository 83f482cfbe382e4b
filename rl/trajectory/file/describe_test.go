package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func ExampleDescribe() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "log.csv")
	if err := os.WriteFile(path, []byte("patient_id;arm;obs_age;click\nann;placebo;61.5;1\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	d, err := file.Describe(context.Background(), []string{path}, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("separated by %q\n", d.Separator)
	for _, c := range d.Columns {
		fmt.Printf("%s %s %q\n", c.Name, c.Type, c.Canonical)
	}
	// Output:
	// separated by ';'
	// patient_id text "unit_id"
	// arm text ""
	// obs_age number "obs_age"
	// click integer "reward"
}

// Types are told alike by every format, and by the first rows alone.
func TestTypesByTheFirstRows(t *testing.T) {
	want := []file.Column{
		{Name: "episode_id", Canonical: "episode_id", Type: "text"}, {Name: "t", Canonical: "step", Type: "integer"},
		{Name: "obs_a", Canonical: "obs_a", Type: "number"}, {Name: "word", Type: "text"}, {Name: "none", Type: "empty"}, {Name: "flag", Type: "integer"},
	}
	csv := "episode_id,t,obs_a,word,none,flag\n" + strings.Repeat("e1,0,,x,,true\ne1,1,2.5,,,false\n", 600)
	ndjson := strings.Repeat(`{"episode_id":"e1","t":0,"obs_a":null,"word":"x","none":null,"flag":true}`+"\n"+`{"episode_id":"e1","t":1,"obs_a":2.5,"word":null,"none":null,"flag":false}`+"\n", 600)
	for name, text := range map[string]string{
		"log.csv": csv + "e1,broken", "log.ndjson": ndjson + "{broken", "tab.csv": strings.ReplaceAll(csv, ",", "\t"), "bar.csv": strings.ReplaceAll(csv, ",", "|"),
	} {
		d, err := file.Describe(context.Background(), []string{put(t, name, text)}, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, d.Columns); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// A file without a header would tell its first row.
func TestARowOfDataIsNoHeader(t *testing.T) {
	_, err := file.Describe(context.Background(), []string{put(t, "log.csv", "ann,61.5,1\nbob,70.25,0\n")}, "")
	if !errors.Is(err, trajectory.ErrColumn) || strings.Contains(err.Error(), "61.5") {
		t.Errorf("%v", err)
	}
}

// What validate refuses in a header, or for want of rows, a draft cannot be made of
// either; nor of names that YAML cannot hold.
func TestWhatCannotBeReadIsNotDescribed(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		kind       error
	}{
		"a name twice":  {"unit_id,reward,reward\n1,0,1\n", ": reward: two columns have this name; rename or remove one", trajectory.ErrColumn},
		"Latin-1":       {"unit_id,r\xe9ponse,reward\n1,0,1\n", ":1: the header is not UTF-8; it may be Latin-1; save it anew as UTF-8", trajectory.ErrFormat},
		"no row":        {"unit_id,reward\n", ": there is no row of data; check that this is the right file", trajectory.ErrEmpty},
		"no row, text":  {"unit_id;arm\n", ": there is no row of data; check that this is the right file", trajectory.ErrEmpty},
		"unnamed twice": {"unit_id,,,reward\n1,0,1,0\n", "", nil},
	} {
		path := put(t, "log.csv", c.text)
		_, err := file.Describe(context.Background(), []string{path}, "")
		if c.kind == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || err.Error() != path+c.want || !errors.Is(err, c.kind) {
			t.Errorf("%s:\n got %v\nwant %s", name, err, path+c.want)
		}
	}
}

// A shard may be empty, as it may for an evaluation.
func TestAnEmptyShardIsPassedBy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": "unit_id,reward\n", "b.csv": "unit_id,reward\n1,0.5\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := file.Describe(context.Background(), []string{filepath.Join(dir, "*.csv")}, "")
	if err != nil || d.Columns[1].Type != "number" {
		t.Errorf("%v, %v; want the type of the second file's reward", d, err)
	}
}

// A file of tabs is told how it is read, by the extensions that such files have.
func TestAFileOfTabsHasItsRemedy(t *testing.T) {
	for name, told := range map[string]bool{"a.tsv": true, "a.TSV.gz": true, "a.tab": true, "a.xls": false} {
		_, err := file.Describe(context.Background(), []string{put(t, name, "unit_id\treward\n1\t0\n")}, "")
		if !errors.Is(err, file.ErrFormat) || strings.Contains(err.Error(), `data.separator: "\t"`) != told {
			t.Errorf("%s: %v; told %v", name, err, told)
		}
	}
	if d, err := file.Describe(context.Background(), []string{put(t, "a.tsv", "unit_id\treward\n1\t0\n")}, "csv"); err != nil || d.Separator != '\t' {
		t.Errorf("%v, %v; want what the remedy promises", d, err)
	}
}

// Of a wide file some columns are described: those that the schema knows wherever
// they are, and of the others the first. It takes no longer than to read the header.
func TestTheDescriptionOfAWideFileIsBounded(t *testing.T) {
	const n = 300_000
	var names, values, members []string
	for i := range n {
		names, values = append(names, fmt.Sprintf("x%d", i)), append(values, "1")
	}
	names[n-1], values[n-1], values[1] = "click", "0.5", "a"
	for i, name := range names[:n/2] {
		members = append(members, fmt.Sprintf("%q:%q", name, values[i]))
	}
	members = append(members, `"click":0.5`)
	for name, text := range map[string]string{"log.csv": strings.Join(names, ",") + "\n" + strings.Join(values, ",") + "\n", "log.ndjson": "{" + strings.Join(members, ",") + "}\n"} {
		ctx, stop := context.WithTimeout(context.Background(), 30*time.Second) // 0.5 s alone
		d, err := file.Describe(ctx, []string{put(t, name, text)}, "")
		stop()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all := n
		if name == "log.ndjson" {
			all = len(members)
		}
		want := []file.Column{{Name: "x1", Type: "text"}, {Name: "click", Canonical: "reward", Type: "number"}}
		if got := []file.Column{d.Columns[1], d.Columns[len(d.Columns)-1]}; !cmp.Equal(got, want) || len(d.Columns) != 200 || d.Left != all-200 {
			t.Errorf("%s: %d columns and %d more, of which %v; want %v", name, len(d.Columns), d.Left, got, want)
		}
	}
}

func TestDescribeStopsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := file.Describe(ctx, []string{put(t, "log.csv", "a,b\n1,2\n")}, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkDescribe(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log.csv")
	wide(b, path, 300_000, 1)
	for b.Loop() {
		if _, err := file.Describe(context.Background(), []string{path}, ""); err != nil {
			b.Fatal(err)
		}
	}
}
