//go:build slow

package ledger_test

// inMemory: the slow tests use the disk.
const inMemory = false

// hostileMegabytes is how much a hostile store or backup holds in one place.
const hostileMegabytes = 400
