package file_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// record is the rows of one person, column by name; a value is its JSON text.
type record []map[string]string

// person draws a record of one to three episodes.
func person(r *rand.Rand, name string) record {
	var rows record
	for e := range 1 + r.IntN(3) {
		last := r.IntN(4)
		for s := range last + 1 {
			p := float64(1+r.IntN(3)) / 4
			terminated, truncated := s == last && r.IntN(2) == 0, s == last
			row := map[string]string{
				"episode_id": fmt.Sprintf("%q", fmt.Sprintf("e%s.%d", name, e)), "unit_id": fmt.Sprintf("%q", "u"+name), "step": fmt.Sprint(s),
				"obs_a": fmt.Sprint(r.IntN(99)), "obs_b": fmt.Sprint(r.NormFloat64()), "action": "1",
				"behavior_prob": fmt.Sprint(p), "prob_0": fmt.Sprint(1 - p), "prob_1": fmt.Sprint(p), "target_prob": fmt.Sprint(r.Float64()),
				"reward": fmt.Sprint(r.Float64()), "terminated": fmt.Sprint(terminated), "truncated": fmt.Sprint(truncated && !terminated),
				"next_obs_a": fmt.Sprint(r.IntN(99)), "next_obs_b": "0", "discount": fmt.Sprint(r.Float64()),
				"round": fmt.Sprint(s + 1), "day": fmt.Sprint(7*s + r.IntN(7)), "date": fmt.Sprintf(`"2024-01-%02d"`, 7*s+r.IntN(7)+1),
				"arm": []string{`"placebo"`, `"treated"`}[r.IntN(2)], "sex": []string{`"f"`, `"m"`, "null"}[r.IntN(3)], "outcome": []string{`"ill"`, `"well"`}[r.IntN(2)], "note": []string{`"no complaints"`, `"well"`, "null"}[r.IntN(3)],
			}
			if s > 0 { // what comes next is what the next row observes
				before := rows[len(rows)-1]
				before["next_obs_a"], before["next_obs_b"] = row["obs_a"], row["obs_b"]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// attacker draws a record in which anything may be missing, of another type, out of
// order, repeated, or there too often.
func attacker(r *rand.Rand) record {
	rows := person(r, "x")
	if r.IntN(9) == 0 {
		rows[r.IntN(len(rows))]["reward"] = "null"
	}
	for _, row := range rows { // not one of those that are compared
		row["episode_id"] = strings.Replace(row["episode_id"], "e", "x", 1)
	}
	columns := append(logColumns[:len(logColumns):len(logColumns)], wordColumns...)
	values := []string{"null", `"NA"`, `"-9"`, `"treated"`, `"2024-01-02"`, `"abc"`, `" 7"`, "-1", "0", "1e308", "1", "true", `"NaN"`, "[1,2]", "0.30000000000000004"}
	for range r.IntN(4) {
		row, c := rows[r.IntN(len(rows))], columns[r.IntN(len(columns))]
		switch r.IntN(8) {
		case 0:
			delete(row, c)
		case 1:
			for _, row := range rows {
				row[c] = "null"
			}
		case 2:
			row[[]string{"obs_c", "next_obs_c", "patient_id", "prob_2", "action_probs", "observation", "t"}[r.IntN(7)]] = "1"
		case 3:
			rows = append(rows, maps.Clone(row))
		case 4:
			r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		case 5:
			for i := range 20 {
				more := maps.Clone(row)
				more["episode_id"], more["step"] = fmt.Sprintf(`"x%d"`, 100+i), "0"
				rows = append(rows, more)
			}
		default:
			row[c] = values[r.IntN(len(values))]
		}
	}
	return rows
}

// asked draws what an evaluation may ask of a reader.
func asked(r *rand.Rand, format string) trajectory.Options {
	o := trajectory.Options{Need: trajectory.Action, Optional: trajectory.Final, Missing: trajectory.Missing(r.IntN(2)), Unit: trajectory.UnitPerson,
		Repair: r.IntN(2) == 1}
	if r.IntN(2) == 0 {
		o.Observations = []string{"obs_a", "obs_b"}[:1+r.IntN(2)]
	}
	if r.IntN(2) == 0 {
		o.Optional = trajectory.AllParts
	}
	if r.IntN(3) == 0 {
		o.Need |= trajectory.BehaviorProb | trajectory.Discount
	}
	if r.IntN(3) == 0 {
		o.Unit = trajectory.UnitEpisode
	}
	if r.IntN(2) == 0 {
		o.Horizon, o.EpisodesPerPerson = 1+r.IntN(5), r.IntN(3)
	}
	if r.IntN(3) == 0 {
		o.End = trajectory.EndTruncated
	}
	if r.IntN(2) == 0 {
		o.Reward, o.ClipRewards = &trajectory.Range{Max: 1}, r.IntN(2) == 1
	}
	if r.IntN(4) == 0 {
		o.EmptyIsZero = true
	}
	if r.IntN(2) == 0 {
		askedOfWords(r, format, &o)
	}
	o.Steps.Sort = format != "minari" && r.IntN(3) == 0 && !o.OneRowEpisodes
	if cut := o; format != "minari" && r.IntN(6) == 0 {
		cut.Restart = true
		if cut.Validate() == nil {
			return cut
		}
	}
	return o
}

// wordColumns are those of the log that only some questions read.
var wordColumns = strings.Fields("round day date arm sex outcome note")

// askedOfWords draws what a configuration may say of data that are not of the
// canonical schema: words, other steps, an episode a person.
func askedOfWords(r *rand.Rand, format string, o *trajectory.Options) {
	o.Columns, o.Encode = map[string]string{}, map[string]trajectory.Vocabulary{}
	numbers := make([]string, 99)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i)
	}
	if r.IntN(2) == 0 {
		o.Observations = []string{"obs_a", "obs_b"}
		o.Encode["obs_a"] = trajectory.Vocabulary{Words: numbers[:90+r.IntN(10)], Numeric: true}
	}
	if r.IntN(3) == 0 {
		o.EpisodePerPerson, o.Unit, o.End, o.Optional = true, trajectory.UnitPerson, trajectory.EndTruncated, o.Optional&^trajectory.Final
		o.Columns["step"] = trajectory.NoColumn
	}
	if format == "minari" { // which holds none of the rest
		return
	}
	if r.IntN(2) == 0 {
		o.Columns["action"], o.Encode["action"] = "arm", trajectory.Vocabulary{Words: []string{"placebo", "treated"}}
		o.Need, o.Optional = o.Need&^trajectory.BehaviorProb, o.Optional&^(trajectory.BehaviorProb|trajectory.ActionProbs)
	}
	if r.IntN(2) == 0 {
		o.Columns["reward"], o.Encode["reward"] = "outcome", trajectory.Vocabulary{Words: []string{"ill", "well"}, Codes: []float64{-1, 2}}
		o.ClipRewards = true
		if o.Reward == nil {
			o.ClipRewards = false
		}
	}
	if r.IntN(2) == 0 {
		o.Observations, o.Missing, o.Optional = []string{"sex_m", "obs_a", "sex_f"}, trajectory.MissingZero, o.Optional&^trajectory.Final
		o.Encode["sex"] = trajectory.Vocabulary{Words: []string{"f", "m"}, OneHot: true}
	}
	if o.EpisodePerPerson {
		return
	}
	switch r.IntN(4) {
	case 0:
		o.Columns["step"], o.Steps.From = "round", 1
	case 1:
		o.Columns["step"], o.Steps.Ordered = "day", true
	case 2:
		o.Columns["step"], o.Steps.Date = "date", "%Y-%m-%d"
	}
}

// store writes the records of several persons at a path, in one format. It reports
// false where the format cannot hold them.
type store func(t *testing.T, r *rand.Rand, path string, rows record) bool

func asText(encode func([]map[string]string) string) store {
	return func(t *testing.T, _ *rand.Rand, path string, rows record) bool {
		if err := os.WriteFile(path, []byte(encode(rows)), 0o600); err != nil {
			t.Fatal(err)
		}
		return true
	}
}

// asMinari writes a directory of the layout, and of the metadata of a hostile
// episode, which each stand in a file of their own, at times a field is renamed.
func asMinari(layout string) store {
	return func(t *testing.T, r *rand.Rand, path string, rows record) bool {
		log := path + ".csv"
		if err := os.WriteFile(log, []byte(asCSV(rows)), 0o600); err != nil {
			t.Fatal(err)
		}
		d, _, err := file.Read(context.Background(), []string{log}, "", everything())
		if err != nil {
			return false
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if file.Write(path, layout, d) != nil {
			return false
		}
		for e, id := range d.EpisodeID {
			if !strings.HasPrefix(id, "x") || r.IntN(3) > 0 {
				continue
			}
			name := filepath.Join(path, "data", fmt.Sprint(e), "metadata.json")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			field := []string{"unit_id", "episode_id", "total_steps", "id"}[r.IntN(4)]
			if err := os.WriteFile(name, []byte(strings.Replace(string(text), `"`+field+`"`, `"was"`, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return true
	}
}

// parquetRow is a row of the log with every column optional.
type parquetRow struct {
	Episode    *string  `parquet:"episode_id,optional"`
	Unit       *string  `parquet:"unit_id,optional"`
	Step       *int64   `parquet:"step,optional"`
	A          *float64 `parquet:"obs_a,optional"`
	B          *float64 `parquet:"obs_b,optional"`
	Action     *int64   `parquet:"action,optional"`
	Behavior   *float64 `parquet:"behavior_prob,optional"`
	Target     *float64 `parquet:"target_prob,optional"`
	Reward     *float64 `parquet:"reward,optional"`
	Terminated *bool    `parquet:"terminated,optional"`
	Truncated  *bool    `parquet:"truncated,optional"`
	NextA      *float64 `parquet:"next_obs_a,optional"`
	NextB      *float64 `parquet:"next_obs_b,optional"`
	Discount   *float64 `parquet:"discount,optional"`
	Round      *int64   `parquet:"round,optional"`
	Day        *float64 `parquet:"day,optional"`
	Date       *string  `parquet:"date,optional"`
	Arm        *string  `parquet:"arm,optional"`
	Sex        *string  `parquet:"sex,optional"`
	Outcome    *string  `parquet:"outcome,optional"`
	Note       *string  `parquet:"note,optional"`
}

// as parses the value of a column, nil where it has none of its type.
func as[T any](row map[string]string, column string, parse func(string) (T, error)) *T {
	v, err := parse(strings.Trim(row[column], `"`))
	if err != nil || row[column] == "null" {
		return nil
	}
	return &v
}

func asParquet(t *testing.T, _ *rand.Rand, path string, rows record) bool {
	number := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	whole := func(s string) (int64, error) { return strconv.ParseInt(s, 10, 32) }
	text := func(s string) (string, error) {
		if s == "" {
			return "", errors.New("none")
		}
		return s, nil
	}
	out := make([]parquetRow, len(rows))
	for i, r := range rows {
		out[i] = parquetRow{
			as(r, "episode_id", text), as(r, "unit_id", text), as(r, "step", whole), as(r, "obs_a", number), as(r, "obs_b", number),
			as(r, "action", whole), as(r, "behavior_prob", number), as(r, "target_prob", number), as(r, "reward", number),
			as(r, "terminated", strconv.ParseBool), as(r, "truncated", strconv.ParseBool), as(r, "next_obs_a", number), as(r, "next_obs_b", number), as(r, "discount", number),
			as(r, "round", whole), as(r, "day", number), as(r, "date", text), as(r, "arm", text), as(r, "sex", text), as(r, "outcome", text), as(r, "note", text),
		}
	}
	if err := parquet.WriteFile(path, out); err != nil {
		t.Fatal(err)
	}
	return true
}

// replays counts the pairs of data sets that were tried, and those read alike whose
// question was of words.
type replays struct{ accepted, refused, words int }

// replay reads random logs with one more person, whose record is hostile, in a
// random place: the log is refused, or all others are read bit for bit as without.
func replay(t *testing.T, format, path string, write store, pairs int) {
	r := rand.New(rand.NewPCG(11, uint64(len(format))))
	var n replays
	for n.accepted+n.refused < pairs {
		var others record
		var begin []int // where a person begins
		for i := range 1 + r.IntN(4) {
			begin = append(begin, len(others))
			others = append(others, person(r, fmt.Sprint(i))...)
		}
		o := asked(r, format)
		if format == "csv" && r.IntN(3) == 0 {
			o.NA = []string{"NA", "-9"}
		}
		o.Multiline = format == "csv" && r.IntN(2) == 0
		if !write(t, r, path, others) {
			continue
		}
		alone, _, err := file.Read(context.Background(), []string{path}, format, o)
		if err != nil {
			continue // nobody is hostile: the question does not fit this log
		}
		want := fmt.Sprintf("%#v", decisions(alone))
		for range 10 {
			odd := attacker(r)
			if r.IntN(2) == 0 {
				hostileTexts(r, format, o.Multiline, odd)
			}
			rows := among(r, others, begin, odd)
			if o.Steps.Sort {
				r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			}
			if !write(t, r, path, rows) {
				continue
			}
			with, _, err := file.Read(context.Background(), []string{path}, format, o)
			var input *trajectory.InputError
			switch {
			case err == nil:
				n.accepted++
				if len(o.Encode) > 0 {
					n.words++
				}
				if got := fmt.Sprintf("%#v", decisions(with)); got != want {
					t.Fatalf("%s, options %+v, record %v beside\n%v:\nalone %s\nwith  %s", format, o, odd, others, want, got)
				}
			case errors.As(err, &input) && input.File != "":
				n.refused++
			default:
				t.Fatalf("%s: %v; want an error that names the file", format, err)
			}
		}
	}
	t.Logf("%s: %d pairs read alike, %d of them by vocabularies, %d refused", format, n.accepted, n.words, n.refused)
	if n.accepted < pairs/10 || n.refused < pairs/10 || n.words < pairs/100 {
		t.Errorf("%s: %+v: the comparison tells little", format, n)
	}
}

// formats are those that are replayed; the fast suite leaves out what writes many
// files a pair.
var formats = map[string]struct {
	write store
	slow  bool
}{
	"csv":     {write: asText(func(rows []map[string]string) string { return asCSV(rows) })},
	"ndjson":  {write: asText(func(rows []map[string]string) string { return asNDJSON(rows) })},
	"parquet": {write: asParquet},
	"minari":  {write: asMinari("minari-arrow"), slow: true},
}

// A few pairs in each test run; the slow suite tries 20,000 a format.
func TestReaderReplay(t *testing.T) { replayAll(t, 100, 20) }

// memoryDir is a directory of files that need not outlive the machine: where memory
// has a file system, writing a dataset of many files durably does not wait for a disk.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "discreet-replay")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func replayAll(t *testing.T, pairs, slowPairs int) {
	for name, f := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := pairs
			if f.slow {
				n = slowPairs
			}
			replay(t, name, filepath.Join(memoryDir(t), "log."+name), f.write, n)
		})
	}
}
