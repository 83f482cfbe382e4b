package file_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// logColumns are those of the logs below, in order.
var logColumns = strings.Fields("episode_id step unit_id obs_a obs_b action behavior_prob prob_0 prob_1 target_prob reward terminated truncated next_obs_a next_obs_b discount")

// honest is three persons with two episodes of two decisions each.
func honest() []map[string]string {
	var rows []map[string]string
	for e := range 6 {
		for s := range 2 {
			next := map[string]string{"next_obs_a": fmt.Sprint(10*e + s + 1), "next_obs_b": "0"}
			row := map[string]string{
				"episode_id": fmt.Sprintf(`"e%d"`, e), "unit_id": fmt.Sprintf(`"u%d"`, e%3), "step": fmt.Sprint(s),
				"obs_a": fmt.Sprint(10*e + s), "obs_b": "0", "action": "1", "behavior_prob": "0.25", "prob_0": "0.75", "prob_1": "0.25",
				"target_prob": "0.5", "reward": fmt.Sprint(e), "terminated": fmt.Sprint(s == 1 && e%2 == 0), "truncated": fmt.Sprint(s == 1 && e%2 == 1), "discount": "0.5",
			}
			maps.Copy(row, next)
			rows = append(rows, row)
		}
	}
	return rows
}

// hostile is one more person, whose record lacks a key or a value, or has a value
// of another kind.
func hostile() map[string][]map[string]string {
	base := func() map[string]string {
		r := maps.Clone(honest()[0])
		maps.Copy(r, map[string]string{"episode_id": `"x"`, "unit_id": `"x"`, "terminated": "true", "next_obs_a": "null", "next_obs_b": "null"})
		return r
	}
	out := map[string][]map[string]string{"nothing": {base()}}
	for _, c := range logColumns {
		for what, v := range map[string]string{"null": "null", "text": `"abc"`, "list": "[1,2]", "spaces": `" 7"`} {
			r := base()
			r[c] = v
			out[c+" "+what] = []map[string]string{r}
		}
		r := base()
		delete(r, c)
		out[c+" absent"] = []map[string]string{r}
	}
	for _, extra := range []string{"obs_c", "next_obs_c", "patient_id", "prob_2", "action_probs", "observation", "t"} {
		r := base()
		r[extra] = "1"
		out["one more: "+extra] = []map[string]string{r}
	}
	return out
}

