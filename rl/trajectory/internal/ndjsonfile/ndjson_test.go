package ndjsonfile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ndjsonfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

func everything() trajectory.Options {
	return trajectory.Options{Optional: trajectory.AllParts}
}

func put(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, text string, o trajectory.Options) (*trajectory.Dataset, []string, error) {
	t.Helper()
	return ingest.Read(context.Background(), ndjsonfile.Format(), []string{put(t, "x.ndjson", []byte(text))}, o)
}

const small = `{"episode_id":"a","step":0,"obs_x":0.5,"obs_y":-1e2,"action":1,"behavior_prob":0.25,"reward":1,"terminated":false,"truncated":false}

{ "obs_y" : 3 , "obs_x" : true , "episode_id" : "a" , "step" : 1, "action": 0, "behavior_prob": 7.5e-1, "reward": -0.0, "terminated": true, "truncated": false, "note": null }
{"episode_id":7,"action":2,"behavior_prob":1,"reward":12345678901234567890,"terminated":0,"truncated":1,"obs_x":1e-400,"obs_y":0.1,"note":{"deep":[1,{"a":"}]\\\""}]},"step":0}
`

func TestRowsAreRead(t *testing.T) {
	d, notices, err := read(t, small, everything())
	if err != nil {
		t.Fatal(err)
	}
	want := &trajectory.Dataset{
		Columns: []string{"obs_x", "obs_y"}, PersonStart: []int{0, 1, 2}, EpisodeStart: []int{0, 2, 3},
		Obs: []float64{0.5, -100, 1, 3, 0, 0.1}, Action: []int32{1, 0, 2}, Reward: []float64{1, math.Copysign(0, -1), 12345678901234567890},
		BehaviorProb: []float64{0.25, 0.75, 1}, Terminated: []bool{true, false},
		PersonID: []string{"a", "7"}, EpisodeID: []string{"a", "7"}, FirstRow: []int{1, 4},
	}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"no column unit_id: each episode is taken for a person of its own; map unit_id to the column that names the person if a person can have several", "columns not used: note"}, notices); diff != "" {
		t.Errorf("notices (-want +got)\n%s", diff)
	}
}

func TestListsAreRead(t *testing.T) {
	d, _, err := read(t, `{"episode_id":1,"observation":[1, 2.5,true],"action":1,"action_probs":[0.25,0.75],"reward":0,"terminated":true}
{"episode_id":2,"observation":[4,5,6],"action":0,"action_probs":[1,0],"reward":0,"terminated":true}`, everything())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1, 2.5, 1, 4, 5, 6}, d.Obs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0.25, 0.75, 1, 0}, d.ActionProbs); diff != "" || d.Actions != 2 {
		t.Error(diff)
	}
}

// A last row with an observation alone is what follows the last decision.
func TestAFinalObservationMayStandAlone(t *testing.T) {
	d, _, err := read(t, `{"episode_id":1,"obs_x":1,"action":0,"reward":2,"truncated":true}
{"episode_id":1,"obs_x":9}`, everything())
	if err != nil {
		t.Fatal(err)
	}
	if got := d.FinalObservation(0); len(got) != 1 || got[0] != 9 || d.Rows() != 1 || d.Ended(0) {
		t.Errorf("final observation %v of %d rows", got, d.Rows())
	}
}

