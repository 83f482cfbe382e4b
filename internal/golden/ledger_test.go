package golden

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// TestEntriesKeepTheirBytes charges a ledger of each rule and adjacency for a
// release of each kind of event, and compares its entries in canonical form and
// the last release.
func TestEntriesKeepTheirBytes(t *testing.T) {
	ctx := context.Background()
	n := open(t, "ledgers")
	questions := map[string]question{}
	for _, q := range private() {
		questions[q.name] = q
	}
	for _, c := range []struct {
		rule      account.Rule
		adjacency dp.Adjacency
	}{{account.Basic, dp.ReplaceOne}, {account.GaussianDP, dp.ReplaceOne}, {account.GaussianDP, dp.AddRemoveOne}, {account.Renyi, dp.AddRemoveOne}} {
		rule, adjacency := c.rule, c.adjacency
		name := rule.String() + "." + adjacency.String()
		t.Run(name, func(t *testing.T) {
			dir := writeData(t)
			l, err := ledger.Create(ctx, filepath.Join(dir, "budget.db"), ledger.Config{
				Dataset: "visits", Adjacency: adjacency, Rule: rule, Budget: dp.Budget{Epsilon: 30, Delta: 1e-2}})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := l.SetShare(ctx, "ada", dp.Budget{Epsilon: 25, Delta: 9e-3}); err != nil {
				t.Fatal(err)
			}
			var last *discreet.Result
			for _, asked := range []string{"constant", "dp-wis-auto", "dp-lsw", "gpope", "dp-refine"} {
				c := parse(t, dir, questions[asked].config(adjacency.String()))
				c.Ledger = &config.Ledger{Path: "budget.db", Analyst: "ada", Purpose: "try " + asked}
				last = evaluated(t, c, discreet.WithKey("key-"+asked))
			}
			if err := l.SetBudget(ctx, dp.Budget{Epsilon: 40, Delta: 1e-2}, "a second year"); err != nil {
				t.Fatal(err)
			}
			var entries bytes.Buffer
			for e, err := range l.Entries(ctx, 0) {
				if err != nil {
					t.Fatal(err)
				}
				entries.Write(append(e.Line, '\n'))
			}
			n.compare(t, name+".ndjson", entries.Bytes())
			n.compare(t, name+".json", last.JSON)
		})
	}
	n.close(t)
}
