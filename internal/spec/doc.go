// Package spec makes of a configuration what follows from it without the data: public facts,
// the estimator and its policies, the options of reading, and the terms of a contract. It
// knows no ledger and sees no row.
package spec
