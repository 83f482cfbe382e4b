package simulate_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// TestTrainingLearns: without noise the recipe reaches the score that counts as
// success for cart pole, and keeps most of it.
func TestTrainingLearns(t *testing.T) {
	c := ours(1, train.NotPrivate, 0, 1500)
	r := run(t, c)
	if n := first(r.Scores); n == 0 || n > 1000 {
		t.Errorf("first success after %d submissions; want one within 1000", n)
	}
	if kept := simulate.Retention(r.Scores, .1); kept < 150 {
		t.Errorf("mean of the last tenth %v; want 150 at least", kept)
	}
	if r.Epsilon != 0 || r.Declined != 0 {
		t.Errorf("epsilon %v, %d declined, though nothing was private", r.Epsilon, r.Declined)
	}
}

func TestPrivateTrainingLearns(t *testing.T) {
	c := ours(2, train.PrivUnit, 4, 2500)
	r := run(t, c)
	if n := first(r.Scores); n == 0 {
		t.Errorf("no success in %d submissions at epsilon 4; the last tenth scores %v", len(r.Scores), simulate.Retention(r.Scores, .1))
	}
	if r.Epsilon != 4 {
		t.Errorf("largest epsilon of an agent %v; want 4, one report each", r.Epsilon)
	}
}

// TestControlLearnsNothingFromItsEpisodes changes what agents live in: a run that
// reports on the zero vector ends at the same weights, one that reports gradients
// does not.
func TestControlLearnsNothingFromItsEpisodes(t *testing.T) {
	for _, m := range []train.Mechanism{train.SignPRS, train.PrivUnit, train.Laplace, train.PRS, train.OneBit} {
		theta := func(zero bool, environments []simulate.Environment) []float64 {
			c := ours(5, m, 8, 60)
			c.Terms.Randomizer.Clip = 1
			if m == train.OneBit { // one bit a report: many are needed to see a difference
				c.Terms.Randomizer.Clip, c.Terms.Submissions = 40, 3000
				c.Local.Method, c.Local.Perturbation = device.Evolution, .5
			}
			if m == train.SignPRS || m == train.PrivUnit {
				c.Terms.Randomizer.Clip = 0
			}
			c.Local.ZeroGradient, c.Environments = zero, environments
			return run(t, c).Theta
		}
		equal := func(a, b []float64) bool {
			for i := range a {
				if a[i] != b[i] {
					return false
				}
			}
			return true
		}
		if !equal(theta(true, poles()), theta(true, poles()[:1])) {
			t.Errorf("%s: the control's weights depend on the environments", m)
		}
		if equal(theta(false, poles()), theta(false, poles()[:1])) {
			t.Errorf("%s: the weights do not depend on the environments: nothing was learned from them", m)
		}
	}
}

// TestPrivateSuccessRateIsUnbiased asks 40000 agents of a policy whose true rate is
// measured on 40000 episodes.
func TestPrivateSuccessRateIsUnbiased(t *testing.T) {
	c := ours(7, train.SignPRS, 1, 2)
	c.Success = &simulate.Success{Every: 2, Agents: 40000, Epsilon: 1, Threshold: 20}
	// One source for all: the test draws 40000 answers.
	src := noise.NewSeeded(9)
	c.Noise = func(uint64) *noise.Source { return src }
	r := run(t, c)
	scores, err := simulate.Scores(context.Background(), c, r.Theta, 40000, learn.Explore{}, 99)
	if err != nil {
		t.Fatal(err)
	}
	rate := 0.0
	for _, s := range scores {
		if s >= 20 {
			rate++
		}
	}
	rate /= float64(len(scores))
	if rate < .1 || rate > .9 {
		t.Fatalf("true rate %v: the test says little", rate)
	}
	got := r.Success[0]
	rr := must2(local.NewResponse(2, 1))(t)
	want := 1 / (2 * (2*rr.Truth() - 1) * math.Sqrt(40000))
	if math.Abs(got.StdError-want) > 1e-12 || got.Agents != 40000 || got.Submissions != 2 {
		t.Errorf("%+v; want a standard error of %v", got, want)
	}
	// Sampling of the true rate adds at most 1/(2 sqrt 40000) = .0025. Six standard
	// deviations: a false alarm in 5e8.
	if sd := math.Hypot(got.StdError, .0025); math.Abs(got.Share-rate) > 6*sd {
		t.Errorf("share %v; the true rate is %v, %v standard deviations away", got.Share, rate, (got.Share-rate)/sd)
	}
}

func TestNoMoreReportsThanBudget(t *testing.T) {
	c := ours(1, train.SignPRS, 1, 100)
	c.Agents, c.Budget, c.Workers = 20, 3, 4
	r, err := simulate.Run(context.Background(), c)
	if !errors.Is(err, train.ErrBudget) || r.Accepted != 60 {
		t.Errorf("%d reports of 20 agents with budget for 3 each, %v; want 60 and ErrBudget", r.Accepted, err)
	}
	if r.Epsilon != 3 {
		t.Errorf("largest epsilon of an agent %v; want 3", r.Epsilon)
	}
}

