package sim_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/sim"
)

// TestScaledEpisodesAreTheSameEpisodes: beside an episode as it is, the scaled one has the same outcomes, and
// observations from which the line of the range gives back those of the other.
func TestScaledEpisodesAreTheSameEpisodes(t *testing.T) {
	for name, build := range map[string]func() (sim.Env, error){
		"mountain-car": func() (sim.Env, error) { return mountaincar.New(mountaincar.Options{}) },
		"cart-pole":    func() (sim.Env, error) { return cartpole.New(cartpole.Options{}) },
	} {
		rapid.Check(t, func(r *rapid.T) {
			plain, err := build()
			if err != nil {
				r.Fatal(err)
			}
			other, err := build()
			if err != nil {
				r.Fatal(err)
			}
			scaled, err := sim.Scaled(other)
			if err != nil {
				r.Fatal(err)
			}
			spec := plain.Spec()
			x, y := make([]float64, len(spec.Columns)), make([]float64, len(spec.Columns))
			compare := func() {
				for i, s := range spec.Ranges {
					if want := s.Low + (y[i]+1)/2*(s.High-s.Low); math.Abs(x[i]-want) > 1e-12 {
						r.Fatalf("%s: observation %d is %v, scaled %v, which stands for %v", name, i, x[i], y[i], want)
					}
				}
			}
			seed := rapid.Uint64().Draw(r, "seed")
			plain.Reset(x, rand.New(rand.NewPCG(seed, 1)))
			scaled.Reset(y, rand.New(rand.NewPCG(seed, 1)))
			compare()
			for _, a := range rapid.SliceOfN(rapid.IntRange(0, spec.Actions-1), 1, 100).Draw(r, "actions") {
				want, _ := plain.Step(x, a)
				got, _ := scaled.Step(y, a)
				if got != want {
					r.Fatalf("%s: %+v; want %+v", name, got, want)
				}
				compare()
				if name == "mountain-car" && (math.Abs(y[0]) > 1+1e-12 || math.Abs(y[1]) > 1+1e-12) {
					r.Fatalf("%v is outside of [-1, 1]", y)
				}
			}
		})
	}
}

// ranged is a problem with the ranges that it is given.
type ranged struct {
	sim.Env
	ranges []sim.Range
}

func (e ranged) Spec() sim.Spec {
	s := e.Env.Spec()
	s.Ranges = e.ranges
	return s
}

func TestWhatHasNoRangesIsNotScaled(t *testing.T) {
	env, err := mountaincar.New(mountaincar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := sim.Range{Low: -1, High: 1}
	for _, ranges := range [][]sim.Range{nil, {whole}, {whole, {}}, {whole, {Low: 1, High: -1}}, {whole, {Low: math.Inf(-1), High: 0}}, {whole, {Low: math.NaN(), High: 1}}} {
		if _, err := sim.Scaled(ranged{env, ranges}); !errors.Is(err, sim.ErrOptions) {
			t.Errorf("%v: %v; want ErrOptions", ranges, err)
		}
	}
}

func TestScoresOfASpec(t *testing.T) {
	for _, c := range []struct {
		reward sim.Range
		steps  int
		want   sim.Range
		known  bool
	}{
		{sim.Range{Low: 1, High: 1}, 200, sim.Range{Low: 1, High: 200}, true},
		{sim.Range{Low: -1, High: -1}, 200, sim.Range{Low: -200, High: -1}, true},
		{sim.Range{Low: -1, High: 0}, 500, sim.Range{Low: -500, High: 0}, true},
		{sim.Range{Low: -1, High: 2}, 10, sim.Range{Low: -10, High: 20}, true},
		{sim.Range{}, 10, sim.Range{}, false},
		{sim.Range{Low: 0, High: 1}, 0, sim.Range{}, false},
	} {
		if got, known := (sim.Spec{Reward: c.reward}).Scores(c.steps); known != c.known || known && got != c.want {
			t.Errorf("rewards in %v, %d steps: %v, %v; want %v", c.reward, c.steps, got, known, c.want)
		}
	}
}
