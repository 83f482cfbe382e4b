// Package examine audits the plan of an estimator, without any data: it runs the plan
// on neighbouring datasets that are drawn from public facts (package neighbours), and
// holds what the runs show against what the plan's event allows.
//
//	report, err := examine.Plan(ctx, examine.Job{Estimator: e, Public: public, Columns: columns})
//	if len(report.Broken) > 0 { ... }
//
// Three looks are taken at a plan that is a composition of Gaussian sums with exact
// noise:
//
//   - the replay certificate (package replay) of many pairs: exact; finds what is not
//     paid for, and contributions beyond the clip;
//   - the law of the noise: whether what was added to the sums is independent normal
//     noise of the standard deviation that was told;
//   - a lower bound on mu (package audit) of the pair that needs most of what is paid
//     for, by the log-likelihood ratio of everything that a run shows.
//
// Runs go the way of an evaluation, by parts where the method gathers them; that this, all
// data at once and the noise of shards come to the same is held exactly. Of a choice by
// permute-and-flip the certificate is of probabilities, and the law is that of the choices.
//
// Of any other plan the third alone is taken, by the numbers and texts of the release.
//
// Before the plan the audit tests itself: it looks at the same plan with mistakes
// planted ([Mistakes]) and says which it finds. A false alarm, of all looks at the
// plan together, has a probability of at most audit.DefaultFalseAlarm over the seed.
//
// Nothing is released: the data are made up, the noise is seeded, and no ledger is
// asked. What is not tried may still be wrong.
package examine