func asCSV(rows []map[string]string) string {
	var b strings.Builder
	columns := append(logColumns[:len(logColumns):len(logColumns)], wordColumns...)
	fmt.Fprintln(&b, strings.Join(columns, ","))
	quotes := !slices.ContainsFunc(rows, func(r map[string]string) bool { return strings.HasPrefix(r["note"], unquoted) })
	for _, r := range rows {
		for i, c := range columns {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(csvField(r[c], quotes))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func asNDJSON(rows []map[string]string) string {
	var b strings.Builder
	for _, r := range rows {
		var fields []string
		for _, c := range append(append(logColumns[:len(logColumns):len(logColumns)], wordColumns...), "obs_c", "next_obs_c", "patient_id", "prob_2", "action_probs", "observation", "t") {
			if v, ok := r[c]; ok {
				fields = append(fields, fmt.Sprintf("%q:%s", c, v))
			}
		}
		fmt.Fprintf(&b, "{%s}\n", strings.Join(fields, ","))
	}
	return b.String()
}

// decision is all that is read of one row.
type decision struct {
	Person, Episode string
	Obs             []float64
	Action          int32
	Reward          float64
	Probabilities   [3]float64
	Discount        float64
	Ended           bool
	Final           []float64
	Columns         []string
	Shares          [2]int // of how many episodes and rows
}

// decisions lists the rows of everybody but the hostile person.
func decisions(d *trajectory.Dataset) []decision {
	at := func(c []float64, i int) float64 {
		if c == nil {
			return -1
		}
		return c[i]
	}
	var out []decision
	for p := range d.Persons() {
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			if id := d.EpisodeID[e]; !strings.HasPrefix(id, "e") && !strings.HasPrefix(id, "u") || id == "ux" || strings.HasPrefix(id, "ux/") {
				continue
			}
			for i := d.EpisodeStart[e]; i < d.EpisodeStart[e+1]; i++ {
				out = append(out, decision{
					Person: d.PersonID[p], Episode: d.EpisodeID[e], Obs: d.Observation(i), Action: d.Action[i], Reward: d.Reward[i],
					Probabilities: [3]float64{at(d.BehaviorProb, i), at(d.TargetProb, i), at(d.ActionProbs, 2*i)}, Discount: at(d.Discount, i),
					Ended: d.Ended(e), Final: d.FinalObservation(e), Columns: d.Columns,
					Shares: [2]int{d.PersonStart[p+1] - d.PersonStart[p], d.EpisodeStart[e+1] - d.EpisodeStart[e]},
				})
			}
		}
	}
	return out
}

// One person's record changes nothing of what is read of the others, whatever it
// lacks or holds: the data are refused, or all others are read bit for bit as
// without it.
func TestOneRecordChangesNobodyElses(t *testing.T) {
	dir := t.TempDir()
	for format, encode := range map[string]func([]map[string]string) string{"csv": asCSV, "ndjson": asNDJSON} {
		for kind, o := range map[string]trajectory.Options{
			"found":    {Optional: trajectory.AllParts, Need: trajectory.Action, Missing: trajectory.MissingZero},
			"person":   {Optional: trajectory.AllParts, Need: trajectory.Action, Missing: trajectory.MissingZero, Unit: trajectory.UnitPerson, Observations: []string{"obs_a", "obs_b"}},
			"episode":  {Optional: trajectory.Final, Need: trajectory.Action | trajectory.BehaviorProb, Unit: trajectory.UnitEpisode, End: trajectory.EndTerminated, Observations: []string{"obs_a"}},
			"discount": {Optional: trajectory.Final, Need: trajectory.Action | trajectory.Discount, Unit: trajectory.UnitPerson, Observations: []string{"obs_a", "obs_b"}},
		} {
			path := filepath.Join(dir, "log."+format)
			read := func(rows []map[string]string) (*trajectory.Dataset, error) {
				if err := os.WriteFile(path, []byte(encode(rows)), 0o600); err != nil {
					t.Fatal(err)
				}
				d, _, err := file.Read(context.Background(), []string{path}, "", o)
				return d, err
			}
			alone, err := read(honest())
			if err != nil {
				t.Fatal(format, kind, err)
			}
			want, accepted := decisions(alone), 0
			for name, record := range hostile() {
				for place, rows := range map[string][]map[string]string{"first": append(record, honest()...), "last": append(honest(), record...)} {
					d, err := read(rows)
					if err != nil {
						var input *trajectory.InputError
						if !errors.As(err, &input) || input.File != path {
							t.Errorf("%s, %s, %s %s: %v; want an error that names the file", format, kind, name, place, err)
						}
						continue
					}
					accepted++
					if diff := cmp.Diff(want, decisions(d)); diff != "" {
						t.Errorf("%s, %s, %s %s: (-without +with)\n%.600s", format, kind, name, place, diff)
					}
				}
			}
			if accepted < 4 {
				t.Errorf("%s, %s: %d records were accepted; the comparison tells nothing", format, kind, accepted)
			}
		}
	}
}

// Whose the episodes of a Minari dataset are is the same question for all of them.
func TestMinariEpisodesHaveAUnitAllOrNone(t *testing.T) {
	d, _ := read(t, asCSV(honest()), everything())
	for _, layout := range []string{"minari", "minari-arrow"} {
		for _, field := range []string{"unit_id", "episode_id"} {
			for _, who := range []struct{ lacking, named int }{{0, 1}, {5, 5}, {3, 3}} {
				dir := filepath.Join(t.TempDir(), "log-v0")
				if err := file.Write(dir, layout, d); err != nil {
					t.Fatal(err)
				}
				edit := filepath.Join(dir, "data", fmt.Sprint(who.lacking), "metadata.json")
				text, err := os.ReadFile(edit)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(edit, []byte(strings.Replace(string(text), `"`+field+`"`, `"was"`, 1)), 0o600); err != nil {
					t.Fatal(err)
				}
				_, _, err = file.Read(context.Background(), []string{dir}, "minari", everything())
				want := filepath.Join(dir, "data", fmt.Sprint(who.named), "metadata.json") + ": " + field + ": this episode has "
				if !errors.Is(err, trajectory.ErrColumn) || !strings.HasPrefix(fmt.Sprint(err), want) {
					t.Errorf("%s without %s in episode %d: %v; want %s...", layout, field, who.lacking, err, want)
				}
			}
		}
	}
}

// Files of one dataset agree about every column.
func TestFilesAgreeAboutColumns(t *testing.T) {
	for _, c := range []string{"step", "unit_id", "action", "behavior_prob", "target_prob", "terminated", "truncated", "discount"} {
		dir := t.TempDir()
		all := strings.Split(strings.TrimSpace(asCSV(honest()[:2])), "\n")
		k := -1
		for i, name := range logColumns {
			if name == c {
				k = i
			}
		}
		var without []string
		for i, line := range all {
			fields := strings.Split(strings.ReplaceAll(line, "e0", "other"), ",")
			if i == 0 {
				fields = strings.Split(line, ",")
			}
			without = append(without, strings.Join(append(fields[:k:k], fields[k+1:]...), ","))
		}
		for name, lines := range map[string][]string{"1.csv": all, "2.csv": without} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := file.Read(context.Background(), []string{filepath.Join(dir, "*.csv")}, "", everything())
		if !errors.Is(err, trajectory.ErrColumn) || !strings.Contains(fmt.Sprint(err), "2.csv: it lacks ") || !strings.Contains(fmt.Sprint(err), c) {
			t.Errorf("a second file without %s: %v", c, err)
		}
	}
}

// An id in two spellings is refused wherever the second one comes, and whatever is
// the unit; ids that differ in more than spelling are not.
func TestIdsInTwoSpellingsAreRefused(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		ids  string
		same bool
	}{
		{"7,07", true}, {"07,7", true}, {"7,7.0", true}, {"7, 7", true}, {"7,+7", true}, {"07,007", true}, {"+7,7.00", true}, {"0,-0", true}, {"-3,-03", true},
		{"ann, ann", true}, {"a b,a\tb", true}, {"a b,a  b", true}, {"7 ,8", false}, {"7,8", false}, {"7,7.5", false}, {"7,-7", false}, {"a7,a07", false}, {"7,7a", false}, {"7,1e7", false}, {"7,7e0", true}, {"7,70E-1", true}, {"700,7e2", true}, {"0.5,.5", true}, {"7.5,7.50", true}, {"1e400,10e399", true}, {"5e-1,0.5", true}, {"1e50,1e51", false},
		{"7,\uff17", true}, {"Zo\u00eb,Zoe\u0308", true}, {"\ufb01,fi", true}, {"Ann Lee,Ann\u00a0Lee", true}, {"\u0627\u0628,\u0627\u200c\u0628", true}, {"Zoe,Zo\u00eb", false}, {"ann,Ann", false},
		{"0,00x", false}, {".,.0", false},
		// What a spreadsheet makes of an id, or puts around it so that it makes nothing of it.
		{`7,""7""`, true}, {"7,'7", true}, {"7,\u20197", true}, {`7,=""7""`, true}, {"7,=7", true}, {"ann,'ann", true}, {"ann,\u201cann\u201d", true}, {"O'Neil,ONeil", false}, {`"",'`, false},
		{"7,\u0667", true}, {"7,\u06f7", true}, {"17,\u09e7\u09ed", true}, {"a1,a\u0661", true}, {"7,\u2466", true}, {"7,\U0001d7d5", true}, {"7,\u0668", false},
		{"a-7,a\u20117", true}, {"a-7,a\u20137", true}, {"-7,\u22127", true}, {"a-7,a_7", false}, {"a-7,a7", false},
		{"7,0x7", true}, {"31,0X1F", true}, {"0x1f,0x1F", true}, {"0x1g,1", false}, {"x7,7", false},
		{"1000,1 000", true}, {"1000,1\u202f000", true}, {"1000,1'000", true}, {"1234567,1'234'567", true}, {"1000,1 00", false}, {"1 000 a,1000a", false},
		{"M\xfcller,M\xf6ller", false},
	} {
		first, second, _ := strings.Cut(c.ids, ",")
		for _, ids := range [][2]string{{first, second}, {second, first}} {
			for kind, text := range map[string]string{
				"unit_id":    fmt.Sprintf("episode_id,unit_id,reward\na,\"%s\",0\nb,other,0\nc,\"%s\",0\nd,\"%[1]s\",0\n", ids[0], ids[1]),
				"episode_id": fmt.Sprintf("episode_id,reward\n\"%s\",0\nother,0\n\"%s\",0\n", ids[0], ids[1]),
			} {
				path := filepath.Join(dir, "log.csv")
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				_, _, err := file.Read(context.Background(), []string{path}, "", trajectory.Options{})
				want := path + ":4: " + kind + ": is another spelling of the id in row 2 of " + path + ", and would count as another unit; "
				if c.same != errors.Is(err, trajectory.ErrValue) || c.same && !strings.HasPrefix(err.Error(), want) || !c.same && err != nil {
					t.Errorf("%s %q and %q: %v", kind, ids[0], ids[1], err)
				}
			}
		}
	}
}

// An id with a character that nobody sees is refused by itself, whatever the others
// are.
func TestIdsThatHideCharactersAreRefused(t *testing.T) {
	for _, c := range []struct {
		id     string
		unseen bool
	}{
		{"7\u200b", true}, {"\ufeff7", true}, {"7\u00ad", true}, {"7\x01", true}, {"\u202e7", true}, {"7\x7f", true}, {"\u2066a", true},
		{"a\u034f", true}, {"a\u3164", true}, {"\uffa0a", true}, {"a\u17b4", true}, {"a\u2800", true},
		{"\u0627\u200c\u0628", false}, {"Zo\u00eb", false}, {"\u75c5\u4eba1", false}, {"M\xfcller", false}, {"a b", false}, {"a\tb\nc", false},
	} {
		path := put(t, "log.csv", fmt.Sprintf("episode_id,unit_id,reward\na,\"%s\",0\n", c.id))
		_, _, err := file.Read(context.Background(), []string{path}, "", trajectory.Options{Multiline: true})
		if want := path + ":2: unit_id: holds a character that cannot be seen; write ids without"; c.unseen != (err != nil) || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", c.id, err)
		}
	}
}

