// Package transcript is what the operator of a fleet publishes of a run, and what anybody recomputes from it: the weights of every
// version, and how many devices have spent what.
//
// [Write] makes the file from a server's answers, a line of JSON for the run, for each round, and for the end; [Verify] reads it
// with nothing else at hand but the operator's public key, the root's.
//
// # What is bound
//
// Rounds are signed and chained. So are their records: what a round came to, with hashes of the sum, of the reports, of the permits that
// devices drew, and of the weights. The end is signed too. So a report that was changed or left out, rounds in another order, a
// signature of another key, or a file that was cut off, is found. The weights follow from the sums, and where the file holds the reports
// themselves, the sums follow from them.
//
// # Privacy
//
// Reports are locally private, and sums and hashes follow from them: publishing them costs no more than the device's epsilon, which holds
// against everybody. A report is named by a hash that its nullifier salts, a permit by a place that is used once: neither tells
// which reports are of one device.
package transcript
