//go:build slow

package mutants

// storeMutants are faults in what keeps budgets: the ledger itself, and the
// wallets and logs of agents in training.
func storeMutants() []mutant {
	return []mutant{
		{"ledger: a release may state what was not paid for", "dp/ledger/claims.go",
			[][2]string{{"if !stated || !claim.is(raw) {", "if !stated && !claim.is(raw) {"}}, "./dp/ledger", "ReleaseThatStates"},
		{"ledger: the caller may change a charged event", "dp/ledger/charge.go",
			[][2]string{{"event, err := ownEvent(c.Event)", "event, err := c.Event, error(nil)"}}, "./dp/ledger", "ChargeKeepsItsEvent"},
		{"ledger: charges are not added up", "dp/ledger/charge.go",
			[][2]string{{"totals.Spent = totals.Spent.Plus(body.Cost)", "_ = body.Cost"}}, "./dp/ledger", "AdmitsWhatTheFilter"},
		{"ledger: a receipt is used twice", "dp/receipt/receipt.go",
			[][2]string{{"if !r.used.CompareAndSwap(false, true) {", "if r.used.CompareAndSwap(true, true) && r.used == nil {"}}, "./dp/receipt", "ReceiptIsUsedOnce"},
		{"ledger: a receipt is for any event", "dp/receipt/receipt.go",
			[][2]string{{"!bytes.Equal(text, r.event)", "bytes.Equal(text, nil)"}}, "./dp/ledger", "ReceiptIsForTheChargedEvent"},
		{"ledger: a store that is being migrated is taken for an old one", "dp/ledger/internal/store/schema.go",
			[][2]string{{"version != 0 && version != Version {", "version == Version {"}}, "./dp/ledger/internal/store", "AMigrationIsWaitedFor"},
		{"train: tokens are issued again after a restore", "train/snapshot.go",
			[][2]string{{"a.state.Issued += reservedSlots", "a.state.Issued += 0"}}, "./train", "RestoringReissues"},
		{"train: a damaged log is cut in the middle", "train/reportlog.go",
			[][2]string{{"case after > 0:", "case after < 0:"}}, "./train", "DamageIsRefused"},
		{"train: a ledger of a larger budget is obeyed", "train/ledgerwallet.go",
			[][2]string{{"s.Budget.Epsilon > w.budget.Epsilon ||", "s.Budget.Epsilon < 0 ||"}}, "./train", "LedgerOfAnotherBudget"},
		{"train: an evaluator's failure is heard", "train/success.go",
			[][2]string{{"failed == nil", "(failed == nil || failed != nil)"}}, "./train", "RunGoesOnWhereEnvironmentsFail"},
	}
}
