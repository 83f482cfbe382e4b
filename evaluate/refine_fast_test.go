//go:build !slow

package evaluate

// refineTrials is the number of trials behind each error of dp-refine.
const refineTrials = 5
