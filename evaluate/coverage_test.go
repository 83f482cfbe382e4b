package evaluate_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// bandit makes one-decision episodes: action 1 with probability .3, rewards
// Bernoulli(.7) for action 1 and Bernoulli(.4) for action 0. The policy that
// always takes action 1 is worth .7.
func bandit(rng *rand.Rand, persons int) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for range persons {
		action, prob, mean := int32(0), 0.7, 0.4
		if rng.Float64() < 0.3 {
			action, prob, mean = 1, 0.3, 0.7
		}
		reward := 0.0
		if rng.Float64() < mean {
			reward = 1
		}
		d.Action = append(d.Action, action)
		d.BehaviorProb = append(d.BehaviorProb, prob)
		d.Reward = append(d.Reward, reward)
		d.Terminated = append(d.Terminated, true)
		n := len(d.Reward)
		d.PersonStart = append(d.PersonStart, n)
		d.EpisodeStart = append(d.EpisodeStart, n)
		d.PersonID = append(d.PersonID, strconv.Itoa(n))
		d.EpisodeID = append(d.EpisodeID, strconv.Itoa(n))
	}
	return d
}

func banditPublic(t testing.TB, persons int64, adjacency dp.Adjacency, target policy.Policy) evaluate.Public {
	t.Helper()
	return evaluate.Public{
		Persons: persons,
		Gamma:   1,
		Reward:  evaluate.Range{Min: 0, Max: 1},
		Horizon: 1,
		Target:  target,
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}},
	}
}

// run takes an estimator through all four steps.
func run(t testing.TB, e evaluate.Estimator, p evaluate.Public, d *trajectory.Dataset, src *noise.Source) *evaluate.Release {
	t.Helper()
	plan, err := e.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	return runOf(t, plan, d, src)
}

// runOf is run for one of many releases of a plan.
func runOf(t testing.TB, plan *evaluate.Plan, d *trajectory.Dataset, src *noise.Source) *evaluate.Release {
	t.Helper()
	ready, err := plan.Check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ready.Run(context.Background(), receipt.None(), src)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// coverage simulates datasets and counts how often the 95% interval holds the
// true value.
func coverage(t *testing.T, e evaluate.Estimator, p evaluate.Public, datasets int, truth float64) (share, privacyShare float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	src := noise.NewSeeded(3)
	covered, plan := 0, must(e.Plan(p))
	for range datasets {
		r := runOf(t, plan, bandit(rng, int(p.Persons)), src).Answers[0].Estimate
		if r.Interval[0] <= truth && truth <= r.Interval[1] {
			covered++
		}
		privacyShare += r.StdPrivacy * r.StdPrivacy / (r.StdPrivacy*r.StdPrivacy + r.StdSampling*r.StdSampling)
	}
	return float64(covered) / float64(datasets), privacyShare / float64(datasets)
}

// TestIntervalsCoverSamplingAndNoise wants at least 93% of the 95% intervals to
// hold the true value, less three standard errors of the count: at few persons,
// where noise makes most of the error, and at many, where sampling does.
func TestIntervalsCoverSamplingAndNoise(t *testing.T) {
	one, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	const rounding = 1.0 / 0.3 // the largest weight there is
	cases := map[string]struct {
		estimator evaluate.Estimator
		target    policy.Policy
		truth     float64
	}{
		"dp-is on-policy":  {evaluate.DPIS{}, policy.Logged{}, 0.3*0.7 + 0.7*0.4},
		"dp-is complete":   {evaluate.DPIS{}, policy.Logged{}, 0.3*0.7 + 0.7*0.4},
		"dp-is":            {evaluate.DPIS{MaxWeight: rounding}, one, 0.7},
		"dp-pdis":          {evaluate.DPPDIS{MaxWeight: rounding}, one, 0.7},
		"dp-wis":           {evaluate.DPWIS{MaxWeight: rounding}, one, 0.7},
		"dp-wis public":    {evaluate.DPWIS{MaxWeight: rounding, Clip: "public"}, one, 0.7},
		"dp-wis auto clip": {evaluate.DPWIS{MaxWeight: 10, Clip: "auto"}, one, 0.7},
		"dp-dr":            {evaluate.DPDR{}, one, 0.7},
		"dp-dr one number": {evaluate.DPDR{Baseline: "value"}, one, 0.7},
		"dp-dr public":     {evaluate.DPDR{ActionValues: []float64{0.4, 0.7}, Diagnostics: 0.05}, one, 0.7},
		"dp-dr on-policy":  {evaluate.DPDR{}, policy.Logged{}, 0.3*0.7 + 0.7*0.4},
	}
	for name, c := range cases {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			for _, persons := range []int64{200, 2000} {
				n := datasets
				p := banditPublic(t, persons, adjacency, c.target)
				if name == "dp-is complete" { // at 200 persons all but noise
					p.Complete, p.Privacy.Budget.Epsilon = true, 0.1
				}
				got, private := coverage(t, c.estimator, p, n, c.truth)
				t.Logf("%s, %v, %d persons: %.1f%% of %d intervals cover; noise makes %.0f%% of the variance", name, adjacency, persons, 100*got, n, 100*private)
				if floor := 0.93 - 3*math.Sqrt(0.95*0.05/float64(n)); got < floor {
					t.Errorf("%s, %v, %d persons: %.1f%% of %d intervals cover the truth; want at least %.1f%%", name, adjacency, persons, 100*got, n, 100*floor)
				}
			}
		}
	}
}
