//go:build !slow

package truthbench_test

// Of the test of confounding: so many of its problems, and logs of each.
const hiddenProblems, hiddenLogs = 2, 30

// Of the test without logged probabilities: every so many problems, and logs of each.
const withheldEach, withheldLogs = 9, 12

// Of the test of a regression: every so many problems, and logs of each.
const regressedEach, regressedLogs = 3, 4
