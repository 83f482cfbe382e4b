package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// handmade is a dataset of three persons over three states: visits (0, 1), (0)
// and (0, 1), with a reward of 1 at every end. State 2 is never visited.
func handmade() *trajectory.Dataset {
	return &trajectory.Dataset{
		Columns:      []string{"obs_state"},
		PersonStart:  []int{0, 1, 2, 3},
		EpisodeStart: []int{0, 2, 3, 5},
		Obs:          []float64{0, 1, 0, 0, 1},
		Reward:       []float64{0, 1, 1, 0, 1},
		Terminated:   []bool{true, true, true},
	}
}

func handmadePublic(t *testing.T, adjacency dp.Adjacency, features feature.Map) Public {
	t.Helper()
	return Public{
		Persons: 3, Gamma: 0.5, Horizon: 2,
		Reward:   Range{Min: 0, Max: 1},
		Return:   &Range{Min: 0, Max: 1},
		Features: features, Target: policy.Logged{},
		Privacy: &Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 1, Delta: 0.01}},
	}
}

// spreadOf runs a plan many times on the handmade data and returns the mean and
// the standard deviation of each coordinate of theta.
func spreadOf(t *testing.T, plan *Plan, runs int) (mean, sd []float64) {
	t.Helper()
	src := noise.NewSeeded(5)
	var square []float64
	for range runs {
		ready, err := plan.Check(context.Background(), handmade())
		if err != nil {
			t.Fatal(err)
		}
		r, err := ready.Run(context.Background(), receipt.None(), src)
		if err != nil {
			t.Fatal(err)
		}
		if mean == nil {
			mean, square = make([]float64, len(r.Theta)), make([]float64, len(r.Theta))
		}
		for i, v := range r.Theta {
			mean[i] += v / float64(runs)
			square[i] += v * v / float64(runs)
		}
	}
	for i := range mean {
		sd = append(sd, math.Sqrt(square[i]-mean[i]*mean[i]))
	}
	return mean, sd
}

// checkSpread compares measured means and standard deviations with the formula,
// at five standard errors (false alarms about 1e-6 a number).
func checkSpread(t *testing.T, plan *Plan, theta []float64, sigma float64) {
	t.Helper()
	const runs = 20000
	mean, sd := spreadOf(t, plan, runs)
	for i := range theta {
		if math.Abs(mean[i]-theta[i]) > 5*sigma/math.Sqrt(runs) {
			t.Errorf("theta[%d] is %v on average; want %v within %v", i, mean[i], theta[i], 5*sigma/math.Sqrt(runs))
		}
		if math.Abs(sd[i]/sigma-1) > 5/math.Sqrt(2*runs) {
			t.Errorf("noise in theta[%d] has standard deviation %v; the formula says %v", i, sd[i], sigma)
		}
	}
}

// balle16 are the constants as printed: alpha = 5 sqrt(2 ln(2/delta))/epsilon,
// beta = epsilon/(4 (d + ln(2/delta))).
func balle16(epsilon, delta float64, d int) (alpha, beta float64) {
	l := math.Log(2 / delta)
	return 5 * math.Sqrt(2*l) / epsilon, epsilon / (4 * (float64(d) + l))
}

