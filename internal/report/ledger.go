package report

import (
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/evaluate"
)

// ledgerView is the entry that paid for the release, and the budget after it.
type ledgerView struct {
	Dataset, Rule          string
	Entry, HeadSeq         int64
	Hash, Head             string
	Time                   string
	Key, Analyst, Purpose  string
	Budget, Spent          guarantee
	Chart                  *budgetChart
	Before, This, Left     string
	SharesOf, RuleCitation string
}

// guarantee is a formatted (epsilon, delta).
type guarantee struct{ Epsilon, Delta string }

// budgetChart splits the budget into what was spent before, by this release, and
// what is left: one bar as wide as the page.
type budgetChart struct {
	Before, This, Left bar
	Alt                string
}

func newLedgerView(e *evaluate.LedgerEntry) *ledgerView {
	v := &ledgerView{
		Dataset: e.Dataset, Rule: e.Rule, Entry: e.Seq, Hash: e.Entry.String(),
		Time: e.Time.UTC().Format("2 January 2006, 15:04:05 MST"),
		Key:  e.Key, Analyst: e.Analyst, Purpose: e.Purpose,
		Budget: guarantee{exact(e.Budget.Epsilon), exact(e.Budget.Delta)},
		Spent:  guarantee{significant(e.Spent.Epsilon, digits, up), significant(e.Spent.Delta, digits, up)},
		Before: percent(e.Shares.Before, up),
		This:   percent(e.Shares.This, up),
		Left:   percent(e.Shares.Left, down),
	}
	if e.Head.Hash != e.Entry { // charged with others in one go
		v.Head, v.HeadSeq = e.Head.Hash.String(), e.Head.Seq
	}
	v.SharesOf = shareWords(e.Shares.Part, e.Rule)
	v.RuleCitation = ruleSource(e.Rule)
	v.Chart = newBudgetChart(v, e.Shares)
	return v
}

func newBudgetChart(v *ledgerView, s evaluate.Shares) *budgetChart {
	whole := scale{0, max(s.Before+s.This+s.Left, 1)}
	return &budgetChart{
		Before: whole.bar(0, s.Before),
		This:   whole.bar(s.Before, s.Before+s.This),
		Left:   whole.bar(s.Before+s.This, whole.hi),
		Alt:    fmt.Sprintf("Of the budget, %s was spent before, %s by this release, and %s is left.", v.Before, v.This, v.Left),
	}
}

// shareWords says which part of the budget is split, and in what.
func shareWords(part, rule string) string {
	switch {
	case part == "reserve":
		return "the part of the budget that is reserved for charges that the rule does not cover; ε and δ add up in it"
	case part == "budget":
		return "the whole budget, in which ε and δ add up"
	case rule == "gaussian":
		return "the part of the budget for Gaussian noise, in which μ² (the square of the signal-to-noise ratio) adds up"
	case rule == "renyi":
		return "the part of the budget in which the Rényi divergence of one order adds up"
	}
	return "the quantity that adds up"
}

// ruleSource is whose theorem a rule is.
func ruleSource(rule string) string {
	return map[string]string{
		"basic":    "Rogers, Roth, Ullman, Vadhan 2016",
		"gaussian": "Smith and Thakurta 2022; Koskela, Tobaben, Honkela 2023",
		"renyi":    "Feldman and Zrnic 2021",
	}[rule]
}

// checkLedger refuses an entry that cannot be shown.
func checkLedger(e *evaluate.LedgerEntry) error {
	if e == nil {
		return nil
	}
	if err := finite("ledger", e.Budget.Epsilon, e.Budget.Delta, e.Spent.Epsilon, e.Spent.Delta, e.Shares.Before, e.Shares.This, e.Shares.Left); err != nil {
		return err
	}
	for _, share := range []float64{e.Shares.Before, e.Shares.This, e.Shares.Left} {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("%w: ledger.shares: a share is outside [0, 1]", ErrRelease)
		}
	}
	if e.Time.Equal(time.Time{}) {
		return fmt.Errorf("%w: ledger.time is missing", ErrRelease)
	}
	return nil
}

// charged reports that the release names the entry that paid for it. A bare
// claim is none.
func charged(r *evaluate.Release) bool {
	return r.Privacy != nil && r.Privacy.Charged && r.Ledger != nil
}
