// Package local holds local randomisers: what a person's own device does to a
// value before it leaves, so that nobody, the collecting server included, has to
// be trusted.
//
// Start with a vector randomiser, for instance
//
//	r, err := local.NewSignPRS(dim, epsilon, seed) // seed: public, from the server
//	report := r.Randomize(nil, gradient, src)      // on the device
//	err = r.Estimate(direction, report)            // on the server
//
// or, for one value, with [NewResponse] (a category) or [NewOneBit] (a number).
//
// # Choosing
//
// [SignPRS] and [PrivUnitG] report a direction; the others a vector inside a
// ball, which they clip to: l1 for [Laplace], l2 for [Ball], the largest
// coordinate for [Coordinates], projections for [PRS]. docs/results/local.md
// compares them: bytes, signal, speed. Sign-PRS costs two bytes below
// epsilon 22.5, whatever the dimension; PrivUnitG has the strongest signal above
// epsilon 1.
//
// # Privacy
//
// The unit is the report. Epsilon-local differential privacy means that for any
// two inputs and every report, the probabilities differ by a factor of at most
// e^epsilon (Kasiviswanathan et al. 2011). That is adjacency replace-one with
// delta 0, and each randomiser's Event is dp.ApproximateDP{Epsilon: epsilon}. A
// device that reports several times spends the sum.
//
// Outputs are finite: a bit, a bucket, a cell, an integer. Choices are made by
// comparing uniform 64-bit integers with integer thresholds that are rounded to
// the private side, or with the exact integer noise of package dp/noise; floating
// point decides only what is protected, never how well. A vector that holds a NaN
// or an infinity is treated as the zero vector, a number that is not finite as the
// middle of its range. No input is refused, because a refusal would be seen.
//
// The server may choose dimension, clip and seed as it likes, before the report:
// the bound holds for all of them. The device must fix epsilon and count what it
// spent. That a report was sent, when, and how long it took are not protected;
// send at a fixed time. Time may depend on the input and on the noise.
//
// # Encoding
//
// A report has a fixed size that is known in advance. Its first byte holds the version of the
// format (high four bits, now 1) and the randomiser (low four bits). Numbers are little-endian.
// Decoders accept exactly the reports that a randomiser can make and refuse everything else with
// [ErrReport].
//
// Proofs are in docs/proofs/local.md.
package local
