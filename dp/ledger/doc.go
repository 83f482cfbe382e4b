// Package ledger keeps the privacy budget of a dataset. A release is paid for
// before it is made: the only way to run a private computation is to hand it a
// [Receipt], and a receipt comes from a committed charge.
//
// This version holds the receipt and [None], the receipt of a release that no
// ledger was charged for; whatever runs on it says so. Stores that commit
// charges hand out the same type.
package ledger
