package ledger_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	p := filepath.Join(t.TempDir(), "b.db")
	l, err := ledger.Create(ctx, p, ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	c := ledger.Charge{Key: "a", Analyst: "ann", Event: dp.Gaussian{NoiseMultiplier: 20}, Adjacency: dp.ReplaceOne}
	g, err := l.Charge(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Charge(ctx, c)
	t.Log(err, errors.Is(err, ledger.ErrPending))
	t.Log(g.Receipt.Redeem(dp.ReplaceOne, c.Event), l.Record(ctx, g.Receipt, []byte("hello")))
	_, err = l.Charge(ctx, c)
	t.Log(err)
	c.Key = "b"
	c.Event = dp.Gaussian{NoiseMultiplier: 3}
	_, err = l.Charge(ctx, c)
	t.Log(err)
	s, err := l.State(ctx)
	t.Logf("%+v %v", s, err)
	start := time.Now()
	n := 0
	c.Event = dp.Gaussian{NoiseMultiplier: 3000}
	for time.Since(start) < time.Second {
		c.Key = ledger.NewKey()
		if _, err := l.Charge(ctx, c); err != nil {
			t.Fatal(err)
		}
		n++
	}
	t.Log(n, "charges/s")
}