func TestGzipAndByteOrderMarkAreUnderstood(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, "\ufeff"+strings.ReplaceAll(small, "\n", "\r\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, _, err := ingest.Read(context.Background(), ndjsonfile.Format(), []string{put(t, "x.jsonl.gz", packed.Bytes())}, everything())
	if err != nil || d.Rows() != 3 {
		t.Fatalf("%v", err)
	}
	if _, _, err := ingest.Read(context.Background(), ndjsonfile.Format(), []string{put(t, "z.ndjson.gz", nil)}, everything()); !errors.Is(err, trajectory.ErrFormat) {
		t.Errorf("an empty gzip file: %v", err)
	}
	half := packed.Bytes()[:packed.Len()/2]
	if _, _, err := ingest.Read(context.Background(), ndjsonfile.Format(), []string{put(t, "y.jsonl.gz", half)}, everything()); !errors.Is(err, trajectory.ErrFormat) {
		t.Errorf("half a gzip file: %v", err)
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	const good = `{"episode_id":1,"reward":0,"obs_x":1,"action_probs":[0.5,0.5],"obs_z":1}` + "\n"
	for _, c := range []struct {
		name, text, want string
		kind             error
	}{
		{"empty", "", ": the file is empty; write one JSON object a decision, each on its own line", trajectory.ErrEmpty},
		{"blank", "\n \n\t\n", ": the file is empty; write one JSON object a decision, each on its own line", trajectory.ErrEmpty},
		{"array", "[" + good + "]", ":1: is a JSON array; write one JSON object a decision, each on its own line", trajectory.ErrFormat},
		{"csv", "episode_id,reward\n1,0\n", ":1: the first line is not a JSON object; write one JSON object a decision, each on its own line", trajectory.ErrFormat},
		{"gzip by another name", "\x1f\x8bxx", ":1: is compressed, or not UTF-8; name a gzip file .ndjson.gz; write text as UTF-8", trajectory.ErrFormat},
		{"cut short", good + `{"episode_id":2,"rew`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"open string", good + `{"episode_id":"2`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"no colon", good + `{"episode_id" 2}`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"no comma", good + `{"episode_id":2 "reward":1}`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"comma at the end", good + `{"episode_id":2,}`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"text after", good + `{"episode_id":2} x`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"no value", good + `{"episode_id":}`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"half a character", good + `{"episode_id":"\ud800","reward":1}`, ":2: the line is not a JSON object; the file may be cut short; write one object a line", trajectory.ErrFormat},
		{"twice", good + `{"episode_id":2,"reward":1,"reward":2}`, ":2: reward: comes twice in a row; write every key once", trajectory.ErrFormat},
		{"reward text", good + `{"episode_id":2,"reward":"secret"}`, ":2: reward: is not a number; say in data.encode which number each word stands for, or write a number, true, false or null", trajectory.ErrValue},
		{"reward NaN", good + `{"episode_id":2,"reward":NaN}`, ":2: reward: is NaN or infinite; write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue},
		{"reward infinite", good + `{"episode_id":2,"reward":-Infinity}`, ":2: reward: is NaN or infinite; write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue},
		{"reward too large", good + `{"episode_id":2,"reward":1e999}`, ":2: reward: is NaN or infinite; write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue},
		{"hexadecimal", good + `{"episode_id":2,"reward":0x10}`, ":2: reward: is not a number; say in data.encode which number each word stands for, or write a number, true, false or null", trajectory.ErrValue},
		{"leading zero", good + `{"episode_id":2,"reward":01}`, ":2: reward: is not a number; say in data.encode which number each word stands for, or write a number, true, false or null", trajectory.ErrValue},
		{"no digit", good + `{"episode_id":2,"reward":1.}`, ":2: reward: is not a number; say in data.encode which number each word stands for, or write a number, true, false or null", trajectory.ErrValue},
		{"reward missing", good + `{"episode_id":2,"obs_x":1,"obs_z":1}`, ":2: reward: is missing, and the episode has no decision before it; drop the row", trajectory.ErrEpisode},
		{"id a list", good + `{"episode_id":[2],"reward":1}`, ":2: episode_id: is neither text nor a number; write an id as a string or an integer", trajectory.ErrValue},
		{"id a boolean", good + `{"episode_id":true,"reward":1}`, ":2: episode_id: is neither text nor a number; write an id as a string or an integer", trajectory.ErrValue},
		{"list too short", good + `{"episode_id":2,"reward":1,"obs_x":1,"obs_z":1,"action_probs":[1]}`, ":2: action_probs: the list is not as long as the first one; give every row a list of the same length", trajectory.ErrValue},
		{"list too long", good + `{"episode_id":2,"reward":1,"obs_x":1,"obs_z":1,"action_probs":[0,0,1]}`, ":2: action_probs: the list is not as long as the first one; give every row a list of the same length", trajectory.ErrValue},
		{"list of text", good + `{"episode_id":2,"reward":1,"obs_x":1,"obs_z":1,"action_probs":[0,"secret"]}`, ":2: action_probs: is not a number; write a number, true, false or null", trajectory.ErrValue},
		{"no list", good + `{"episode_id":2,"reward":1,"obs_x":1,"obs_z":1,"action_probs":1}`, ":2: action_probs: is not a list; write a list in every row, or null", trajectory.ErrValue},
		{"a list where a number was", good + `{"episode_id":2,"reward":[1]}`, ":2: reward: is not a number; say in data.encode which number each word stands for, or write a number, true, false or null", trajectory.ErrValue},
		{"observation missing", good + `{"episode_id":2,"reward":1,"obs_x":1,"obs_z":null,"action_probs":[1,0]}`, ":2: obs_z: is missing; fill it in, leave the column out, or say in data.missing what it becomes", trajectory.ErrValue},
		{"an observation that one row lacks", good + `{"episode_id":2,"reward":1,"obs_x":1,"action_probs":[1,0]}`, ":2: obs_z: the row lacks this key, which other rows have; name the observation columns that are wanted, or write this one in every row, null where it has no value", trajectory.ErrColumn},
		{"a part that one row lacks", good + `{"episode_id":2,"reward":1,"obs_x":1,"obs_z":1}`, ":2: action_probs: is missing; fill it in; a column that is read has a value in every row", trajectory.ErrValue},
		{"a new key", strings.Repeat(good, 1) + strings.Repeat("\n", 3) + strings.Repeat(`{"episode_id":2,"reward":0,"obs_x":1,"action_probs":[0.5,0.5],"obs_z":1}`+"\n", 1024) + `{"new":1}`,
			":1029: has a key that none of the first rows has; write every key in the first row, null where it has no value", trajectory.ErrColumn},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, "x.ndjson", []byte(c.text))
			_, _, err := ingest.Read(context.Background(), ndjsonfile.Format(), []string{path}, everything())
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.TrimPrefix(err.Error(), path); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if !errors.Is(err, trajectory.ErrInput) || !errors.Is(err, c.kind) {
				t.Errorf("%#v wraps neither ErrInput nor %v", err, c.kind)
			}
		})
	}
}

// anyDataset draws a dataset with awkward names and numbers.
func anyDataset(t *rapid.T) *trajectory.Dataset {
	number := func(label string) float64 {
		v := math.Float64frombits(rapid.Uint64().Draw(t, label))
		if math.IsNaN(v) || math.IsInf(v, 0) || rapid.Bool().Draw(t, "round") {
			return float64(rapid.IntRange(-999, 999).Draw(t, label)) / 8
		}
		return v
	}
	names := []string{"", "a,b", `"q"\`, "two\nlines", "ü", "null", "#"}
	name := func(i int) string { return rapid.SampledFrom(names).Draw(t, "name") + fmt.Sprint(i) }
	episode := func(i int) string {
		return rapid.SampledFrom(append(names, "two\nlines\x00")).Draw(t, "name") + fmt.Sprint(i)
	}
	d := &trajectory.Dataset{Columns: []string{"obs_z", "obs_\"a"}, PersonStart: []int{0}, EpisodeStart: []int{0}, Actions: 2, FirstRow: []int{}}
	for p := range rapid.IntRange(1, 3).Draw(t, "persons") {
		d.PersonID = append(d.PersonID, name(p))
		for range rapid.IntRange(1, 3).Draw(t, "episodes") {
			e := d.Episodes()
			d.FirstRow = append(d.FirstRow, d.Rows()+1)
			d.EpisodeID = append(d.EpisodeID, episode(e))
			for range rapid.IntRange(1, 4).Draw(t, "rows") {
				d.Obs = append(d.Obs, number("obs"), number("obs"))
				d.Reward = append(d.Reward, number("reward"))
				d.Action = append(d.Action, 1)
				q := rapid.Float64Range(1e-300, 1).Draw(t, "prob")
				d.BehaviorProb = append(d.BehaviorProb, q)
				d.ActionProbs = append(d.ActionProbs, 1-q, q)
			}
			terminated := rapid.Bool().Draw(t, "terminated")
			d.Terminated = append(d.Terminated, terminated)
			d.HasFinal = append(d.HasFinal, !terminated || e == 0)
			if !terminated || e == 0 {
				d.Final = append(d.Final, number("final"), number("final"))
			} else {
				d.Final = append(d.Final, 0, 0)
			}
			d.EpisodeStart = append(d.EpisodeStart, d.Rows())
		}
		d.PersonStart = append(d.PersonStart, d.Episodes())
	}
	return d
}

var sameBits = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

func TestWhatIsWrittenReadsBackAndIsJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ndjson")
	rapid.Check(t, func(t *rapid.T) {
		want := anyDataset(t)
		var text bytes.Buffer
		if err := ndjsonfile.Write(&text, want); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text.Bytes()) {
			var object map[string]any
			if err := json.Unmarshal(line, &object); err != nil {
				t.Fatalf("%v\n%s", err, line)
			}
		}
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := ingest.Read(context.Background(), ndjsonfile.Format(), []string{path}, everything())
		if err != nil {
			t.Fatalf("%v\n%s", err, text.Bytes())
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin"), sameBits); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
	})
}

func TestInfiniteNumbersAreNotWritten(t *testing.T) {
	d := &trajectory.Dataset{Columns: []string{"obs_x"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Obs: []float64{math.Inf(1)}, Reward: []float64{0}, Terminated: []bool{true}}
	if err := ndjsonfile.Write(&bytes.Buffer{}, d); !errors.Is(err, trajectory.ErrValue) {
		t.Errorf("an infinite observation: %v", err)
	}
}

// Every number that encoding/json takes is read to the same float64, and what it
// does not take is refused.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1.5", "1e5", "123456789012345678", "0.1", "1e400", "1e-400", "01", "1.", ".5", "+1", "-", "0x1p3", "1_000", "true", "null", "tru", "NaN", "1e", "1E+2", "0.30000000000000004"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "{}[]\"\n\r\t ,:") {
			return
		}
		got, err := reward(`{"reward":` + s + `}`)
		var want any
		wrong := json.Unmarshal([]byte(s), &want)
		if wrong != nil {
			if err == nil {
				t.Fatalf("%q is read as %v", s, got)
			}
			return
		}
		var number float64
		switch v := want.(type) {
		case float64:
			number = v
		case bool:
			if v {
				number = 1
			}
		case nil:
			number = table.Null()
		}
		if err != nil || math.Float64bits(got) != math.Float64bits(number) {
			t.Fatalf("%q is read as %v, %v; want %v", s, got, err, number)
		}
	})
}

// reward reads the reward of one line.
func reward(line string) (float64, error) {
	t, err := ndjsonfile.New(strings.NewReader(line), "x")
	if err != nil {
		return 0, err
	}
	if err := t.Select([]table.Pick{{Field: 0}}); err != nil {
		return 0, err
	}
	b := table.NewBatch([]int{1}, 0)
	if err := t.Read(b); err != nil {
		return 0, err
	}
	if len(b.Faults) > 0 {
		return 0, &b.Faults[0].Err
	}
	return b.Blocks[0].Values[0], nil
}

// Whatever the bytes, reading ends in data or in an error for the curator.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"episode_id":"a","log":{"rows":[{"v":{"x":1},"reward":1,"action":0} , {"v":null,"reward":1}]}}` + "\n" + `{"episode_id":"b","log":{"rows":[]}}` + "\n"))
	f.Add([]byte(`{"episode_id":"\u00e9\"","reward":[1,[2]],"obs_x":{"a":{}}}` + "\n\n{}\n"))
	f.Add([]byte("\ufeff{\"episode_id\":1,\"observation\":[ ],\"reward\":1}\n{\"observation\":[1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.ndjson")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		listed := everything()
		listed.Rows, listed.Observations, listed.Repair = "log.rows", []string{"v.x"}, true
		for _, o := range []trajectory.Options{everything(), listed} {
			d, _, err := ingest.Read(context.Background(), ndjsonfile.Format(), []string{path}, o)
			if err != nil {
				if !errors.Is(err, trajectory.ErrInput) {
					t.Fatalf("%v does not wrap ErrInput", err)
				}
				continue
			}
			if d.Rows() == 0 && !o.Repair || d.EpisodeStart[d.Episodes()] != d.Rows() || len(d.Obs) != d.Rows()*len(d.Columns) {
				t.Fatalf("%d rows, episodes %v", d.Rows(), d.EpisodeStart)
			}
		}
		x, err := ndjsonfile.OpenNested(context.Background(), path, table.Nesting{All: true, Rows: "log.rows"})
		if err == nil {
			err = x.Close()
		}
		if err != nil && !errors.Is(err, trajectory.ErrInput) {
			t.Fatal(err)
		}
	})
}

