// Package examine audits the randomiser of a training run, without agents: it makes reports on pairs of vectors
// that are as unlike as can be, and holds what they show against the epsilon that a report costs.
//
//	report, err := examine.Randomizer(ctx, examine.Job{Randomizer: terms.Randomizer, Dim: net.Dim()})
//	if len(report.Broken) > 0 { ... }
//
// Reports of few bits are looked at exactly: the probability of every report is worked out by going
// through every decision of the code. All are looked at from outside as well, by package dp/audit: thousands
// of reports on both vectors of a pair, whose bytes and estimates are told apart by a test. With
// [Job].OneRun many agents with canaries report once each (Steinke, Nasr, Jagielski 2023). Before that mistakes are planted into
// the same randomiser, to see that they are found.
//
// The unit is the report, the adjacency replace_one, delta is 0. Randomness is seeded: nothing here is sent.
package examine
