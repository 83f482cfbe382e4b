// Package database opens the store of a service, a SQLite file or a PostgreSQL
// database, and brings its schema up to date.
//
// Start with [Open] and [DB.Migrate]. A location that begins with postgres:// or
// postgresql:// is a PostgreSQL URL, anything else the path of a SQLite file, which
// one process has to itself.
//
// What [DB.Update] commits is durable: SQLite runs with a write-ahead log and
// synchronous=FULL, PostgreSQL with fsync and synchronous_commit, and both are
// read back. A process that is stopped in the middle of a transaction holds its
// locks no longer than [HoldAtMost]: PostgreSQL ends a session that is idle in a
// transaction.
//
// Migrations are files NNNNN_what.sql in the directories sqlite and postgres of a
// [Schema]. All that are missing are applied in one transaction under a lock, so that
// several processes may start at once and nobody sees half a schema; the hash of each
// is kept, and a store that was made by other ones is refused.
package database
