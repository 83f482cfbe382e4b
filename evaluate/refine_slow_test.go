//go:build slow

package evaluate

// refineTrials is the number of trials behind each error of dp-refine.
const refineTrials = 8

// expectedTrials is the number of trials of each setting of the expected error.
const expectedTrials = 10

// auditRuns is the number of runs on each side of an audit.
const auditRuns = 25000

// auditShare is the share of mu that an audit is to find.
const auditShare = 0.83

// refinePersons bounds trials times persons of each error of dp-refine.
const refinePersons = 1 << 30

// expectedShare is the share of settings in which the expected error must be
// within a factor of 1.5. The others are those of few persons, many states and little
// budget, where it is up to 3 times too small.
const expectedShare = 0.85

// expectedStates are the numbers of states of those settings.
var expectedStates = []int{15, 25, 40, 60}

// gpopeSeeds is the number of seeds over which samples of persons are averaged out.
const gpopeSeeds = 3
