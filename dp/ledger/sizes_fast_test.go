//go:build !slow

package ledger_test

// hostileMegabytes is how much a hostile store or backup holds in one place.
const hostileMegabytes = 120

// largestRelease is the size of a release that is recorded, verified and backed up, in MiB.
const largestRelease = 4
