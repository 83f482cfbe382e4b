// Package smooth estimates value functions by averages of first-visit returns and
// releases them with noise that follows a smooth bound on the local sensitivity
// (Balle, Gomrokchi and Precup 2016). It works on public facts and public
// constants alpha and beta; whoever calls it has accounted for these.
//
// Start with [NewLSW] (Algorithm 1) or [NewLSL] (Algorithm 2). Unit: a person, who
// owns one trajectory. Proof: docs/proofs/smooth-release.md.
package smooth
