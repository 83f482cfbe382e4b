//go:build slow

package replay_test

// pairs is the number of pairs of each option under each adjacency.
const pairs = 500
