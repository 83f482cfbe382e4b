// Package ingest finds decisions, episodes and persons in the tables of files.
//
// Start with [NewStream], which yields episodes, and [Collect], which makes a
// dataset of them. Columns are bound by name once for each file, before its first
// row; rows are then checked column by column and put together into episodes,
// wherever the batches in which a format delivers them begin and end. Caps on
// one person's contribution look at that person's rows alone.
//
// Errors are [*trajectory.InputError] and name file, row and column, never a
// value.
package ingest
