package charging

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
)

// Entry is what the release says of its charge, as it was when it was committed:
// nothing is asked of the ledger between the draw and the record.
func Entry(rule string, g *ledger.Grant) *evaluate.LedgerEntry {
	c := g.Entry.Charge
	return &evaluate.LedgerEntry{
		Stamp: *g.Receipt.Stamp(), Time: g.Entry.Time, Key: c.Key, Analyst: c.Analyst, Purpose: c.Purpose,
		Rule: rule, Budget: g.Budget, Spent: g.Spent, Shares: shares(rule, g.Before, g.Cost, g.Most),
	}
}

// shares splits the part of the budget that the charge was taken from.
func shares(rule string, before, cost, most account.Cost) evaluate.Shares {
	split := func(part string, before, this, most float64) evaluate.Shares {
		if !(most > 0) {
			return evaluate.Shares{Part: part, Left: 1}
		}
		clamp := func(x float64) float64 { return min(max(x/most, 0), 1) }
		return evaluate.Shares{Part: part, Before: clamp(before), This: clamp(this), Left: clamp(most - before - this)}
	}
	if rule != account.Basic.String() && cost.Sum > 0 {
		return split("rule", before.Sum, cost.Sum, most.Sum)
	}
	part := "reserve"
	if rule == account.Basic.String() {
		part = "budget"
	}
	// Both epsilon and delta add up here; what is nearer to its end decides.
	if (before.Delta+cost.Delta)*most.Epsilon > (before.Epsilon+cost.Epsilon)*most.Delta {
		return split(part, before.Delta, cost.Delta, most.Delta)
	}
	return split(part, before.Epsilon, cost.Epsilon, most.Epsilon)
}

// SharedSeries is what a release from a ledger says of others.
const SharedSeries = "One of any number of releases that share one budget. Analysts may choose each after seeing the earlier ones, and may work together; an analyst's share, if there is one, only limits what that analyst may spend."

// Composition says how a charged release is added up.
func Composition(r *evaluate.Release) string {
	return fmt.Sprintf("Within the release: by the %s accountant, over the whole event, whose parts were fixed before any noise was drawn. "+
		"With other releases: by the %s rule of the ledger, which is valid even if each release is chosen after seeing the earlier ones, up to epsilon %v, delta %v for all that is charged to it.",
		r.Privacy.Accountant, r.Ledger.Rule, r.Ledger.Budget.Epsilon, r.Ledger.Budget.Delta)
}
