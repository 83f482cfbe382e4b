//go:build slow

package ledger_test

// hostileMegabytes is how much a hostile store or backup holds in one place.
const hostileMegabytes = 400

// largestRelease is the size of a release that is recorded, verified and backed up, in
// MiB: the largest that is allowed.
const largestRelease = 64
