package device_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// linear is the smallest run: a linear policy on cart pole, one agent.
func linear(m train.Mechanism) (train.Terms, device.Local) {
	t := train.Terms{
		Dim:         8,
		Randomizer:  train.Randomizer{Mechanism: m, Epsilon: 2},
		Submissions: 100,
		Optimizer:   train.Optimizer{Kind: "sgd", Step: .1},
		Buffer:      4, Staleness: 1,
	}
	l := device.Local{Method: device.PolicyGradient, Network: learn.Network{Inputs: 4, Actions: 2},
		Steps: 1, Episodes: 1, PolicyGradient: learn.PolicyGradient{Gamma: .95}}
	return t, l
}

func pole() (sim.Env, error) { return cartpole.New(cartpole.Options{Gravity: 9.7, MaxSteps: 200}) }

func aggregator(t testing.TB, terms train.Terms) *train.Aggregator {
	t.Helper()
	return must(train.NewAggregator(terms, make([]float64, terms.Dim), train.Options{}))(t)
}

// participant is an agent with what it learns by.
type participant struct {
	*train.Agent
	device *device.Device
	player *learn.Player
	rng    *rand.Rand
}

func agent(t testing.TB, l device.Local, r train.Randomizer, budget float64, seed uint64) *participant {
	t.Helper()
	d := must(device.New(l, r))(t)
	a := &train.Agent{Codec: must(train.NewCodec(r, d.Dim()))(t), Noise: noise.NewSeeded(seed)}
	a.Wallet = must(train.NewMemoryWallet(dp.Budget{Epsilon: budget}))(t)
	return &participant{a, d, must(d.Player(must(pole())(t)))(t), rand.New(rand.NewPCG(seed, 1))}
}

// answer accepts a task, trains and reports. The task is made to name the weights.
func (p *participant) answer(t testing.TB, task train.Task, theta []float64) ([]byte, device.Rollout) {
	t.Helper()
	task.Weights = train.HashWeights(theta)
	if err := p.Accept(&task, theta); err != nil {
		t.Fatal(err)
	}
	vector, rollout := p.device.Learn(&task, theta, p.player, p.rng)
	return must(p.Report(context.Background(), &task, vector))(t), rollout
}

func submit(t testing.TB, a *train.Aggregator, report []byte, want train.Verdict) {
	t.Helper()
	got, err := a.Submit(report)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("verdict %v; want %v", got, want)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