// An id that is too long is a fault of its own episode in every format: whoever repairs leaves that one out, and
// reads all others as they are.
func TestALongIdIsAFaultOfItsEpisode(t *testing.T) {
	lengths := []int{3, 1100, 2} // of the episodes, one of which is more than a batch of rows
	for name, format := range map[string]string{"log.csv": "csv", "log.ndjson": "ndjson", "log.parquet": "parquet", "trees": "minari", "arrows": "minari-arrow"} {
		for _, column := range []string{"unit_id", "episode_id"} {
			for _, n := range []int{table.MaxKey, table.MaxKey + 1, 6000} {
				var b trajectory.Builder
				for i, steps := range lengths {
					e := trajectory.Episode{Person: i, Columns: []string{"obs_state"}, Terminated: true, Final: []float64{9}}
					for k := range steps {
						e.Obs, e.Action, e.Reward = append(e.Obs, float64(k)), append(e.Action, int32(k%2)), append(e.Reward, float64(100*i+k%7))
					}
					b.Add(&e)
				}
				d := b.Dataset()
				d.PersonID, d.EpisodeID = []string{"a", "b", "c"}, []string{"e0", "e1", "e2"}
				if long := strings.Repeat("x", n); column == "unit_id" {
					d.PersonID[1] = long
				} else {
					d.EpisodeID[1] = long
				}
				path := filepath.Join(t.TempDir(), name)
				if err := file.Write(path, format, d); err != nil {
					t.Fatal(err)
				}
				o := trajectory.Options{Unit: trajectory.UnitPerson, Observations: []string{"obs_state"}}
				_, _, err := file.Read(t.Context(), []string{path}, strings.TrimSuffix(format, "-arrow"), o)
				if n <= table.MaxKey {
					if err != nil {
						t.Errorf("%s, %s of %d bytes: %v", format, column, n, err)
					}
					continue
				}
				if err == nil || !errors.Is(err, trajectory.ErrValue) || !strings.HasSuffix(err.Error(), column+": is longer than 4096 bytes; write shorter ids") {
					t.Errorf("%s, %s of %d bytes: %.300v", format, column, n, err)
				}
				o.Repair = true
				got, _, err := file.Read(t.Context(), []string{path}, strings.TrimSuffix(format, "-arrow"), o)
				if err != nil {
					t.Errorf("%s, %s of %d bytes, repaired: %.300v", format, column, n, err)
					continue
				}
				want := slices.Concat(d.Reward[:lengths[0]], d.Reward[lengths[0]+lengths[1]:])
				if got.Persons() != 3 || got.Episodes() != 2 || !slices.Equal(got.Reward, want) {
					t.Errorf("%s, %s of %d bytes: %d persons, %d episodes, rewards %v; want %v", format, column, n, got.Persons(), got.Episodes(), got.Reward, want)
				}
			}
		}
	}
}

