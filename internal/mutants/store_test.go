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
		{"ledger: a fingerprint has no key", "dp/ledger/fingerprint.go",
			[][2]string{{"hmac.New(sha256.New, l.key)", "hmac.New(sha256.New, nil)"}}, "./dp/ledger", "FingerprintIsKeyed"},
		{"ledger: the last entry is not held against the head", "dp/ledger/ledger.go",
			[][2]string{{"|| !bytes.Equal(row.Hash, head) ", "|| bytes.Equal(head, nil) "}}, "./dp/ledger", "LastEntryIsHeld"},
		{"ledger: functions in a hostile schema are trusted", "dp/ledger/internal/store/sqlite.go",
			[][2]string{{"\"trusted_schema(0)\", ", ""}}, "./dp/ledger/internal/store", "SQLiteSettings"},
		{"receipt: issued without a seal", "dp/receipt/receipt.go",
			[][2]string{{"if !seal.Valid() {", "if seal.Valid() && false {"}}, "./dp/receipt", "IssueNeedsASeal"},
		{"train: others can read the secret of tokens", "train/simulate/journal.go",
			[][2]string{{"atomicfile.Write(j.path(snapshotName), 0o600", "atomicfile.Write(j.path(snapshotName), 0o644"}}, "./train/simulate", "ADirectoryIsItsOwners"},
		{"train: tokens are issued again after a restore", "train/snapshot.go",
			[][2]string{{"a.state.Issued += reservedSlots", "a.state.Issued += 0"}}, "./train", "RestoringReissues"},
		{"train: a damaged log is cut in the middle", "train/simulate/reportlog.go",
			[][2]string{{"case after > 0:", "case after < 0:"}}, "./train/simulate", "DamageIsRefused"},
		{"train: a ledger of a larger budget is obeyed", "train/ledgerwallet/wallet.go",
			[][2]string{{"s.Budget.Epsilon > w.budget.Epsilon ||", "s.Budget.Epsilon < 0 ||"}}, "./train/ledgerwallet", "LedgerOfAnotherBudget"},
		{"train: an evaluator's failure is heard", "train/simulate/success.go",
			[][2]string{{"failed == nil", "(failed == nil || failed != nil)"}}, "./train/simulate", "RunGoesOnWhereEnvironmentsFail"},
		{"train: a token is not bound to its run", "train/aggregator.go",
			[][2]string{{"m = append(m, a.state.Run[:]...)", ""}}, "./train", "TokensAreOfOneRun"},
		{"train: an agent pays before it trains", "train/simulate/worker.go",
			[][2]string{{"vector, err := w.learn(a)", "_, _, _ = agent.Wallet.Debit(ctx, a.task.Slot, w.codec.Event())\n\tvector, err := w.learn(a)"}}, "./train/simulate", "CrashInTraining"},
		{"train: an agent takes any weights", "train/agent.go",
			[][2]string{{"|| HashWeights(theta) != t.Weights {", "{"}}, "./train", "AgentRefusesOtherWeights"},
		{"train: a report is made after its deadline", "train/agent.go",
			[][2]string{{"if a.past(t.Deadline) {", "if a.past(0) {"}}, "./train", "Deadlines"},
		{"train: the receipt is not redeemed", "train/codec.go",
			[][2]string{{"if err := paid.Redeem(dp.ReplaceOne, event); err != nil {", "if err := error(nil); err != nil {"}}, "./train", "PaidForAndKept|CodecWantsToBePaid"},
	}
}
