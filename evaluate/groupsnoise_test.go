package evaluate

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// TestNoiseWhereAPersonMayChangeGroup: every stage with noise made for a person who comes or
// goes, whose longest point has norm 1. A replaced person moves two groups by 1 each, or one by
// the distance of two points: 2 where these may be opposite (baselines, the rounds of a
// regression), sqrt 2 where they are no more than a right angle apart (counts, histograms,
// sums of weights). In both cases what all stages together allow is at most what was asked
// for, and the worse of the two is no more than a millionth below it in each stage.
func TestNoiseWhereAPersonMayChangeGroup(t *testing.T) {
	asked := scalar.Stages{Behavior: 2, Baseline: 3, Clip: 5, Main: 1.5}
	for k := range asked.Rounds {
		asked.Rounds[k] = float64(7 + k)
	}
	moved := (&groupPart{moves: true}).moved(asked)
	opposite := map[*float64]bool{&moved.Baseline: true}
	for k := range moved.Rounds {
		opposite[&moved.Rounds[k]] = true
	}
	budget, two, one := 0.0, 0.0, 0.0
	for i, x := range moved.Each() {
		m := *asked.Each()[i]
		if m == 0 {
			if *x != 0 {
				t.Errorf("stage %d was not asked for and has noise %v", i, *x)
			}
			continue
		}
		distance := math.Sqrt2
		if opposite[x] {
			distance = 2
		}
		budget += 1 / m / m
		two += 2 / *x / *x
		one += distance * distance / *x / *x
		if worse := distance / *x * m; worse > 1 || worse < 1-1e-6 {
			t.Errorf("stage %d: noise %v for %v: two points are %v apart and need %v of it", i, *x, m, distance, worse)
		}
	}
	if two > budget || one > budget {
		t.Errorf("a person who changes group is worth %v, one who does not %v; %v was asked for", two, one, budget)
	}
	if same := (&groupPart{}).moved(asked); same != asked {
		t.Errorf("groups are fixed, and noise is %+v for %+v", same, asked)
	}
}
