//go:build !slow

package discreet_test

const combinations, combinationSeed = 25, 4