// A key of any length costs no more memory than its beginning.
func TestLongIdsAreRefused(t *testing.T) {
	long := strings.Repeat("x", 4097)
	for name, text := range map[string]string{
		"log.csv":    "episode_id,unit_id,reward\na," + long[1:] + ",0\nb," + long + ",0\n",
		"log.ndjson": `{"episode_id":"a","unit_id":"` + long[1:] + `","reward":0}` + "\n" + `{"episode_id":"b","unit_id":"` + long + `","reward":0}`,
	} {
		path := put(t, name, text)
		row := map[string]string{"log.csv": ":3", "log.ndjson": ":2"}[name]
		_, _, err := file.Read(context.Background(), []string{path}, "", trajectory.Options{Unit: trajectory.UnitPerson})
		if err == nil || err.Error() != path+row+": unit_id: is longer than 4096 bytes; write shorter ids" || strings.Contains(err.Error(), "xx") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of two decimal numbers as ids, those of one value are one id, and no others:
// math/big says which are.
func TestNumbersOfOneValueAreOneId(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	digits := rapid.StringMatching(`[+-]?0{0,2}(0|[1-9]|[1-9]0|10)(\.[05]{0,2})?(e[+-]?0?[0-3])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := digits.Draw(t, "a"), digits.Draw(t, "b")
		if a == b {
			return
		}
		x, ok := new(big.Rat).SetString(a)
		y, ok2 := new(big.Rat).SetString(b)
		if !ok || !ok2 {
			t.Fatalf("%q, %q", a, b)
		}
		if err := os.WriteFile(path, []byte("episode_id,unit_id,reward\na,"+a+",0\nb,"+b+",0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := file.Read(context.Background(), []string{path}, "", trajectory.Options{})
		if same := x.Cmp(y) == 0; same != (err != nil) {
			t.Fatalf("%s and %s: %v", a, b, err)
		}
	})
}
