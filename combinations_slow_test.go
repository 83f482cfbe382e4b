//go:build slow

package discreet_test

const combinations, combinationSeed = 250, 2
