// Package csvfile reads and writes trajectories as CSV: UTF-8, comma separated,
// a header row, quotes as in RFC 4180, '.' as the decimal mark, an empty field
// for a missing value, and true, false, 1 or 0 for booleans. A byte order mark,
// CRLF line ends and empty lines are accepted, and so is a file compressed by
// gzip whose name ends in .gz. A record is a line, unless the dialect says that fields in
// quotes may hold line ends; only LF, or CRLF, ends one.
//
// Start with [Format] as the argument of ingest.Read, and with [Write].
// Rows in errors are lines of the file; the header is line 1, and a record that
// spans lines counts as its first.
package csvfile
