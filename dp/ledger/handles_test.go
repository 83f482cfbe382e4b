package ledger_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// Goroutines that open datasets of one file at the same time, each with a handle
// of its own, wait for each other.
func TestManyHandlesOnOneFile(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "agents.db")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			c := ledger.Config{Dataset: fmt.Sprintf("agent-%d", i), Unit: "agent", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 0}, Rule: account.Basic}
			l, err := ledger.Create(ctx, path, c)
			if err != nil {
				t.Errorf("create: %v", err)
				return
			}
			l.Close()
			for k := range 4 {
				l, err := ledger.Open(ctx, path, c.Dataset)
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				_, err = l.Charge(ctx, ledger.Charge{Key: fmt.Sprint(k), Analyst: "a", Event: dp.ApproximateDP{Epsilon: 0.25}, Adjacency: dp.ReplaceOne, Unit: "agent"})
				if err != nil {
					t.Errorf("charge: %v", err)
				}
				l.Close()
			}
		})
	}
	wg.Wait()
}
