// Package corpus holds no code. Its tests read files of every version under testdata, and want of them what was read when they were written:
// testdata/README.md.
package corpus
