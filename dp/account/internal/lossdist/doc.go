// Package lossdist composes privacy-loss distributions and brackets the
// resulting hockey-stick divergences. It knows nothing of events: an accountant
// describes a composition as [Part]s and asks [Composition.Epsilon] or
// [Composition.Delta].
//
// A [Law] is a pair (P, Q); its privacy loss is ln dP/dQ under P, in natural
// units. It is cut into cells whose edges may lie anywhere. The upper measure
// splits each cell's mass between its ends (Doroshenko, Ghazi, Kamath, Kumar and
// Manurangsi 2022), the lower one puts it where an observer of the cell alone
// would: both have the true mean of e^-loss, so that the error falls with the
// square of the width. Because the losses need not lie on a grid, the number of
// cells depends neither on the number of runs nor on the sampling rate.
//
// The composition is inverted from its exact characteristic function, tilted
// exponentially so that a small delta is not lost in round-off. A whiff of
// Gaussian noise, one more release for the upper end and subtracted again from
// the lower end, makes the integral converge; truncation, periodic copies and
// rounding are bounded and added. docs/proofs/pld.md has the arguments.
package lossdist
