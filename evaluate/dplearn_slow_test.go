//go:build slow

package evaluate_test

// learnDraws is how many logs of a trial certificates are held against.
const learnDraws = 200
