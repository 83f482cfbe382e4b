package smooth

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Returns beyond the public range count as its ends, on both sides.
func TestReturnsAreClippedOnBothSides(t *testing.T) {
	tabular, err := feature.NewTabular(2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	d := &trajectory.Dataset{
		Columns: []string{"obs_state"}, PersonStart: []int{0, 1, 2}, EpisodeStart: []int{0, 1, 2},
		Obs: []float64{0, 1}, Reward: []float64{5, -5}, Terminated: []bool{true, true},
	}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Features: tabular})
	if err != nil {
		t.Fatal(err)
	}
	v, err := VisitsOf(s, facts.Range{Min: -1, Max: 2})
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range []float64{2, -1} {
		if got := v.mean(state); math.Abs(got-want) > 1e-8 {
			t.Errorf("state %d: %v; want %v", state, got, want)
		}
	}
}

// spy is a method that keeps the beta of its bound.
type spy struct{ beta float64 }

func (s *spy) Bound(_ []int64, beta float64) float64 { s.beta = beta; return 1 }
func (s *spy) Solve(*Visits) []float64               { return []float64{0} }
func (s *spy) Bias() float64                         { return 0 }

// The noise of a release follows the bound at the inner beta of its mechanism, and
// so never at a larger beta than was accounted for.
func TestNoiseFollowsTheBoundAtItsBeta(t *testing.T) {
	m := mechanism.Smooth{Alpha: 1, Beta: 0.25, Step: 0x1p-30}
	s := new(spy)
	if _, err := Release(m, s, &Visits{counts: make([]int64, 3), sums: make([]int64, 3), unit: 1}, 1, noise.NewSeeded(1)); err != nil {
		t.Fatal(err)
	}
	if s.beta > m.Beta-3*0x1p-46 || s.beta < m.Beta*(1-1e-8) {
		t.Errorf("the bound is taken at beta %v; the noise promises %v", s.beta, m.Beta)
	}
}

// Visits of several processes are added up to those of one; what persons cannot make is
// refused, and its numbers are not told.
func TestVisitsAddUp(t *testing.T) {
	v := &Visits{counts: make([]int64, 2), sums: make([]int64, 2), unit: 0.5, bounds: [2]int64{-2, 4}}
	all, err := v.of(mechanism.Statistic{Values: []int64{3, 0, 12, 0}, Persons: 3})
	if err != nil || all.mean(0) != 2 || all.mean(1) != 0 {
		t.Errorf("means %v and %v, %v; want 2 and 0", all.mean(0), all.mean(1), err)
	}
	for name, values := range map[string][]int64{
		"more visits than persons": {4, 0, 0, 0},
		"fewer than none":          {-1, 0, 0, 0},
		"returns above the range":  {3, 0, 13, 0},
		"returns below the range":  {3, 0, -7, 0},
		"returns of nobody":        {3, 0, 0, 1},
	} {
		if _, err := v.of(mechanism.Statistic{Values: values, Persons: 3}); !errors.Is(err, mechanism.ErrMismatch) || strings.ContainsAny(err.Error(), "0123456789") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
