// Package untuned compares private evaluation methods side by side on problems
// that none of them was tuned on, a gridworld and a Garnet, and on the chain of the
// papers, beside constants that take no data.
//
// Start with
//
//	item := untuned.Comparison{Paper: "xie19", Budget: b, Problems: untuned.Problems()}.Item()
//
// which is an item of a paper's study. Methods that release a value function are
// held against the value of every state, as root mean square error, and all
// methods against the value of the policy at the start, as mean absolute error,
// both in units of a return and against exact values. Unit: a person with one
// episode. Adjacency: replace-one. Source of the Garnet: Archibald, McKinnon and
// Thomas 1995.
package untuned