func TestProgressStopsARun(t *testing.T) {
	c := ours(1, train.SignPRS, 1, 100)
	calls := 0
	c.Progress = func(p simulate.Progress) bool {
		calls++
		if p.Accepted != uint64(calls) || p.Score < 8 || p.Score > 200 {
			t.Errorf("call %d: %+v", calls, p)
		}
		return calls < 10
	}
	if r := run(t, c); r.Accepted != 10 || len(r.Scores) != 10 || r.Done {
		t.Errorf("%+v; want to stop after 10", r.Status)
	}
}

// TestNoiseComesFromTheSystemUnlessSaid runs twice in the same world.
func TestNoiseComesFromTheSystemUnlessSaid(t *testing.T) {
	c := ours(1, train.PrivUnit, 1, 20)
	c.Noise = nil
	a, b := run(t, c), run(t, c)
	if a.Theta[0] == b.Theta[0] {
		t.Error("two runs drew the same noise")
	}
	if a.Scores[0] != b.Scores[0] {
		t.Errorf("the first episode differs, %v and %v: the world does not follow from the seed", a.Scores[0], b.Scores[0])
	}
}

func TestAgentsLiveInAllEnvironments(t *testing.T) {
	c := ours(1, train.SignPRS, 1, 3000)
	c.Local.Network.Hidden = nil
	var counts [3]int
	for slot := range 3000 {
		counts[c.EnvironmentOf(uint64(slot))]++
	}
	for i, n := range counts { // binomial(3000, 1/3): six standard deviations are 155
		if math.Abs(float64(n)-1000) > 155 {
			t.Errorf("%d of 3000 agents live in environment %d; want a third", n, i)
		}
	}
}

func TestSettingsThatContradictEachOtherAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*simulate.Config){
		"no environments":       func(c *simulate.Config) { c.Environments = nil },
		"budget below a report": func(c *simulate.Config) { c.Budget = .5 },
		"unknown schedule":      func(c *simulate.Config) { c.Schedule = "now" },
		"negative workers":      func(c *simulate.Config) { c.Workers = -1 },
		"unknown method":        func(c *simulate.Config) { c.Local.Method = "hope" },
		"no local steps":        func(c *simulate.Config) { c.Local.Steps = 0 },
		"critic of two":         func(c *simulate.Config) { c.Local.Method, c.Local.Episodes = device.ActorCritic, 2 },
		"evolution of gradients": func(c *simulate.Config) {
			c.Local.Method, c.Local.Perturbation = device.Evolution, .1
		},
		"one bit of a gradient": func(c *simulate.Config) {
			c.Terms.Randomizer = train.Randomizer{Mechanism: train.OneBit, Epsilon: 1, Clip: 200}
		},
		"local step without optimizer": func(c *simulate.Config) { c.Local.Steps = 3 },
		"evaluation for nothing":       func(c *simulate.Config) { c.Success = &simulate.Success{Every: 1, Agents: 1} },
		"wrong inputs":                 func(c *simulate.Config) { c.Local.Network.Inputs = 3 },
	} {
		c := ours(1, train.SignPRS, 1, 3)
		spoil(&c)
		if _, err := simulate.Run(context.Background(), c); !errors.Is(err, train.ErrConfig) && !errors.Is(err, learn.ErrOptions) {
			t.Errorf("%s: %v; want ErrConfig", name, err)
		}
	}
}

func TestInitialWeightsHaveALaw(t *testing.T) {
	for _, sd := range []float64{-1, math.NaN(), math.Inf(1)} {
		c := ours(1, train.SignPRS, 1, 3)
		c.Init.Normal = sd
		if _, err := simulate.Run(context.Background(), c); !errors.Is(err, train.ErrConfig) {
			t.Errorf("standard deviation %v: %v; want ErrConfig", sd, err)
		}
	}
}

func TestMetrics(t *testing.T) {
	scores := []float64{1, 5, 7, 3, 9, 9}
	for _, c := range []struct {
		window    int
		threshold float64
		want      int
	}{{1, 7, 3}, {2, 6, 2}, {2, 6.5, 5}, {3, 7, 4}, {3, 7.1, 0}, {6, 5, 1}, {7, 0, 0}} {
		if got := simulate.FirstSuccess(scores, c.window, c.threshold); got != c.want {
			t.Errorf("window %d, threshold %v: %d; want %d", c.window, c.threshold, got, c.want)
		}
	}
	for share, want := range map[float64]float64{1: 34. / 6, .5: 7, .34: 9, .1: 9} {
		if got := simulate.Retention(scores, share); math.Abs(got-want) > 1e-12 {
			t.Errorf("last %v: %v; want %v", share, got, want)
		}
	}
	if got := simulate.Retention(nil, .1); got != 0 {
		t.Errorf("no scores: %v; want 0", got)
	}
}

// BenchmarkSubmissions runs the paper's Laplace mechanism with one report an
// update, exact noise, on one goroutine.
func BenchmarkSubmissions(b *testing.B) {
	c := paper(1, 1, uint64(b.N))
	c.Threads = 1
	src := noise.NewSeeded(1)
	c.Noise = func(uint64) *noise.Source { return src }
	b.ReportAllocs()
	if _, err := simulate.Run(context.Background(), c); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "submissions/s")
}
