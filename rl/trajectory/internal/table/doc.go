// Package table is what a file format implements to be read as trajectories, and
// what it uses to write them.
//
// Start with [Format] and [Table]: a format opens a file, lists its columns and
// delivers the ones that were picked, as numbers and keys, batch by batch. What
// the columns mean, which rows are one episode and whether the values are valid
// is decided above it, for all formats alike: pass the Format to
// ingest.Read. [NewLayout] says what a format writes.
//
// Errors about a file are [*trajectory.InputError] with
// [trajectory.ErrFormat], [trajectory.ErrColumn] or [trajectory.ErrValue], and
// name file and row, never a value.
package table
