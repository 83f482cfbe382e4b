package train_test

import (
	"context"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/train"
)

// small are the terms of a run of 8 weights.
func small(m train.Mechanism) train.Terms {
	return train.Terms{
		Dim:         8,
		Randomizer:  train.Randomizer{Mechanism: m, Epsilon: 2},
		Submissions: 100,
		Optimizer:   train.Optimizer{Kind: "sgd", Step: .1},
		Buffer:      4, Staleness: 1,
	}
}

func aggregator(t testing.TB, terms train.Terms, o train.Options) *train.Aggregator {
	t.Helper()
	return must(train.NewAggregator(terms, make([]float64, terms.Dim), o))(t)
}

// agent is one participant of a run of 8 weights, with a wallet of its own.
func agent(t testing.TB, r train.Randomizer, budget float64, seed uint64) *train.Agent {
	t.Helper()
	codec := must(train.NewCodec(r, 8))(t)
	wallet := must(train.NewMemoryWallet(dp.Budget{Epsilon: budget}))(t)
	return &train.Agent{Codec: codec, Wallet: wallet, Noise: noise.NewSeeded(seed)}
}

// learned is what agents report on.
func learned(c *train.Codec) []float64 {
	x := make([]float64, c.Len())
	for i := range x {
		x[i] = float64(i%3) - .7
	}
	return x
}

// try lets an agent report, or refuse.
func try(a *train.Agent, task train.Task) ([]byte, error) {
	return a.Report(context.Background(), &task, learned(a.Codec))
}

func answer(t testing.TB, a *train.Agent, task train.Task) []byte {
	t.Helper()
	return must(try(a, task))(t)
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
