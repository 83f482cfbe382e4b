// Package serve is the curator's service. It runs next to the data; analysts plan
// and ask over HTTPS, and a steward approves. Only the steward sees rows, counts,
// or errors about rows.
//
//	cfg, err := serve.Load("serve.yaml")
//	s, err := serve.Open(ctx, cfg)
//	defer s.Close()
//	err = s.Run(ctx)
//
// # The steward's part and the analyst's part
//
// The steward's configuration of a dataset ([Dataset]) fixes what an analyst must not
// choose: where the data are and how they are read, the unit of privacy and the
// adjacency, what is publicly known, the ledger. It is stored in the ledger as the
// dataset's contract. An analyst's question is the rest of an evaluation's
// configuration: policies, method, epsilon and delta.
//
// # The life of an ask
//
// waiting (for a steward) -> queued -> running -> released | pending | refused, or
// withdrawn before it runs. Its key in the ledger is derived from the client's, so it is
// charged once, whatever is killed and whoever takes it over. A charged ask ends as released, with
// the bytes that the ledger has, or as pending, with no answer. A failure before the
// charge is reported to the steward; the analyst learns that nothing was spent, and each
// such refusal is a failed check of the dataset, which the ledger counts.
//
// With publish every, the analyst learns the end of an ask, whatever it is, at the
// next full multiple of that time, so that it shows little of how long the data took to
// read. The budget is shown without delay and so shows when a charge was made.
//
// # What is held against each other
//
// Store, ledger, audit log and witness name each other's entries. What they say is a value, and
// the verdict on it a function of that value, asked at the start, before each charge, and before
// anything of the budget is shown. Where they contradict each other nothing is charged.
//
// Sources: the four steps are those of package discreet; the adjacency, unit and clip
// of a release are those of its plan.
package serve
