//go:build slow

package replay_test

// pairs is the number of pairs of each option under each adjacency: more than
// 50,000 in all.
const pairs = 1500
