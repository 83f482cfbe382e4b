// Package ledgerwallet keeps the budgets of training agents in ledgers of package
// dp/ledger: a store with one ledger an agent, so that what an agent spent outlives its
// process and adds up over all training runs.
//
//	store := ledgerwallet.NewStore("agents.db")
//	wallet := store.Wallet("agent 7", dp.Budget{Epsilon: 8}, "run 3") // a train.Wallet
//
// The unit is the agent, adjacency replace-one, and debits add up by basic
// composition. A debit is durable before its receipt is handed out, and a report
// before it is returned.
package ledgerwallet
