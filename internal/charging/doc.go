// Package charging holds an evaluation against the ledger of its dataset: whether its key was
// charged before, whether a release at hand contradicts the ledger, whether the contract
// allows the question, and whether the budget covers it; then the check of the data that it
// begins, and the charge that pays for it.
package charging
