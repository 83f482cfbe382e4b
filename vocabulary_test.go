package discreet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// The three forms of a vocabulary, and what is a number in it and what is text.
func TestVocabularyForms(t *testing.T) {
	for form, want := range map[string]config.Vocabulary{
		"[placebo, progabide]":        {Words: []string{"placebo", "progabide"}},
		"{b: 0, a: 2, c: 0.5}":        {Words: []string{"b", "c", "a"}, Codes: []float64{0, 0.5, 2}},
		"{one_hot: [1, 2.50, 4]}":     {Words: []string{"1", "2.5", "4"}, Numeric: true, OneHot: true},
		"{one_hot: 1}":                {Words: []string{"one_hot"}, Codes: []float64{1}},
		"['1', '2']":                  {Words: []string{"1", "2"}},
		"['1', two]":                  {Words: []string{"1", "two"}},
		"{1: 0, 2: 1}":                {Words: []string{"1", "2"}, Codes: []float64{0, 1}, Numeric: true},
		"[false, true]":               {Words: []string{"0", "1"}, Numeric: true},
		"{yes: true, no: false}":      {Words: []string{"no", "yes"}, Codes: []float64{0, 1}},
		"[no, yes, on, off, n, y, N]": {Words: []string{"no", "yes", "on", "off", "n", "y", "N"}},
	} {
		c, err := discreet.Parse("x", []byte("data: {actions: "+form+"}"))
		if err != nil {
			t.Errorf("%s: %v", form, err)
		} else if diff := cmp.Diff(want, *c.Data.Actions); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", form, diff)
		}
	}
	for form, want := range map[string]string{
		"5": "want a list of values", "[null]": "put others in quotes", "[[a]]": "put others in quotes", "[2024-01-05]": "put others in quotes",
		"{a: b}": "want a number for the value a", "{a: null}": "want a number for the value a", "[010]": "leading zeros",
		"[false, true, unknown]": "put each in quotes", "[unknown, 1.0]": "put each in quotes", "{true: 0, unknown: 1}": "put each in quotes", "{one_hot: [1, two]}": "put each in quotes",
	} {
		if _, err := discreet.Parse("x", []byte("data: {actions: "+form+"}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", form, err, want)
		}
	}
}

// Whatever stands in place of a vocabulary is refused, or has as many codes as words
// or none, and a configuration with it has a hash.
func FuzzVocabulary(f *testing.F) {
	for _, s := range []string{"[a, b]", "{a: 0, b: 1}", "{one_hot: [1, 2]}", "{1: .inf}", "[.nan]", "{? [a] : 1}", "!!str 5", "&a [*a]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, form string) {
		c, err := discreet.Parse("x", []byte("data: {path: x.csv, actions: "+form+"}\n"))
		if err != nil || c.Data.Actions == nil {
			return
		}
		v := trajectory.Vocabulary(*c.Data.Actions)
		if v.Codes != nil && len(v.Codes) != len(v.Words) {
			t.Fatalf("%d words and %d codes", len(v.Words), len(v.Codes))
		}
		o := trajectory.Options{Encode: map[string]trajectory.Vocabulary{"action": v}}
		if o.Validate() != nil {
			return
		}
		for i := range v.Words {
			if k := v.Code(i); k < 0 || k != math.Trunc(k) {
				t.Fatalf("an action is numbered %g", k)
			}
		}
		if _, err := json.Marshal(c.Data); err != nil {
			t.Fatal(err)
		}
	})
}

// What a quoted vocabulary lists is found in a file as it is written there.
func TestQuotedWordsAreComparedAsTheyAreWritten(t *testing.T) {
	for _, words := range [][]string{{"false", "true", "unknown"}, {"1.0", "2.0", "unknown"}, {"1", "01", "x"}} {
		var rows strings.Builder
		for i, word := range words {
			fmt.Fprintf(&rows, "e%d,%s,%s,%d\n", i, word, word, i)
		}
		path := filepath.Join(t.TempDir(), "log.csv")
		if err := os.WriteFile(path, []byte("episode_id,action,obs_x,reward\n"+rows.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := json.Marshal(words) // which is YAML, in quotes
		if err != nil {
			t.Fatal(err)
		}
		c, err := discreet.Parse("x", fmt.Appendf(nil, "data: {path: %s, on_violation: reject, actions: %s, encode: {x: %s}}", path, list, list))
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := file.Read(context.Background(), c.Data.Path, "", trajectory.Options{Need: trajectory.Action, Observations: []string{"obs_x"},
			Encode: map[string]trajectory.Vocabulary{"action": trajectory.Vocabulary(*c.Data.Actions), "x": trajectory.Vocabulary(c.Data.Encode["x"])}})
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		for i, reward := range d.Reward {
			if float64(d.Action[i]) != reward || d.Obs[i] != reward {
				t.Errorf("%q: row %d is action %d and observation %g", words, i, d.Action[i], d.Obs[i])
			}
		}
	}
}

func TestMarkersAreBounded(t *testing.T) {
	for n, ok := range map[int]bool{1000: true, 1001: false} {
		_, err := discreet.Parse("x", []byte("data: {na: [&a x"+strings.Repeat(", *a", n-1)+"]}"))
		if (err == nil) != ok {
			t.Errorf("%d markers: %v", n, err)
		}
	}
}
