// Package serve is the curator's service: it stands beside the data, analysts plan
// and ask over HTTPS, a steward decides, and nobody but the steward sees a row, a
// count, or an error that tells of rows.
//
//	cfg, err := serve.Load("serve.yaml")
//	s, err := serve.Open(ctx, cfg)
//	defer s.Close()
//	err = s.Run(ctx)
//
// # What is whose
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
// withdrawn before it runs. Its key in the ledger follows from the client's, so that whatever
// is killed, and whoever takes it over, it is charged once: what was charged ends as released, with
// the bytes that the ledger has, or as pending, with no answer. What fails before the
// charge is told to the steward; its analyst learns that nothing was spent, and each
// such refusal is a failed check of the dataset, which the ledger counts.
//
// With publish every, the end of an ask, whatever it is, is told to its analyst at the
// next full multiple of that time, so that it says little of how long the data took to
// read. The budget is told as it is: it shows when a charge was made.
//
// Sources: the four steps are those of package discreet; the adjacency, unit and clip
// of a release are those of its plan.
package serve
