package untuned

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

func all() []Problem {
	return append(Problems(), Chain("chain", "Chain", nil), Chain("first", "Chain", chain.At(0)))
}

// The mean discounted return of logs of the target is its exact value, up to five
// standard errors: a false alarm in about a million runs, and the seed is fixed.
func TestLogsHaveTheExactValue(t *testing.T) {
	for _, p := range all() {
		p.Behaviour = p.Target
		_, want, err := p.truth()
		if err != nil {
			t.Fatal(err)
		}
		const m = 4000
		d := p.simulate(m, 11)
		mean, squares := 0.0, 0.0
		for i := range m {
			g, discount := 0.0, 1.0
			for _, r := range d.Reward[d.EpisodeStart[i]:d.EpisodeStart[i+1]] {
				g += discount * r
				discount *= p.Process.Gamma
			}
			if g < p.Returns.Min || g > p.Returns.Max {
				t.Fatalf("%s: a return of %v; want %v", p.Name, g, p.Returns)
			}
			delta := g - mean
			mean += delta / float64(i+1)
			squares += delta * (g - mean)
		}
		se := math.Sqrt(squares) / m
		// What is cut off is worth less than a thousandth of the range.
		if math.Abs(mean-want) > 5*se+1e-3*p.Returns.Max {
			t.Errorf("%s: mean return %v, standard error %v; want %v", p.Name, mean, se, want)
		}
	}
}

// The first persons of a longer log are those of a shorter one.
func TestPrefixesOfALog(t *testing.T) {
	for _, p := range all() {
		long, short := first(p.simulate(50, 3), 20), p.simulate(20, 3)
		if !slices.Equal(long.Obs, short.Obs) || !slices.Equal(long.Reward, short.Reward) || !slices.Equal(long.Action, short.Action) ||
			!slices.Equal(long.Final, short.Final) || !slices.Equal(long.EpisodeStart, short.EpisodeStart) {
			t.Errorf("%s: the first 20 of 50 persons are not the 20 persons", p.Name)
		}
	}
}

// A trial repeats, and draws every curve of its panels.
func TestTrialsDrawEveryCurve(t *testing.T) {
	ctx := context.Background()
	c := Comparison{Paper: "test", Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}, Problems: append(Problems(), Chain("chain", "Chain", nil))}
	samples, err := c.run(ctx, 1, []int{200})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.run(ctx, 1, []int{200}); err != nil || !slices.Equal(again, samples) {
		t.Errorf("a second run differs (%v)", err)
	}
	type curve struct{ panel, series string }
	found := map[curve]bool{}
	for _, s := range samples {
		found[curve{s.Panel, s.Series}] = true
	}
	for _, p := range c.Item().Panels {
		for _, drawn := range p.Curves {
			at := curve{p.Name, drawn.Series}
			if !found[at] {
				t.Errorf("no numbers for %+v", at)
			}
			delete(found, at)
		}
	}
	for at := range found {
		t.Errorf("%+v is not drawn", at)
	}
}
