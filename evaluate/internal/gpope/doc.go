// Package gpope walks to the saddle point of gradient temporal-difference learning
// by noisy sums of clipped gradients of persons (Xie, Thomas and Miklau 2019). It
// works on public facts and on settings that were fixed before the data was seen;
// whoever calls it has accounted for its noise ([Walk.Event]).
//
// Start with [Walk]. Unit: a person. Clip: Walk.Clip, in l2, on a person's stacked
// gradient. Proof: docs/proofs/gpope.md.
package gpope
