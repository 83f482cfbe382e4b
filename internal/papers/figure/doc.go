// Package figure runs the reproduction of a paper: its trials on all cores, and
// what they come to as CSV, SVG, claims and a page that shows them.
//
// A [Study] lists items (a figure or a theorem of the paper), an [Item] its jobs,
// and a [Job] is one seeded trial that returns numbers. Start with
//
//	done, err := figure.Run(ctx, study, figure.Options{Dir: "out", Quick: true})
//
// Finished jobs are appended to a store, one line each with its seed, the version
// of the code and the numbers, so that a run that was interrupted, or whose time
// was up, continues where it stopped. A trial of other settings, or of code whose
// probe gives other numbers, is refused: it is never mixed with the others. A job depends on its key alone and
// results are read in the order of the study, so that the numbers do not depend
// on the number of workers or on interruptions.
//
// Units are those of the study. Privacy: the package knows nothing of it; a
// study says what its numbers guarantee. Its data are simulated.
package figure
