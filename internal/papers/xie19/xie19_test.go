package xie19

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/internal/dp/xie19"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

func Example() {
	for _, item := range Study().Items {
		fmt.Println(item.Name, len(item.Jobs(false)))
	}
	// Output:
	// chain 104
	// chain-steps 100
	// car 104
	// car-steps 100
	// car-privacy 104
	// hiv 104
	// chain-steps-sizes 100
	// car-steps-sizes 100
	// relations 20
	// comparison 20
}

// The exact moments know the truth of transitions up to their weighting: at
// weight 1 a trajectory the fixed point differs from V by about 0.009, its MSPBE
// is 0, and theta = 1 has the MSPBE of 9.1e-5 that integration of the generating
// functions gives.
func TestMomentsOfTheChain(t *testing.T) {
	moments, err := exact()
	if err != nil {
		t.Fatal(err)
	}
	flat := make([]float64, chain.States)
	for s := range flat {
		flat[s] = 1
	}
	one, err := moments.MSPBE(flat)
	if err != nil || math.Abs(one-9.1194e-5) > 1e-8 {
		t.Errorf("MSPBE of theta = 1 is %v, %v; want 9.1194e-5", one, err)
	}
	fixed, err := moments.Solve(0)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := moments.MSPBE(fixed); err != nil || m > 1e-20 {
		t.Errorf("MSPBE of the fixed point is %v, %v; want 0", m, err)
	}
}

// No constant on a grid is better than the best.
func TestBestConstants(t *testing.T) {
	mspbe, rmse, err := bestConstants()
	if err != nil {
		t.Fatal(err)
	}
	least, leastRMSE := math.Inf(1), math.Inf(1)
	flat := make([]float64, chain.States)
	for c := 0.0; c <= 1.2; c += 0.01 {
		for s := range flat {
			flat[s] = c
		}
		got, err := score("", 0, flat)
		if err != nil {
			t.Fatal(err)
		}
		least, leastRMSE = min(least, got[0].Y), min(leastRMSE, got[1].Y)
	}
	if mspbe > least || mspbe < least*0.99 || rmse > leastRMSE || rmse < leastRMSE*0.99 {
		t.Errorf("best constants have MSPBE %v, RMSE %v; the grid has %v, %v", mspbe, rmse, least, leastRMSE)
	}
}

// At m = N = 1e5 the paper's noise has a true epsilon between 9.69 and 9.79,
// against 0.1 stated; sound noise keeps its promise.
func TestTrueEpsilon(t *testing.T) {
	got, err := trueEpsilon(gpope(0.1, clip, false), 100_000)
	if err != nil || got < 9.69 || got > 9.79 {
		t.Errorf("true epsilon of the paper's noise is %v, %v; want 9.69 to 9.79", got, err)
	}
	if got, err = trueEpsilon(gpope(0.1, clip, true), 100_000); err != nil || got > 0.1 {
		t.Errorf("true epsilon of sound noise is %v, %v; want at most 0.1", got, err)
	}
}

// The true epsilons in captions are those that privacy-loss distributions give.
func TestTrueEpsilonsInCaptions(t *testing.T) {
	sizes := slices.Concat(sweptSizes(true), sweptSizes(false), carSweptSizes(true), carSweptSizes(false),
		[]int{sweptPersons(true), sweptPersons(false), carSweptPersons(true), carSweptPersons(false)})
	slices.Sort(sizes)
	for _, m := range slices.Compact(sizes) {
		sigma, _, err := xie19.Sigma(int64(m), int64(m), 0.1, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parameters{delta: 1e-5, iterations: float64(m), sigma: sigma, persons: float64(m)}.bracket()
		if err != nil || got.Upper > stands(m) || got.Upper < 0.98*stands(m) {
			t.Errorf("m = %d: true epsilon is at most %v, %v; the caption says %v", m, got.Upper, err, stands(m))
		}
	}
}

// A trial repeats, its numbers are above 0, and each is on a curve of its panel.
func TestTrialsRepeat(t *testing.T) {
	ctx := context.Background()
	samples, err := compare(ctx, 5, []int{80, 120})
	if err != nil {
		t.Fatal(err)
	}
	chainTrial = latest[*onTheChain]{}
	if again, err := compare(ctx, 5, []int{80, 120}); err != nil || !slices.Equal(again, samples) {
		t.Errorf("a second run differs (%v)", err)
	}
	checkDrawn(t, comparison(), samples)
}

// Keys name a trial for ever, so that no two jobs of an item may share one.
func TestKeysAreUnique(t *testing.T) {
	for _, item := range Study().Items {
		for _, quick := range []bool{false, true} {
			seen := map[string]bool{}
			for _, j := range item.Jobs(quick) {
				if seen[j.Key] {
					t.Errorf("%s: two jobs %q", item.Name, j.Key)
				}
				seen[j.Key] = true
			}
		}
	}
}

func checkDrawn(t *testing.T, item figure.Item, samples []figure.Sample) {
	t.Helper()
	drawn := map[string]bool{}
	for _, c := range item.Panels[0].Curves {
		drawn[c.Series] = true
	}
	sampled := map[string]bool{}
	for _, s := range samples {
		sampled[s.Series] = true
		if !(s.Y > 0) || !drawn[s.Series] {
			t.Errorf("%s: %+v: not above 0, or not drawn", item.Name, s)
		}
	}
	if len(sampled) != len(drawn) {
		t.Errorf("%s: %d series for %d curves", item.Name, len(sampled), len(drawn))
	}
}
