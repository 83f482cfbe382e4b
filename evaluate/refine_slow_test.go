//go:build slow

package evaluate

// refineTrials is the number of trials behind each error of dp-refine.
const refineTrials = 20

// expectedTrials is the number of trials of each setting of the expected error.
const expectedTrials = 10

// auditRuns is the number of runs on each side of an audit.
const auditRuns = 50000
