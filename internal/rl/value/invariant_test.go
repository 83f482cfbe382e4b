package value_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// drawPersons returns the histories of a few persons, each a slice, over three
// states and two actions.
func drawPersons(t *rapid.T) [][]history {
	persons := make([][]history, rapid.IntRange(1, 6).Draw(t, "persons"))
	for p := range persons {
		for range rapid.IntRange(1, 3).Draw(t, "episodes") {
			h := history{person: p, terminated: rapid.Bool().Draw(t, "terminated"), final: float64(rapid.IntRange(-1, 2).Draw(t, "final"))}
			for range rapid.IntRange(1, 5).Draw(t, "steps") {
				h.steps = append(h.steps, step{
					state:  float64(rapid.IntRange(0, 2).Draw(t, "state")),
					action: int32(rapid.IntRange(0, 1).Draw(t, "action")),
					prob:   rapid.Float64Range(0.1, 1).Draw(t, "probability"),
					reward: rapid.Float64Range(-1, 1).Draw(t, "reward"),
				})
			}
			persons[p] = append(persons[p], h)
		}
	}
	return persons
}

// estimates runs every estimator and lists its numbers.
func estimates(persons [][]history, table []float64) (out []float64) {
	var all []history
	for p, episodes := range persons {
		for _, h := range episodes {
			h.person = p
			all = append(all, h)
		}
	}
	d := build(all)
	o := value.Options{Gamma: 0.9, Features: tabular(3)}
	on := must(value.NewSample(d, o))
	o.Policy = must(policy.NewTable(table, 2, "obs_state"))
	off := must(value.NewSample(d, o))
	mean, visits := must2(value.MonteCarlo(on))
	for _, n := range visits {
		out = append(out, n/float64(len(persons)))
	}
	out = append(out, mean...)
	out = append(out, must(value.LSW{Weights: []float64{1, 2, 0}}.Solve(on))...)
	q := value.StateActionValues{K: 2, Values: []float64{1, 2, 3, 4, 5, 6}}
	for _, s := range []*value.Sample{on, off} {
		out = append(out, must(value.IS(s)), must(value.WIS(s)), must(value.PDIS(s)))
		for _, w := range []value.Weighting{value.ByTrajectory, value.ByTransition} {
			m, err := value.EmpiricalMoments(s, w)
			if err != nil {
				continue // no known transition: the same in every variant
			}
			out = append(append(append(out, m.A...), m.B...), m.C...)
		}
	}
	return append(out, must(value.DR(off, q)))
}

func same(t *rapid.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, then %d", what, len(want), len(got))
	}
	for i := range got {
		// Sums of at most 90 terms of either sign, with weights up to 9^5 and values
		// up to 6, carry rounding errors of 1e-9.
		if !(math.Abs(got[i]-want[i]) <= 1e-7*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: number %d is %v, was %v", what, i, got[i], want[i])
		}
	}
}

func TestPersonsCountEquallyAndInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		persons, table := drawPersons(t), drawPolicy(t, "target")
		want := estimates(persons, table)
		same(t, "in another order", estimates(rapid.Permutation(persons).Draw(t, "order"), table), want)
		same(t, "every person twice", estimates(append(persons, persons...), table), want)
		repeated := make([][]history, len(persons))
		for p, episodes := range persons {
			// As many copies of a person's own history as one likes add nothing to
			// that person's say.
			for range rapid.IntRange(1, 3).Draw(t, "copies") {
				repeated[p] = append(repeated[p], episodes...)
			}
		}
		same(t, "own history repeated", estimates(repeated, table), want)
	})
}

func TestWeightedEstimateLiesWithinTheReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []history
		for _, episodes := range drawPersons(t) {
			all = append(all, episodes...)
		}
		s := must(value.NewSample(build(all), value.Options{
			Gamma: 0.9, Features: tabular(3), Policy: must(policy.NewTable(drawPolicy(t, "target"), 2, "obs_state")),
		}))
		returns := make([]float64, len(all))
		for e := range returns {
			returns[e] = s.Return(e)
		}
		got := must(value.WIS(s))
		if !(got >= floats.Min(returns)-1e-12 && got <= floats.Max(returns)+1e-12) {
			t.Fatalf("WIS %v, returns %v", got, returns)
		}
	})
}

// The definition, read literally: for every state the first row that holds it,
// and the discounted rewards from there.
func TestFirstVisitsMatchTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		persons := drawPersons(t)
		var all []history
		for _, episodes := range persons {
			all = append(all, episodes...)
		}
		s := must(value.NewSample(build(all), value.Options{Gamma: 0.9, Features: tabular(3)}))
		f := must(value.NewFirstVisits(s))
		for p, episodes := range persons {
			sum, count := map[int32]float64{}, map[int32]float64{}
			for _, h := range episodes {
				seen := map[int32]bool{}
				for i, at := range h.steps {
					if seen[int32(at.state)] {
						continue
					}
					seen[int32(at.state)] = true
					g := 0.0
					for k, later := range h.steps[i:] {
						g += math.Pow(0.9, float64(k)) * later.reward
					}
					sum[int32(at.state)] += g
					count[int32(at.state)]++
				}
			}
			f.Person(p)
			if len(f.States) != len(sum) {
				t.Fatalf("person %d visits %v, want %v", p, f.States, sum)
			}
			for i, state := range f.States {
				if want := sum[state] / count[state]; !(math.Abs(f.Returns[i]-want) <= 1e-13) {
					t.Fatalf("person %d, state %d: %v, want %v", p, state, f.Returns[i], want)
				}
			}
		}
	})
}
