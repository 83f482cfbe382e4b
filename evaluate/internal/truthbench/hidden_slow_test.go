//go:build slow

package truthbench_test

// Of the test of confounding: so many of its problems, and logs of each.
const hiddenProblems, hiddenLogs = 6, 80

// Of the test without logged probabilities: every so many problems, and logs of each.
const withheldEach, withheldLogs = 1, 40

// Of the test of a regression: every so many problems, and logs of each.
const regressedEach, regressedLogs = 1, 12
