package evaluation

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/spec"
)

// An interrupt that comes once the noise is drawn does not keep the release out
// of the ledger: the budget is spent, and the release would be lost for nothing.
func TestAnInterruptAfterTheDrawStillRecords(t *testing.T) {
	ctx := context.Background()
	c := config.Config{
		Data:    config.Data{Path: config.Names{"../../examples/pbc/trajectories.csv"}},
		Problem: config.Problem{Persons: 312, Gamma: 1, Horizon: 16, Reward: &config.Bounds{Range: evaluate.Range{Min: 0, Max: 1}}},
		Target:  config.Target{Kind: "constant", Action: &config.Action{Number: 1}},
		Method:  config.Method{Name: "constant"}, // its draw takes no time to be interrupted in
		Privacy: config.Privacy{Adjacency: "replace_one", Epsilon: 1, Delta: 1e-5},
		Ledger:  &config.Ledger{Path: filepath.Join(t.TempDir(), "budget.db")},
	}
	l, err := ledger.Create(ctx, c.Ledger.Path, ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := spec.New(c)
	if err != nil {
		t.Fatal(err)
	}
	source, err := noise.NewSource()
	if err != nil {
		t.Fatal(err)
	}
	r := run{spec: s, key: "k", account: &charging.Account{Ledger: l, Spec: s, Key: "k"}}
	check, err := r.begin(ctx, charging.Terms{FailedChecks: 1})
	if err != nil {
		t.Fatal(err)
	}
	found, err := scan.Check(ctx, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	grant, err := check.pay(ctx, found.Ready.Plan(), found.Persons)
	if err != nil {
		t.Fatal(err)
	}
	release, err := found.Ready.Run(ctx, grant.Receipt, source)
	if err != nil {
		t.Fatal(err)
	}
	interrupted, cancel := context.WithCancel(ctx)
	cancel()
	result, err := r.record(interrupted, grant.Receipt, release, r.entry(grant))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.VerifyRelease(ctx, result.JSON); err != nil {
		t.Error(err)
	}
}
