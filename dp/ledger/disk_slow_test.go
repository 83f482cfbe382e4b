//go:build slow

package ledger_test

// inMemory: the slow tests use the disk.
const inMemory = false
