// Package golden holds no code. Its tests keep what the project computes byte
// for byte: the seeded release of every method under both adjacencies, with its
// main options, the ledger entries that pay for releases, and the texts of errors for
// configurations and logs with one fault and with two. Seeded weights of training runs are
// kept by package train.
//
// The rule: one change regenerates the net at most once, and says in its commit
// which files change and why. What changes without a reason is a fault.
//
//	go test ./internal/golden -regenerate
//
// The bytes are those of amd64 with fused multiply-add, which math.Exp uses where
// the CPU has it. On other machines numbers are compared to nine digits.
package golden
