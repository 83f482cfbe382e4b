//go:build !slow

package ledger_test

// inMemory puts the stores of the tests into memory, where the machine has room:
// what is tested does not depend on the disk. The slow tests use the disk.
const inMemory = true

// hostileMegabytes is how much a hostile store or backup holds in one place.
const hostileMegabytes = 120

// largestRelease is the size of a release that is recorded, verified and backed up, in MiB.
const largestRelease = 4
