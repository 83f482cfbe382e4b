// Package store keeps the rows of a fleet's aggregator in SQLite or PostgreSQL. It
// knows transactions, locks and states; what specs and reports mean is the business
// of package aggregator.
//
// Start with [Open]. The table of reports holds a pseudonym of one round and the
// body, and no time, peer or device. All deadlines are held against the store's own
// clock, which replicas share.
//
// Three rules make the states of a round safe. Whoever adds reports locks the
// round's row shared and sees it open, so that a round which is closing has all the
// reports that were ever accepted. Whoever closes or applies holds the run's lease,
// and each lease has a higher fence: [Store.Apply] commits under the fence that it
// was given, or nothing. And a report's pseudonym is the row's key, so that a second
// body cannot be added.
package store
