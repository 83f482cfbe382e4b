//go:build !slow

package evaluate_test

// datasets is how many datasets a coverage test simulates; the slow suite
// simulates more.
const datasets = 45
