//go:build !slow

package evaluate

// refineTrials is the number of trials behind each error of dp-refine.
const refineTrials = 2

// expectedTrials is the number of trials of each setting of the expected error.
const expectedTrials = 2

// auditRuns is the number of runs on each side of an audit.
const auditRuns = 6000

// auditShare is the share of mu that an audit is to find.
const auditShare = 0.8

// refinePersons bounds trials times persons of each error of dp-refine; settings of more persons are for the slow tests.
const refinePersons = 20000

// expectedShare is the share of settings in which the expected error must be
// within a factor of 1.5; few trials blur the error itself.
const expectedShare = 0.8

// expectedStates are the numbers of states of those settings.
var expectedStates = []int{15, 40}

// gpopeSeeds is the number of seeds over which samples of persons are averaged out.
const gpopeSeeds = 1
