package discreet_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
)

// TestListedStatesFitALedger: with the most states that a plan takes (2^19, of a rule 2^17) a release has less than the 64 MiB
// that a ledger keeps. The size of one grows with their number, and is measured at 4,000.
func TestListedStatesFitALedger(t *testing.T) {
	const states, persons = 4000, 50
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("unit_id,episode_id,step,obs_state,action,behavior_prob,reward,terminated\n")
	for p := range persons {
		fmt.Fprintf(&b, "%d,%d,0,%d,%d,0.5,%d,1\n", p, p, p*71%states, p%2, p%3/2)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.csv"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for form, most := range map[string]int{
		"target: {kind: constant, action: 1}\nmethod: {name: dp-refine}":              1 << 19,
		"target: {kind: constant, action: 1}\nmethod: {name: dp-dr, baseline: state}": 1 << 19,
		"target: {kind: logged}\nmethod: {name: dp-lsw}":                              1 << 19,
		"target: {kind: logged}\nmethod: {name: dp-lsl}":                              1 << 19,
		"target: {kind: logged}\nmethod: {name: gpope}":                               1 << 19,
		"target: {kind: learned, actions: 2}\nmethod: {name: dp-learn}":               1 << 17,
		"target: {kind: learned, actions: 8}\nmethod: {name: dp-learn}":               1 << 17,
	} {
		c, err := discreet.Parse("case", fmt.Appendf(nil, "data: {path: log.csv, behavior: {source: logged}}\nproblem: {persons: %d, gamma: 1, reward: {min: 0, max: 1}, horizon: 1}\nprivacy: {adjacency: replace_one, epsilon: 1, delta: 1.0e-5}\nfeatures: {kind: tabular, states: %d, column: obs_state}\n%s\n", persons, states, form))
		if err != nil {
			t.Fatal(err)
		}
		c.Dir = dir
		r, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(noise.NewSeeded(7)))
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		t.Logf("%s: %d bytes a state", form, len(r.JSON)/states)
		if size := len(r.JSON) / states * most; size > 64<<20 {
			t.Errorf("%s: a release of %d states has %d bytes", form, most, size)
		}
	}
}
