package discreet

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// An interrupt that comes once the noise is drawn does not keep the release out
// of the ledger: the budget is spent, and the release would be lost for nothing.
func TestAnInterruptAfterTheDrawStillRecords(t *testing.T) {
	ctx := context.Background()
	c := Config{
		Data:    Data{Path: Paths{"examples/pbc/trajectories.csv"}},
		Problem: Problem{Persons: 312, Gamma: 1, Horizon: 16, Reward: &Bounds{Range: evaluate.Range{Min: 0, Max: 1}}},
		Target:  Target{Kind: "constant", Action: &Action{Number: 1}},
		Method:  Method{Name: "constant"}, // its draw takes no time to be interrupted in
		Privacy: Privacy{Adjacency: "replace_one", Epsilon: 1, Delta: 1e-5},
		Ledger:  &Ledger{Path: filepath.Join(t.TempDir(), "budget.db")},
	}
	l, err := ledger.Create(ctx, c.Ledger.Path, ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	j, err := newJob(c)
	if err != nil {
		t.Fatal(err)
	}
	j.mayFail = 1
	if err := j.begin(ctx, l); err != nil {
		t.Fatal(err)
	}
	ready, _, err := j.check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	grant, err := j.pay(ctx, l, ready.Plan())
	if err != nil {
		t.Fatal(err)
	}
	interrupted, cancel := context.WithCancel(ctx)
	cancel()
	if j.source, err = noise.NewSource(); err != nil {
		t.Fatal(err)
	}
	result, err := j.release(interrupted, l, ready, grant)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.VerifyRelease(ctx, result.JSON); err != nil {
		t.Error(err)
	}
}