func TestDPLSWNoiseByHand(t *testing.T) {
	features, err := feature.NewTabular(3, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := DPLSW{Weights: []float64{1, 2, 4}, Constants: "balle16"}.Plan(handmadePublic(t, dp.ReplaceOne, features))
	if err != nil {
		t.Fatal(err)
	}
	// The states are visited 3, 2 and 0 times, so k runs from 0 to 3.
	alpha, beta := balle16(1, 0.01, 3)
	psi := 0.0
	for k := 0; k <= 3; k++ {
		phi := 1/sq(max(3-k, 1)) + 2/sq(max(2-k, 1)) + 4/sq(max(0-k, 1))
		psi = max(psi, math.Exp(-float64(k)*beta)*phi)
	}
	// (G^1/2)^+ has norm 1/sqrt(1) = 1. First-visit returns at gamma = 1/2: state 0
	// gives .5, 1, .5 and state 1 gives 1, 1.
	checkSpread(t, plan, []float64{2.0 / 3, 1, 0}, alpha*math.Sqrt(psi))
}

func TestDPLSLNoiseByHand(t *testing.T) {
	features, err := feature.NewAggregation(3, 2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	const lambda = 8.0
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		plan, err := DPLSL{Weights: []float64{1, 2, 1}, Lambda: lambda, Constants: "balle16"}.Plan(handmadePublic(t, adjacency, features))
		if err != nil {
			t.Fatal(err)
		}
		alpha, beta := balle16(1, 0.01, 2)
		// Two states share a coordinate: ||Phi||^2 = 2; max rho = 2; ||rho||^2 = 6.
		c := math.Sqrt2 * 2 / math.Sqrt(2*lambda)
		psi := 0.0
		for k := 0; k <= 200; k++ {
			limit := 3
			if adjacency == dp.AddRemoveOne {
				limit = math.MaxInt
			} else if k > 3 {
				break
			}
			visits := float64(min(3+k, limit) + 2*min(2+k, limit) + min(k, limit))
			psi = max(psi, math.Exp(-float64(k)*beta)*sq(c*math.Sqrt(visits)+math.Sqrt(6)))
		}
		sigma := 2 * alpha * math.Sqrt2 * math.Sqrt(psi) / (lambda - 4)
		// Coordinate 0: (3 * 2/3 + 2*2 * 1) / (3 + 2*2 + lambda/2).
		checkSpread(t, plan, []float64{6 / 11.0, 0}, sigma)
	}
}

func sq[N int | float64](x N) float64 { return float64(x) * float64(x) }

func TestSmoothMethodsRefuseWhatTheyAreNotProvenFor(t *testing.T) {
	tabular, err := feature.NewTabular(3, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	offPolicy := handmadePublic(t, dp.ReplaceOne, tabular)
	if offPolicy.Target, err = policy.NewConstant(0); err != nil {
		t.Fatal(err)
	}
	if _, err := (DPLSW{}).Plan(offPolicy); !errors.Is(err, ErrMethod) {
		t.Errorf("off-policy DP-LSW: %v; want ErrMethod", err)
	}
	p := handmadePublic(t, dp.ReplaceOne, tabular)
	for name, e := range map[string]Estimator{
		"lambda too small":  DPLSL{Lambda: 1},
		"too few weights":   DPLSW{Weights: []float64{1}},
		"weight 0":          DPLSW{Weights: []float64{1, 0, 1}},
		"unknown constants": DPLSW{Constants: "other"},
		"NaN penalty":       DPLSL{Lambda: math.NaN()},
	} {
		if _, err := e.Plan(p); !errors.Is(err, ErrMethod) {
			t.Errorf("%s: %v; want ErrMethod", name, err)
		}
	}
	p.Privacy.Budget.Epsilon = 30
	if _, err := (DPLSW{Constants: "balle16"}).Plan(p); err == nil {
		t.Error("Balle16's constants at epsilon 30: no error; they are proven up to 20")
	}
}

// Of a person with two trajectories the first counts: a count moves by one a person.
func TestSmoothMethodsTakeEachPersonsFirstTrajectory(t *testing.T) {
	tabular, err := feature.NewTabular(3, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	p := handmadePublic(t, dp.ReplaceOne, tabular)
	p.Persons, p.Horizon = 2, 9
	first, both := handmade(), handmade()
	both.PersonStart = []int{0, 2, 3}
	first.PersonStart = []int{0, 1, 3}
	first, _ = both.LeaveOut(func(row int) bool { return row >= both.EpisodeStart[1] && row < both.EpisodeStart[2] })
	for _, e := range []Estimator{DPLSW{}, DPLSL{}} {
		plan, err := e.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(plan.Notes, "If a person has several trajectories, only the first counts.") {
			t.Errorf("notes %q", plan.Notes)
		}
		var values [2][]float64
		for i, d := range []*trajectory.Dataset{both, first} {
			ready, err := plan.Check(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1))
			if err != nil {
				t.Fatal(err)
			}
			values[i] = r.Theta
		}
		if !slices.Equal(values[0], values[1]) {
			t.Errorf("%v with both trajectories, %v with the first alone", values[0], values[1])
		}
	}
}

// TestSmoothNoiseFollowsThePrivateScaleOnly makes sure that the private scale
// leaves no trace but the noise: the public side of two releases whose visit
// counts differ is the same.
func TestSmoothNoiseFollowsThePrivateScaleOnly(t *testing.T) {
	tabular, err := feature.NewTabular(3, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := DPLSW{}.Plan(handmadePublic(t, dp.ReplaceOne, tabular))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := plan.Event.(dp.SmoothGaussian); !ok {
		t.Fatalf("event is %T; want dp.SmoothGaussian", plan.Event)
	}
	release := func(d *trajectory.Dataset) *Release {
		ready, err := plan.Check(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1))
		if err != nil {
			t.Fatal(err)
		}
		r.Theta, r.Values = nil, nil
		return r
	}
	other := handmade()
	other.Obs = []float64{2, 2, 2, 2, 2}
	a, errA := release(handmade()).MarshalJSON()
	b, errB := release(other).MarshalJSON()
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("the public side depends on the data:\n%s\n%s", a, b)
	}
}
