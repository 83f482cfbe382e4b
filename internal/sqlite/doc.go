// Package sqlite opens SQLite files by database/sql.
//
// Start with [Open]. A connection keeps the statements that it prepared: to parse and plan one
// again costs as much as to run it where it finds one row by its key. A PRAGMA is not kept:
// SQLite executes many of them while it prepares them.
package sqlite
