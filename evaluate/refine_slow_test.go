//go:build slow

package evaluate

// refineTrials is the number of trials behind each error of dp-refine.
const refineTrials = 20

// expectedTrials is the number of trials of each setting of the expected error.
const expectedTrials = 10

// auditRuns is the number of runs on each side of an audit.
const auditRuns = 50000

// auditShare is the share of mu that an audit is to find.
const auditShare = 0.85

// refinePersons bounds trials times persons of each error of dp-refine.
const refinePersons = 1 << 30

// expectedShare is the share of settings in which the expected error must be
// within a factor of 1.5. The others are those of few persons, many states and little
// budget, where it is up to 3 times too small.
const expectedShare = 0.85
