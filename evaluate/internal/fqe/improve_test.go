package fqe

import (
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
)

// nearlyExact is the model of the process of these tests with hardly any noise.
func nearlyExact(t *testing.T) *Model {
	t.Helper()
	s := sampleOf(t, logOf(2000), tabular(t))
	table := tableOf(ByAction, 1e-6)
	everybody := make([]int, s.Persons())
	for i := range everybody {
		everybody[i] = i
	}
	numbers, err := table.Numbers(s, everybody, noise.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := table.ModelOf(numbers)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// largestIn is the action of the largest gain in every cell.
func largestIn(gains []float64) []int {
	out := make([]int, cells)
	for c := range out {
		here := gains[c*actions : (c+1)*actions]
		out[c] = slices.Index(here, slices.Max(here))
	}
	return out
}

// TestImproveFindsTheBestPolicy: with hardly any noise it is the best of the four there are, by
// values computed by hand, although one improvement of the logged policy is another.
func TestImproveFindsTheBestPolicy(t *testing.T) {
	m := nearlyExact(t)
	value := func(of []int) float64 { // from both states alike
		v := [cells]float64{}
		for range horizon {
			v = [cells]float64{
				[]float64{1 + gamma*v[0], gamma * v[1]}[of[0]],
				[]float64{0.5, gamma * v[0]}[of[1]],
			}
		}
		return v[0] + v[1]
	}
	best := []int{0, 0}
	for i := range 1 << cells {
		if of := []int{i & 1, i >> 1}; value(of) > value(best) {
			best = of
		}
	}
	rounds := 0
	of := m.Improve(func(gains []float64) []int {
		rounds++
		return largestIn(gains)
	})
	if !slices.Equal(of, best) || rounds < 2 {
		t.Errorf("actions %v after %d improvements; want %v, when nothing is better", of, rounds, best)
	}
}

// TestImproveByStepIsBackwardInduction: with hardly any noise it is as good as the best of all policies that tell
// decisions apart, which is another in state 1 at the last decision than before.
func TestImproveByStepIsBackwardInduction(t *testing.T) {
	m := nearlyExact(t)
	value := func(at func(step, cell int) int) float64 { // from both states alike
		v := [cells]float64{}
		for step := horizon - 1; step >= 0; step-- {
			v = [cells]float64{
				[]float64{1 + gamma*v[0], gamma * v[1]}[at(step, 0)],
				[]float64{0.5, gamma * v[0]}[at(step, 1)],
			}
		}
		return v[0] + v[1]
	}
	best := 0.0
	for i := range 1 << (cells * horizon) {
		best = max(best, value(func(step, cell int) int { return i >> (step*cells + cell) & 1 }))
	}
	of := m.ImproveByStep(largestIn)
	if got := value(func(step, cell int) int { return of[step][cell] }); got != best || of[0][1] != 1 || of[horizon-1][1] != 0 {
		t.Errorf("%v is worth %v; want %v, the best there is", of, got, best)
	}
}
