// Package dp holds the vocabulary of differential privacy that every other
// package speaks: who may differ between two neighbouring datasets
// ([Adjacency]), how much may be spent ([Budget]), and what a mechanism did
// ([Event]).
//
// An event describes a mechanism completely enough to be accounted for, and
// nothing else: it holds no data and no code. Mechanisms return their event
// beside their value; package dp/account turns events into (epsilon, delta).
// Events are immutable values. New kinds may be added; the meaning of a kind
// never changes.
//
// # Units and adjacency
//
// The unit of privacy is a person, who may own many trajectories. Noise
// multipliers are the noise's standard deviation (for Laplace: its scale)
// divided by the per-person clip norm. They do not yet contain the adjacency:
// under [ReplaceOne] the accountant doubles the sensitivity of a clipped sum,
// because one person's contribution is taken out and another's is put in.
//
// Start with [ParseEvent] for the JSON form, or with a literal such as
//
//	dp.SelfComposed{Count: 100, Event: dp.Gaussian{NoiseMultiplier: 10}}
//
// docs/accounting.md is the guide of all kinds, with an example of each.
package dp
