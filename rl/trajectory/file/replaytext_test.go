package file_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// unquoted begins a value that a program writes as it is, without quotes.
const unquoted = "\x00"

// csvField is a value as a field: text is in quotes, and those inside are doubled.
func csvField(v string, quotes bool) string {
	var text string
	switch {
	case strings.HasPrefix(v, unquoted):
		return v[len(unquoted):]
	case v == "null" || strings.HasPrefix(v, "["):
		return ""
	case strings.HasPrefix(v, "{"):
		text = v
	case !strings.HasPrefix(v, `"`) || json.Unmarshal([]byte(v), &text) != nil:
		return v
	}
	if !quotes {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// freeTexts are what a person may write into a field of free text: what opens, closes and
// doubles quotes, separators, whole rows, and ends of lines of all kinds.
var freeTexts = []string{`"tired`, `better"`, `"`, `""`, `"""`, `he said "no"`, `"a","b"`, "a,b", ",,,,,,", "'", `\"`, `"}`, `{"unit_id":"u0"}`,
	"\r", "a\rb", "\x01", "\u2028", "\u2029", "\u0085", "\v\f", "\ufeff", "-1"}

// linedTexts hold line ends, too, which a program that uses no quotes cannot write.
var linedTexts = append([]string{"\n", "\r\n", "a\nb", "\"\n\"", "\"\n", "\n\"", "x\ne0.0,9,u0,1,1,1,1,1,1,1,1,true,false,1,1,1,1,1,2024-01-01,placebo,f,ill,\n"}, freeTexts...)

// hostileTexts has a person write into the free text of some rows. At times the program
// that writes them to a CSV file uses no quotes, unless the question states that it does; a
// text is then of one line.
func hostileTexts(r *rand.Rand, format string, multiline bool, rows record) {
	from, plain := linedTexts, format == "csv" && !multiline && r.IntN(2) == 0
	if plain {
		from = freeTexts
	}
	first, last := rows[0], rows[len(rows)-1]
	if plain && r.IntN(2) == 0 {
		first["note"], last["note"] = unquoted+[]string{`"tired`, `"`}[r.IntN(2)], unquoted+[]string{`better"`, `"`}[r.IntN(2)]
		return
	}
	for _, row := range rows {
		if r.IntN(3) > 0 {
			text := from[r.IntN(len(from))]
			if quoted, err := json.Marshal(text); err == nil {
				row["note"] = string(quoted)
			}
			if plain {
				row["note"] = unquoted + text
			}
		}
	}
}

// among puts a record among those of others, at one place where one of them begins or, at
// times, its last rows at another.
func among(r *rand.Rand, others record, begin []int, rows record) record {
	places := append(slices.Clone(begin), len(others))
	first, second := places[r.IntN(len(places))], places[r.IntN(len(places))]
	cut := len(rows)
	if r.IntN(3) == 0 {
		cut = r.IntN(len(rows) + 1)
	}
	first, second = min(first, second), max(first, second)
	if cut == len(rows) {
		return slices.Insert(slices.Clone(others), first, rows...)
	}
	return slices.Concat(others[:first], rows[:cut], others[first:second], rows[cut:], others[second:])
}

// The texts of one person, in rows that stand apart and in a column that nobody reads,
// are not one field that holds everything between them, and neither is one text that
// opens a quote. What whoever wrote the file does with quotes is for the curator to state.
func TestOneTextSwallowsNobodysRecords(t *testing.T) {
	log := func(first, second string) string {
		var b strings.Builder
		b.WriteString("episode_id,unit_id,reward,note\n")
		for visit, text := range []string{first, second} {
			for p := range 400 {
				note := "well"
				if p == 7 {
					note = text
				}
				b.WriteString(strings.Join([]string{strconv.Itoa(1000*visit + p), "p" + strconv.Itoa(p), strconv.Itoa(visit), note}, ",") + "\n")
			}
		}
		return b.String()
	}
	o := trajectory.Options{Unit: trajectory.UnitPerson, Repair: true, Missing: trajectory.MissingZero}
	for name, texts := range map[string][2]string{
		"open and close":        {`"tired`, `better"`},
		"open":                  {"well", `"tired`},
		"line ends within":      {"\"tired\nand cold\"", "well"},
		"quote within":          {`6" tall`, "well"},
		"carriage return after": {"\"tired\r", "better\""},
	} {
		path := put(t, "log.csv", log(texts[0], texts[1]))
		d, _, err := file.Read(t.Context(), []string{path}, "", o)
		if err == nil {
			t.Errorf("%s: %d persons with %d episodes were read; want an error", name, d.Persons(), d.Episodes())
		} else if row, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), path+":"), ":"); row != map[bool]string{true: "9", false: "409"}[texts[0] != "well"] {
			t.Errorf("%s: %v; want the line of the text", name, err)
		}
	}
	quoted := log("\"tired\n\"\"and\"\" cold\"", `"better"`)
	o.Multiline = true
	d, _, err := file.Read(t.Context(), []string{put(t, "log.csv", quoted)}, "", o)
	if err != nil || d.Episodes() != 800 {
		t.Errorf("in quotes: %v", err)
	}
	// Lines and records are counted for the curator.
	sum, err := file.Validate(t.Context(), []string{put(t, "log.csv", quoted)}, "", o)
	if err != nil || sum.Lines != 802 || sum.Records != 800 || sum.Rows != 800 {
		t.Errorf("%d lines, %d records, %d rows, %v; want 802, 800, 800", sum.Lines, sum.Records, sum.Rows, err)
	}
	// So they are where several workers read ranges of the file, and of several files.
	long := log("well", "well") + strings.Repeat("\n", 1<<21)
	dir := t.TempDir()
	for _, name := range []string{"1.csv", "2.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(long, "00", strings.TrimSuffix(name, ".csv")+"00")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum, err = file.Validate(t.Context(), []string{filepath.Join(dir, "1.csv")}, "", o)
	if err != nil || sum.Lines != 801+1<<21 || sum.Records != 800 {
		t.Errorf("%d lines, %d records, %v; want %d, 800", sum.Lines, sum.Records, err, 801+1<<21)
	}
	if sum, err = file.Validate(t.Context(), []string{put(t, "log.ndjson", `{"episode_id":1,"reward":0}`+"\n")}, "", everything()); err != nil || sum.Lines != 0 || sum.Records != 1 {
		t.Errorf("NDJSON: %d lines, %d records, %v; want 0, 1", sum.Lines, sum.Records, err)
	}
}

