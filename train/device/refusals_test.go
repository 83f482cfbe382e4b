package device_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// TestRandomizersWithoutMeaningAreRefused: a setting that a mechanism ignores would
// be taken for protection.
func TestRandomizersWithoutMeaningAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, r := range []train.Randomizer{
		{Mechanism: train.SignPRS, Epsilon: 2, Clip: -5}, {Mechanism: train.SignPRS, Epsilon: 2, Clip: 1}, {Mechanism: train.SignPRS, Epsilon: 2, Clip: nan},
		{Mechanism: train.SignPRS, Epsilon: 2, Rows: -3}, {Mechanism: train.SignPRS, Epsilon: 2, Rows: 3},
		{Mechanism: train.PrivUnit, Epsilon: 2, Clip: nan}, {Mechanism: train.PrivUnit, Epsilon: 2, Rows: 1},
		{Mechanism: train.PRS, Epsilon: 2, Clip: 1, Rows: -3}, {Mechanism: train.PRS, Epsilon: 2, Clip: 1, Rows: 9},
		{Mechanism: train.Laplace, Epsilon: 2, Clip: 1, Rows: 1}, {Mechanism: train.Laplace, Epsilon: 2, Clip: nan},
		{Mechanism: train.NotPrivate, Clip: -1}, {Mechanism: train.NotPrivate, Clip: nan}, {Mechanism: train.NotPrivate, Clip: inf},
		{Mechanism: train.NotPrivate, Epsilon: 2}, {Mechanism: train.NotPrivate, Epsilon: nan}, {Mechanism: train.NotPrivate, Rows: 1},
	} {
		_, l := linear(r.Mechanism)
		if _, err := device.New(l, r); !errors.Is(err, train.ErrConfig) || !errors.Is(err, local.ErrParameter) {
			t.Errorf("%+v: %v; want ErrConfig", r, err)
		}
	}
	for _, clip := range []float64{0, 5e-324, -200, nan, inf} {
		_, l := linear(train.OneBit)
		l.Method, l.Perturbation = device.Evolution, .1
		if _, err := device.New(l, train.Randomizer{Mechanism: train.OneBit, Epsilon: 2, Clip: clip}); !errors.Is(err, train.ErrConfig) {
			t.Errorf("one bit, clip %v: %v; want ErrConfig", clip, err)
		}
	}
}

func TestLocalSettingsOutOfRangeAreRefused(t *testing.T) {
	nan := math.NaN()
	for name, spoil := range map[string]func(*device.Local){
		"an optimizer of no kind":        func(l *device.Local) { l.Optimizer.Kind = "bogus" },
		"an optimizer that steps back":   func(l *device.Local) { l.Optimizer = train.Optimizer{Kind: "sgd", Step: -1} },
		"an optimizer without a step":    func(l *device.Local) { l.Optimizer = train.Optimizer{Kind: "sgd", Step: nan} },
		"perturbation of a gradient":     func(l *device.Local) { l.Perturbation = .1 },
		"perturbation not a number":      func(l *device.Local) { l.Perturbation = nan },
		"episodes without end":           func(l *device.Local) { l.Episodes = 4611686018427387904 },
		"episodes beyond memory":         func(l *device.Local) { l.Episodes = 1e8 },
		"steps without end":              func(l *device.Local) { l.Steps, l.Optimizer = math.MaxInt, train.Optimizer{Kind: "sgd", Step: 1} },
		"a negative limit":               func(l *device.Local) { l.MaxSteps = -1 },
		"a layer whose size overflows":   func(l *device.Local) { l.Network.Hidden = []int{4611686018427387905, 4} },
		"a layer beyond memory":          func(l *device.Local) { l.Network.Hidden = []int{100000000000} },
		"a learning rule without number": func(l *device.Local) { l.PolicyGradient.Entropy = nan },
	} {
		for _, m := range []train.Mechanism{train.SignPRS, train.NotPrivate} {
			terms, l := linear(m)
			if m == train.NotPrivate {
				terms.Randomizer.Epsilon = 0
			}
			spoil(&l)
			if _, err := device.New(l, terms.Randomizer); !errors.Is(err, train.ErrConfig) && !errors.Is(err, learn.ErrOptions) {
				t.Errorf("%s, %s: %v; want ErrConfig", name, m, err)
			}
		}
	}
}

// TestEpisodesThatOutgrowMemoryAreRefused before anything is paid for.
func TestEpisodesThatOutgrowMemoryAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*device.Local)
		want  bool
	}{
		"many short ones":  {func(l *device.Local) { l.Episodes, l.MaxSteps = 1<<16, 100 }, true},
		"many of 200":      {func(l *device.Local) { l.Episodes, l.Network.Hidden = 1<<16, []int{64} }, false},
		"a long one":       {func(l *device.Local) { l.MaxSteps = 1e6 }, true},
		"one without end":  {func(l *device.Local) { l.MaxSteps = math.MaxInt }, false},
		"a layer too wide": {func(l *device.Local) { l.Network.Hidden = []int{2e6} }, false},
	} {
		_, l := linear(train.SignPRS)
		c.spoil(&l)
		d, err := device.New(l, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Player(must(pole())(t)); (err == nil) != c.want || err != nil && !errors.Is(err, train.ErrConfig) {
			t.Errorf("%s: %v; want it allowed: %v", name, err, c.want)
		}
	}
}
