package scale

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// spoiled are ways in which data can be wrong, in one file or between two. A line is
// episode, person and reward.
var spoiled = map[string][]string{
	"episode apart":            {"a,P,1|b,Q,1|a,P,1"},
	"episode in two files":     {"a,P,1|b,Q,1", "a,P,1|c,R,1"},
	"last and first episode":   {"b,Q,1|a,P,1", "a,P,1|c,R,1"},
	"episode of two persons":   {"a,P,1|b,Q,1", "c,R,1|a,S,1"},
	"person changes":           {"a,P,1|a,Q,1|b,R,1"},
	"person vanishes":          {"a,P,1|a,,1|b,,1|b,R,1"},
	"two spellings":            {"a,7,1|b,P,1", "c,07,1|d, 7,1|e,7.0,1|f,7,1"},
	"odd spelling first":       {"a,07,1|b,8,1", "c,7,1|d,08,1"},
	"accents":                  {"a,Ren\u00e9,1|b,Rene\u0301,1"},
	"unseen":                   {"a,x\x01,1|b,y\x01,1|c,07,1|d,7,1|e,x\x01,1"},
	"NUL":                      {"a,x\x00y,1|b,xy,1"},
	"long":                     {"a," + strings.Repeat("x", 5000) + ",1|b,P,1"},
	"empty":                    {"a,,1|b,\"\",1"},
	"rewards":                  {"a,P,9|b,Q,8|b,Q,word", "c,P,1|d,R,7"},
	"all at once":              {"a,P,9|a,Q,1|a,,1|b,7,x", "a,07,1|b,P,9|a,x\x01,1|c,7,1|c,8,NaN"},
	"broken":                   {"a,P,9|b,Q", "c,R,1"},
	"an empty file and faults": {"", "a,P,9|b,Q,1"},
	"no row":                   {"", ""},
	"more than are told":       {strings.TrimSuffix(strings.Repeat("a,P,9|b,P,1|", 30), "|"), strings.TrimSuffix(strings.Repeat("a,7,1|b,07,9|", 30), "|")},
}

// right are data with ids that only look wrong.
var right = map[string][]string{
	"case":             {"a,P,1|b,p,1|c,P,1"},
	"long":             {"a," + strings.Repeat("x", 4096) + ",1|b," + strings.Repeat("x", 4095) + ",1"},
	"an empty file":    {"", "a,P,1|b,Q,1"},
	"person in two":    {"a,P,1|b,Q,1", "c,P,1|d,R,1"},
	"quotes and lines": {"a,\"P,\"\"1\"\"\",1|b,Q,1"},
	"episode's case":   {"a,P,1|A,Q,1"},
	"person's episode": {"P,P,1|Q,Q,1"},
	"invalid UTF-8":    {"a,\xff,1|b,\xff\xff,1"},
}

func rows(t testing.TB, texts []string) []string {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, text := range texts {
		name := filepath.Join(dir, fmt.Sprintf("%d.csv", i))
		if text != "" {
			text += "\n"
		}
		text = "episode_id,unit_id,reward\n" + strings.ReplaceAll(text, "|", "\n")
		if i > 0 { // columns in another order
			lines := strings.Split(text, "\n")
			for j, l := range lines {
				if c := strings.Split(l, ","); len(c) == 3 {
					lines[j] = c[2] + "," + c[1] + "," + c[0]
				}
			}
			text = strings.Join(lines, "\n")
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// told is an error by what it says: of several faults those that are told, with rows, and
// how many there are of each kind, in any order.
func told(err error) string {
	var several *trajectory.FaultsError
	if !errors.As(err, &several) {
		return fmt.Sprint(err)
	}
	lines := []string{fmt.Sprintf("%d faults in all", several.Total)}
	for i, f := range several.First {
		lines = append(lines, f.Error())
		if i > 0 && f.File == several.First[i-1].File && f.Row < several.First[i-1].Row {
			lines = append(lines, "out of order")
		}
	}
	for _, k := range several.Kinds {
		lines = append(lines, fmt.Sprintf("%d %s", k.Faults, k))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestWhatIsWrongIsToldAsInMemory, with file, row and words, whichever shards the persons
// and names are in, and nothing is left behind.
func TestWhatIsWrongIsToldAsInMemory(t *testing.T) {
	for name, texts := range spoiled {
		for _, faults := range []int{20, 0} {
			for _, shards := range []int{1, 2, 16, 300} {
				dir := t.TempDir()
				s := Sharding{Data: rows(t, texts), Options: trajectory.Options{Unit: trajectory.UnitPerson, Reward: &trajectory.Range{Max: 1}, Faults: faults}, Dir: filepath.Join(dir, "out"), Shards: shards}
				_, want := inMemory(s)
				_, got := s.write(t.Context(), fixedKey)
				if want == nil || got == nil || told(want) != told(got) {
					t.Errorf("%s, %d shards, %d faults: got\n%s\nwant\n%s", name, shards, faults, told(got), told(want))
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
					t.Errorf("%s: left %v, %v", name, left, err)
				}
			}
		}
	}
	for name, texts := range right {
		t.Run(name, func(t *testing.T) {
			same(t, Sharding{Data: rows(t, texts), Options: trajectory.Options{Unit: trajectory.UnitPerson, Faults: 20}, Shards: 1})
		})
	}
}
