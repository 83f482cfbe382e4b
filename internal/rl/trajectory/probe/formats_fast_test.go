//go:build !slow

package probe_test

// tableFormats are those in which tables of clinics are read; the slow suite has all.
var tableFormats = []string{"csv"}

const questionPairs, tablePairs = 90, 60