func benchmarkText(b *testing.B) []byte {
	var text bytes.Buffer
	d := &trajectory.Dataset{Columns: []string{"obs_a", "obs_b", "obs_c", "obs_d"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for e := range 500 {
		for i := range 100 {
			x := math.Sin(float64(e*100 + i))
			d.Obs = append(d.Obs, x, 2*x, float64(i), 0.5)
			d.Action, d.Reward, d.BehaviorProb = append(d.Action, int32(i%3)), append(d.Reward, 1), append(d.BehaviorProb, 0.25)
		}
		d.EpisodeStart = append(d.EpisodeStart, d.Rows())
		d.PersonStart = append(d.PersonStart, e+1)
		d.Terminated = append(d.Terminated, true)
	}
	if err := ndjsonfile.Write(&text, d); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	return text.Bytes()
}

func BenchmarkRead(b *testing.B) {
	path := put(b, "x.ndjson", benchmarkText(b))
	rows := 0
	for b.Loop() {
		got, _, err := ingest.Read(context.Background(), ndjsonfile.Format(), []string{path}, everything())
		if err != nil {
			b.Fatal(err)
		}
		rows += got.Rows()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkEncodingJSON is the standard library on the same lines, into a struct:
// to compare with in the same run.
func BenchmarkEncodingJSON(b *testing.B) {
	text := benchmarkText(b)
	rows := 0
	for b.Loop() {
		for line := range bytes.Lines(text) {
			var row struct {
				Episode    string  `json:"episode_id"`
				Step       int     `json:"step"`
				A          float64 `json:"obs_a"`
				B          float64 `json:"obs_b"`
				C          float64 `json:"obs_c"`
				D          float64 `json:"obs_d"`
				Action     int     `json:"action"`
				Prob       float64 `json:"behavior_prob"`
				Reward     float64 `json:"reward"`
				Terminated bool    `json:"terminated"`
				Truncated  bool    `json:"truncated"`
			}
			if err := json.Unmarshal(line, &row); err != nil {
				b.Fatal(err)
			}
			rows++
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
