package train_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
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
	task := aggregator(t, terms, train.Options{}).Issue(0)
	report, outing, err := a.Answer(context.Background(), &task, start)
	if err != nil {
		t.Fatal(err)
	}

	net := must2(learn.NewMLP(l.Network))(t)
	player := must2(learn.NewPlayer(net, must2(poles()[0].New())(t), 0, learn.OwnReward))(t)
	loss := must2(l.PolicyGradient.Bind(net))(t)
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
	if outing != (train.Outing{Score: score, Steps: decisions}) {
		t.Errorf("%+v; want a score of %v over %d decisions", outing, score, decisions)
	}
}

// TestEvolutionMovesTowardsWhatScored sends both possible bits and computes the
// perturbation from the task's seed.
func TestEvolutionMovesTowardsWhatScored(t *testing.T) {
	const step, dim = .25, 300 // more than one block of signs
	terms := train.Terms{Dim: dim, Randomizer: train.Randomizer{Mechanism: train.OneBit, Epsilon: 1, Clip: 200}, Submissions: 10,
		Optimizer: train.Optimizer{Kind: "sgd", Step: step}, Buffer: 1, Staleness: -1}
	agg := aggregator(t, terms, train.Options{})
	theta, last := make([]float64, dim), make([]float64, dim)
	baseline := 0.0 // the mean of earlier signs
	for n, sign := range []float64{1, -1, 1, 1, -1} {
		task := agg.Issue(0)
		bit := byte(0)
		if sign > 0 {
			bit = 1
		}
		r := train.Report{Slot: task.Slot, Version: task.Version, Token: task.Token, Body: []byte{0x12, bit}}
		submit(t, agg, must2(r.AppendBinary(nil))(t), train.Accepted)
		agg.Theta(theta)
		for i := range theta {
			block := sha256.Sum256(binary.LittleEndian.AppendUint64(append([]byte(nil), task.Seed[:]...), uint64(i/256)))
			tried := 2*float64(block[i%256/8]>>(i%8)&1) - 1
			if want := step * (sign - baseline) * tried; math.Abs(theta[i]-last[i]-want) > 1e-12 {
				t.Fatalf("report %d moves weight %d by %v; want %v", n, i, theta[i]-last[i], want)
			}
		}
		baseline += (sign - baseline) / float64(n+1)
		copy(last, theta)
	}
}

func TestUniformActionsFallAsAnnounced(t *testing.T) {
	terms, l := linear(train.NotPrivate)
	terms.Randomizer.Epsilon = 0
	l.Greedy, l.Uniform, l.UniformFor = true, .5, 100
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, l, terms.Randomizer, 1, 5)
	zero := make([]float64, 8) // a tie: the greedy action is 0, always left
	early := 0
	for n := range 80 {
		task := agg.Issue(0)
		_, out, err := a.Answer(context.Background(), &task, zero)
		if err != nil {
			t.Fatal(err)
		}
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