// A record of NDJSON is a line: a line end inside a text is not JSON, and neither is a
// second object on a line, whatever white space stands between them.
func TestALineOfNDJSONIsARecord(t *testing.T) {
	one, two := `{"episode_id":"a","reward":0,"note":"x"}`, `{"episode_id":"b","reward":1,"note":"y"}`
	for name, c := range map[string]struct {
		text string
		rows int
	}{
		"lines":                  {one + "\n" + two, 2},
		"CRLF":                   {one + "\r\n" + two + "\r\n", 2},
		"escaped line ends":      {strings.Replace(one, `"x"`, `"\n\r\u2028\u0085\"}\n{"`, 1) + "\n" + two, 2},
		"separators as they are": {strings.Replace(one, "x", "\u2028\u2029\u0085\x7f", 1) + "\n" + two, 2},
		"line end in a text":     {strings.Replace(one, "x", "x\n", 1) + "\n" + two, 0},
		"CR in a text":           {strings.Replace(one, "x", "x\r", 1) + "\n" + two, 0},
		"NUL in a text":          {strings.Replace(one, "x", "x\x00", 1) + "\n" + two, 0},
		"CR alone":               {one + "\r" + two, 0},
		"U+2028 alone":           {one + "\u2028" + two, 0},
		"quote in a text":        {strings.Replace(one, "x", `x"`, 1) + "\n" + two, 0},
		"a key in a text":        {strings.Replace(one, "x", `x","episode_id":"b`, 1) + "\n" + two, 0},
		"open to the end":        {one + "\n" + strings.TrimSuffix(two, `"}`), 0},
	} {
		d, _, err := file.Read(t.Context(), []string{put(t, "log.ndjson", c.text)}, "", everything())
		if (err != nil) != (c.rows == 0) || err == nil && d.Rows() != c.rows {
			t.Errorf("%s: %v; want %d rows", name, err, c.rows)
		}
	}
}
