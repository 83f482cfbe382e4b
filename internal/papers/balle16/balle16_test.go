package balle16_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/papers/balle16"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

func Example() {
	dir, err := os.MkdirTemp("", "balle16")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	done, err := figure.Run(context.Background(), balle16.Study(), figure.Options{Dir: dir, Items: []string{"theorem11"}, Quick: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range done.Claims {
		fmt.Println(c.ID, c.Holds)
	}
	// Output:
	// theorem11-one-state false
	// theorem11-chain-printed false
	// theorem11-chain-corrected true
}

// The first jobs of a quick run, whatever they are, give numbers above 0 for
// every curve of some panel, and the same ones again.
func TestEveryItemsTrialsRepeat(t *testing.T) {
	for _, item := range balle16.Study().Items {
		jobs := item.Jobs(true)
		keys := map[string]bool{}
		for _, j := range append(jobs, item.Jobs(false)...) {
			keys[j.Key] = true
		}
		if len(keys) < len(item.Jobs(false)) {
			t.Errorf("%s: keys are not unique", item.Name)
		}
		first, err := jobs[0].Run(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", item.Name, err)
		}
		again, err := jobs[0].Run(context.Background())
		if err != nil || fmt.Sprint(first) != fmt.Sprint(again) {
			t.Errorf("%s: a second run of %s differs (%v)", item.Name, jobs[0].Key, err)
		}
		for _, s := range first {
			if !(s.Y > 0) || math.IsInf(s.Y, 0) {
				t.Errorf("%s: %+v", item.Name, s)
			}
			if !drawn(item, s) {
				t.Errorf("%s: series %q of panel %q is not drawn", item.Name, s.Series, s.Panel)
			}
		}
	}
}

func drawn(item figure.Item, s figure.Sample) bool {
	for _, p := range item.Panels {
		for _, c := range p.Curves {
			if p.Name == s.Panel && c.Series == s.Series {
				return true
			}
		}
	}
	return false
}

func TestPageNamesEveryClaim(t *testing.T) {
	dir := t.TempDir()
	done, err := figure.Run(context.Background(), balle16.Study(), figure.Options{Dir: dir, Items: []string{"theorem32"}, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range done.Claims {
		if !strings.Contains(string(text), `id="`+c.ID+`"`) {
			t.Errorf("the page leaves out %s", c.ID)
		}
	}
}
