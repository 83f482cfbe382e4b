package file_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Vocabularies of the log below, in which an arm, an outcome, the flags, a sex and a
// stage are as people write them.
var vocabularies = map[string]trajectory.Vocabulary{
	"action":     {Words: []string{"placebo", "low dose", "high; dose"}, Codes: []float64{0, 4, 2}},
	"reward":     {Words: []string{"dead", "ill", "well"}, Codes: []float64{-1, 0, 0.25}},
	"terminated": {Words: []string{"no", "yes"}},
	"sex":        {Words: []string{"f", "m"}},
	"obs_stage":  {Words: []string{"1", "2", "4"}, Numeric: true, OneHot: true},
}

// coded are the observations that sex and stage become.
var coded = []string{"obs_sex", "obs_stage_1", "obs_stage_4", "obs_stage_2"}

// spoken draws a log twice: as people write it, and as the canonical schema does,
// where every word is a number by hand and a stage is three columns.
func spoken(t *rapid.T) (words, numbers []map[string]string) {
	pick := func(v trajectory.Vocabulary, name string, missing bool) (word, code string) {
		i := rapid.IntRange(-1, len(v.Words)-1).Draw(t, name)
		if i < 0 && missing {
			return "null", "null"
		}
		i = max(i, 0)
		return strconv.Quote(v.Words[i]), fmt.Sprint(v.Code(i))
	}
	for e := range rapid.IntRange(1, 4).Draw(t, "episodes") {
		n := rapid.IntRange(1, 3).Draw(t, "decisions")
		day := 0.0
		for s := range n {
			day += rapid.Float64Range(0.25, 40).Draw(t, "day")
			id := map[string]string{"episode_id": fmt.Sprintf(`"e%d"`, e), "unit_id": fmt.Sprintf(`"u%d"`, e/2), "behavior_prob": "0.5"}
			w, c := maps.Clone(id), maps.Clone(id)
			for _, v := range []string{"next_sex", "next_obs_stage"} {
				w[v] = "null"
			}
			for _, v := range coded {
				c["next_"+v] = "null"
			}
			w["day"], c["step"] = fmt.Sprint(day), fmt.Sprint(s)
			w["arm"], c["action"] = pick(vocabularies["action"], "arm", false)
			w["outcome"], c["reward"] = pick(vocabularies["reward"], "outcome", false)
			w["over"], c["terminated"] = `"no"`, "false"
			if s == n-1 && rapid.Bool().Draw(t, "over") {
				w["over"], c["terminated"] = `"yes"`, "true"
			}
			w["Sex"], c["obs_sex"] = pick(vocabularies["sex"], "sex", true)
			stage := vocabularies["obs_stage"]
			w["obs_stage"], _ = pick(stage, "stage", true)
			w["obs_stage"] = strings.Trim(w["obs_stage"], `"`)
			for _, v := range stage.Words {
				c["obs_stage_"+v] = map[bool]string{true: "1", false: "0"}[w["obs_stage"] == v]
				if w["obs_stage"] == "null" {
					c["obs_stage_"+v] = "null"
				}
			}
			if s > 0 { // what comes next is what this row observes
				words[len(words)-1]["next_sex"], words[len(words)-1]["next_obs_stage"] = w["Sex"], w["obs_stage"]
				for _, v := range coded {
					numbers[len(numbers)-1]["next_"+v] = c[v]
				}
			}
			words, numbers = append(words, w), append(numbers, c)
		}
	}
	return words, numbers
}

// text writes rows as CSV with a separator and a marker of missing values, or as NDJSON.
func text(rows []map[string]string, format, separator, missing string) string {
	columns := map[string]bool{}
	for _, r := range rows {
		for c := range r {
			columns[c] = true
		}
	}
	names := slices.Sorted(maps.Keys(columns))
	var b strings.Builder
	if format == "csv" {
		b.WriteString(strings.Join(names, separator) + "\n")
	}
	for _, r := range rows {
		var fields []string
		for _, c := range names {
			v, ok := r[c]
			switch {
			case format == "ndjson" && ok:
				fields = append(fields, strconv.Quote(c)+":"+v)
			case format == "csv" && (!ok || v == "null"):
				fields = append(fields, missing)
			case format == "csv":
				fields = append(fields, v)
			}
		}
		if format == "csv" {
			b.WriteString(strings.Join(fields, separator) + "\n")
		} else {
			b.WriteString("{" + strings.Join(fields, ",") + "}\n")
		}
	}
	return b.String()
}

// A log in people's words is read, by vocabularies, as the log in which somebody
// replaced each word by its number: every value, flag, next observation and missing
// value.
func TestWordsAreReadAsTheirNumbers(t *testing.T) {
	dir := t.TempDir()
	get := func(t *rapid.T, rows []map[string]string, format string, o trajectory.Options, separator, missing string) *trajectory.Dataset {
		path := filepath.Join(dir, "log."+format)
		if err := os.WriteFile(path, []byte(text(rows, format, separator, missing)), 0o600); err != nil {
			t.Fatal(err)
		}
		d, _, err := file.Read(context.Background(), []string{path}, "", o)
		if err != nil {
			t.Fatalf("%v\n%s", err, text(rows, format, separator, missing))
		}
		return d
	}
	rapid.Check(t, func(t *rapid.T) {
		words, numbers := spoken(t)
		plain := trajectory.Options{Observations: coded, Need: trajectory.Action | trajectory.BehaviorProb,
			Optional: trajectory.Final, Unit: trajectory.UnitPerson, Missing: trajectory.MissingMean,
			Means: map[string]float64{"obs_sex": 0.5, "obs_stage_1": 0.25, "obs_stage_2": 0.125, "obs_stage_4": 0.625}}
		o := plain
		o.Columns = map[string]string{"step": "day", "action": "arm", "reward": "outcome", "terminated": "over", "obs_sex": "Sex", "next_obs_sex": "next_sex"}
		o.Encode, o.Steps = vocabularies, trajectory.Steps{Ordered: true}
		want := get(t, numbers, "csv", plain, ",", "")
		apart := cmp.Options{cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow"), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(want, get(t, words, "ndjson", o, "", ""), apart); diff != "" {
			t.Fatalf("NDJSON: (-numbers +words)\n%s", diff)
		}
		o.Separator = rapid.SampledFrom([]byte{',', ';', '\t', '|'}).Draw(t, "separator")
		marker := rapid.SampledFrom([]string{"", "NA", ".", "-9"}).Draw(t, "marker")
		o.NA = []string{"NA", ".", "-9", ""}
		if diff := cmp.Diff(want, get(t, words, "csv", o, string(o.Separator), marker), apart); diff != "" {
			t.Fatalf("CSV: (-numbers +words)\n%s", diff)
		}
	})
}
