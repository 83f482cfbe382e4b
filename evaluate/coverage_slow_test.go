//go:build slow

package evaluate_test

const datasets = 400
