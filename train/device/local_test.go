package device_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// reported is the vector in a report that is not randomised.
func reported(report []byte) []float64 {
	body := report[42:]
	x := make([]float64, len(body)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(body[8*i:]))
	}
	return x
}

// TestLocalStepsReportTheChangeOfTheWeights goes through the same episodes with
// package learn alone.
func TestLocalStepsReportTheChangeOfTheWeights(t *testing.T) {
	const steps, episodes, rate = 3, 2, .7
	terms, l := linear(train.NotPrivate)
	terms.Randomizer.Epsilon = 0
	l.Steps, l.Episodes, l.Optimizer = steps, episodes, train.Optimizer{Kind: "sgd", Step: rate}
	a := agent(t, l, terms.Randomizer, 1, 5)
	start := []float64{.1, -.2, .3, .4, -.1, .2, .5, -.3}
	task := aggregator(t, terms).Issue(0)
	report, rollout := a.answer(t, task, start)

	net := must(learn.NewMLP(l.Network))(t)
	player := must(learn.NewPlayer(net, must(pole())(t), 0, learn.OwnReward))(t)
	loss := must(l.PolicyGradient.Bind(net))(t)
	rng := rand.New(rand.NewPCG(5, 1))
	theta, gradient := append([]float64(nil), start...), make([]float64, 8)
	score, decisions := 0.0, 0
	for step := range steps {
		played := make([]learn.Episode, episodes)
		for i := range played {
			if err := player.Play(&played[i], theta, learn.Explore{}, rng); err != nil {
				t.Fatal(err)
			}
			decisions += played[i].Steps()
			if step == 0 {
				score += played[i].Score / episodes
			}
		}
		clear(gradient)
		loss.Gradient(gradient, theta, played)
		for i, g := range gradient {
			theta[i] -= rate * g
		}
	}
	for i, got := range reported(report) {
		if want := start[i] - theta[i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("weight %d: %v reported; want %v", i, got, want)
		}
	}
	if rollout != (device.Rollout{Score: score, Steps: decisions}) {
		t.Errorf("%+v; want a score of %v over %d decisions", rollout, score, decisions)
	}
}

// TestOverflowingWeightsGiveAUniformReport: values at weights that overflow are not
// numbers, and so are gradients; a report on them must be one on zero, or its bits
// would not be random.
func TestOverflowingWeightsGiveAUniformReport(t *testing.T) {
	terms, l := linear(train.SignPRS)
	l.Method, l.Network.Value, terms.Dim = device.ActorCritic, true, 12
	l.ActorCritic = learn.ActorCritic{Gamma: .95, ValueWeight: .5}
	terms.Randomizer.Epsilon = 20 // eight bits: a truth that is heard
	for name, weight := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(1), "none": 0} {
		agg := aggregator(t, terms)
		a := agent(t, l, terms.Randomizer, 1e6, 7)
		theta := make([]float64, 12)
		for i := range theta {
			theta[i] = weight
		}
		ones, seen := 0, map[byte]bool{}
		for range 500 {
			task := agg.Issue(0)
			task.Seed = local.Seed{1} // the same projection every time
			report, _ := a.answer(t, task, theta)
			b := report[len(report)-1]
			seen[b] = true
			ones += bits.OnesCount8(b)
		}
		// 4000 fair coins: six standard deviations are 190. Of 256 bodies 500 draws
		// miss 36 on average; more than 100 with probability below 1e-20.
		fair := math.Abs(float64(ones)-2000) < 190 && len(seen) > 156
		if fair != (name != "none") {
			t.Errorf("weights %s: %d of 4000 bits are set, %d bodies; fair coins are wanted where weights overflow, and only there", name, ones, len(seen))
		}
	}
}

func TestUniformActionsFallAsAnnounced(t *testing.T) {
	terms, l := linear(train.NotPrivate)
	terms.Randomizer.Epsilon = 0
	l.Greedy, l.Uniform, l.UniformFor = true, .5, 100
	agg := aggregator(t, terms)
	a := agent(t, l, terms.Randomizer, 1, 5)
	zero := make([]float64, 8) // a tie: the greedy action is 0, always left
	early := 0
	for n := range 80 {
		task := agg.Issue(0)
		_, out := a.answer(t, task, zero)
		if n < 20 {
			early = max(early, out.Steps)
		}
		// Pushed left for ever, the pole falls within 12 steps from every start.
		if n >= 50 && out.Steps > 12 {
			t.Errorf("report %d: %d steps; want no uniform action after 50 reports", n, out.Steps)
		}
	}
	if early <= 12 {
		t.Errorf("at most %d steps in the first 20 reports; want uniform actions there", early)
	}
}

// TestScaledObservationsAreWhatTheNetworkSees: from the same weights and seeds, a device that scales reports what one
// does whose environment is scaled beforehand, and not what one does without.
func TestScaledObservationsAreWhatTheNetworkSees(t *testing.T) {
	_, l := linear(train.SignPRS)
	l.Network.Bias = true
	report := func(scale bool, env sim.Env) []float64 {
		l.Scale = scale
		d := must(device.New(l, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}))(t)
		theta := make([]float64, d.Dim())
		d.Init(theta, learn.Init{}, rand.New(rand.NewPCG(1, 1)))
		got, out := d.Learn(&train.Task{}, theta, must(d.Player(env))(t), rand.New(rand.NewPCG(2, 2)))
		if out.Failed != nil {
			t.Fatal(out.Failed)
		}
		return slices.Clone(got)
	}
	want := report(false, must(sim.Scaled(must(pole())(t)))(t))
	if got := report(true, must(pole())(t)); !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
	if raw := report(false, must(pole())(t)); slices.Equal(raw, want) {
		t.Error("scaling makes no difference: the test says little")
	}
	d := must(device.New(device.Local{Method: l.Method, Network: l.Network, Scale: true, Steps: 1, Episodes: 1}, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}))(t)
	if _, err := d.Player(unknown{must(pole())(t)}); !errors.Is(err, train.ErrConfig) {
		t.Errorf("an environment without ranges: %v; want ErrConfig", err)
	}
}

// unknown is an environment of which nothing is known.
type unknown struct{ sim.Env }

func (u unknown) Spec() sim.Spec {
	s := u.Env.Spec()
	s.Ranges, s.Reward = nil, sim.Range{}
	return s
}
