package device_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/simtest"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// antithetic is a run whose reports say which of two sides did better.
func antithetic(episodes int) (train.Terms, device.Local) {
	terms, l := linear(train.OneBit)
	terms.Randomizer.Clip = 3 // of no meaning: a third of what is reported would show it
	l.Method, l.Episodes, l.Perturbation, l.PolicyGradient = device.Antithetic, episodes, .4, learn.PolicyGradient{}
	return terms, l
}

// TestWhichSideDidBetter plays the same episodes with package learn alone, on the side that is
// added and then on that which is taken off, and compares. Both answers and ties come up.
func TestWhichSideDidBetter(t *testing.T) {
	terms, l := antithetic(2)
	a := agent(t, l, terms.Randomizer, 1, 5)
	net := must(learn.NewMLP(l.Network))(t)
	player := must(learn.NewPlayer(net, must(pole())(t), 0, learn.OwnReward))(t)
	theta, signs := []float64{.1, -.2, .3, .4, -.1, .2, .5, -.3}, make([]float64, 8)
	seen := map[float64]int{}
	for n := range uint64(300) {
		task := train.Task{Seed: local.Seed{byte(n), byte(n >> 8)}}
		got, rollout := a.device.Learn(&task, theta, a.player, rand.New(rand.NewPCG(n, 1)))
		rng := rand.New(rand.NewPCG(n, 1))
		train.Perturb(signs, task.Seed, 1)
		var sums [2]float64
		steps := 0
		for side, weight := range []float64{.4, -.4} {
			moved := make([]float64, 8)
			for i := range moved {
				moved[i] = theta[i] + weight*signs[i]
			}
			for range 2 {
				var e learn.Episode
				if err := player.Play(&e, moved, learn.Explore{}, rng); err != nil {
					t.Fatal(err)
				}
				sums[side] += e.Score
				steps += e.Steps()
			}
		}
		want := 1.5
		if sums[0] != sums[1] {
			want = map[bool]float64{true: 3, false: 0}[sums[0] > sums[1]]
		}
		if len(got) != 1 || got[0] != want || rollout != (device.Rollout{Score: (sums[0] + sums[1]) / 4, Steps: steps}) {
			t.Fatalf("seed %d: scores %v: %v reported, %+v; want %v of %d steps", n, sums, got, rollout, want, steps)
		}
		seen[want]++
	}
	if seen[0] < 50 || seen[3] < 50 || seen[1.5] == 0 {
		t.Errorf("reports by what they say: %v; the test says little", seen)
	}
}

// TestAFailureOnTheSecondSideIsNotHeard: the report is the one on a tie, with the same noise, and so is the control's.
func TestAFailureOnTheSecondSideIsNotHeard(t *testing.T) {
	terms, l := antithetic(4)
	agg := aggregator(t, terms)
	control := l
	control.ZeroGradient = true
	for n := range uint64(20) {
		a, zero := agent(t, l, terms.Randomizer, 1e3, 1), agent(t, control, terms.Randomizer, 1e3, 1)
		a.Noise, zero.Noise = noise.NewSeeded(n), noise.NewSeeded(n)
		task, theta := agg.Issue(0), make([]float64, 8)
		// Where the first side ends is where the second begins: four episodes of 8 steps at least, and 200 at most.
		whole := must(a.device.Player(must(pole())(t)))(t)
		_, out := a.device.Learn(&task, theta, whole, rand.New(rand.NewPCG(1, 1)))
		a.player = must(a.device.Player(&simtest.Faulty{Env: must(pole())(t), Left: out.Steps - 2}))(t)
		a.rng = rand.New(rand.NewPCG(1, 1))
		report, out := a.answer(t, task, theta)
		if out.Score != 0 || out.Steps != 0 || !errors.Is(out.Failed, simtest.ErrSensor) {
			t.Errorf("the agent is told %+v; want its failure", out)
		}
		if control, _ := zero.answer(t, task, theta); !bytes.Equal(report, control) {
			t.Error("not the report on a tie")
		}
		submit(t, agg, report, train.Accepted)
	}
}

// TestAntitheticSettingsThatAreRefused.
func TestAntitheticSettingsThatAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*device.Local, *train.Randomizer){
		"a gradient's randomiser": func(_ *device.Local, r *train.Randomizer) {
			*r = train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}
		},
		"no perturbation": func(l *device.Local, _ *train.Randomizer) { l.Perturbation = 0 },
		"two local steps": func(l *device.Local, _ *train.Randomizer) { l.Steps = 2 },
		"a least score":   func(l *device.Local, _ *train.Randomizer) { l.ScoreLow = -1 },
	} {
		terms, l := antithetic(1)
		spoil(&l, &terms.Randomizer)
		if _, err := device.New(l, terms.Randomizer); !errors.Is(err, train.ErrConfig) {
			t.Errorf("%s: %v; want ErrConfig", name, err)
		}
	}
}
