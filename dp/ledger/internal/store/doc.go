// Package store keeps the rows of ledgers in SQLite or PostgreSQL. It knows
// transactions, locks, durability and schema versions; what rows mean is the
// business of package ledger.
//
// Start with [Create] or [Open]. A location that begins with postgres:// or
// postgresql:// is a PostgreSQL URL, anything else the path of a SQLite file.
// One store may hold several datasets.
//
// [Store.Update] runs a function in one transaction that holds the dataset's
// write lock. When it returns nil, the transaction is durable: SQLite runs with
// a rollback journal and synchronous=EXTRA, PostgreSQL with synchronous_commit
// on, and both settings are read back when the store is opened. Any error means
// that the caller must not count on the transaction, and [ErrUnknown] that it may
// have been committed nevertheless.
//
// A store is what a version of the schema makes, or it is refused before anything
// is read from it: no view, trigger or rule stands between a reader and the rows. No
// row is fetched that is longer than this package writes ([MostEntry]).
//
// A PostgreSQL server that fails over to an asynchronous replica loses what it had
// not sent: use a synchronous one. A SQLite file belongs on a local disk; file
// locks on network file systems are not to be relied on.
//
// Why a rollback journal and not a write-ahead log: at rest the ledger is one
// file, so that a plain copy of it is whole. The log of a process that was killed
// holds committed charges that a copy of the main file alone would not have: it
// would revive their budget. synchronous=EXTRA also syncs the directory after the
// journal is removed; without that a power cut could bring the journal back and
// with it undo the last charge.
package store
