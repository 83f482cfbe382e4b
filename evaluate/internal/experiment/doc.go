// Package experiment turns noisy sums of the arms of an experiment into their means, the differences
// between them and ratios, with limits that hold together; adjusts outcomes by a covariate; and holds the sizes
// of arms against those that were planned. Start with [Reading]. docs/proofs/experiment.md has the
// proof.
package experiment
