package scalar

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// TestFilledIsDoublyRobust: right where weights are 1 on average, whatever the baseline,
// and where nothing is vouched for it is the baseline. Persons are so many that noise
// moves no value by more than .02 but with probability below 1e-6.
func TestFilledIsDoublyRobust(t *testing.T) {
	const persons = 20000
	p := facts.Public{Persons: persons, Adjacency: dp.ReplaceOne, Returns: facts.Range{Min: -1, Max: 3}}
	src := noise.NewSeeded(3)
	for _, c := range []struct {
		name                   string
		weight, baseline, want float64
	}{
		{"right weights", 2, -1, -1 + 4*0.7},
		{"another baseline", 2, 2.5, -1 + 4*0.7},
		{"no weights", 0, 2.5, 2.5},
		{"half of them, right", 1, -1 + 4*0.7, -1 + 4*0.7},
		{"baseline beyond a return", 0, 9, 3},
	} {
		// Every other person has the weight, and returns of .7 of the range.
		x, z := make([]float64, persons), make([]float64, persons)
		for i := range x {
			if i%2 == 0 {
				x[i], z[i] = 0.7*c.weight, 0.3*c.weight
			}
		}
		g := &Guess{Overall: c.baseline}
		d := Filled{Bounds{Public: p, Range: p.Returns, Caps: ClipRanges{Above: 2}, Noise: Stages{Main: 4}}, &Baseline{Kind: BaselinePublic, Guess: g}}
		e, err := d.Run(nil, Numbers{x}, Numbers{z}, src)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Value-c.want) > 0.02 || e.Value < e.Interval[0] || e.Value > e.Interval[1] {
			t.Errorf("%s: value %v in %v; want %v", c.name, e.Value, e.Interval, c.want)
		}
		again, err := d.Again(e)
		if err != nil || again.Value != e.Value || again.Interval != e.Interval {
			t.Errorf("%s: again %+v, %v", c.name, again, err)
		}
	}
}
