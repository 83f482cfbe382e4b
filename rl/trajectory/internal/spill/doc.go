// Package spill keeps episodes on disk in many parts, so that one part at a time is in
// memory.
//
// Start with [NewWriter]; [Writer.Put] adds a record to a part, in files of which few are
// open at a time, and [Writer.Each] gives the parts one after another. [Pack] writes all
// parts into one file, and [Runs] gives records of many files in the order of persons. A [Frame] writes an episode as a record, and a [Builder] makes a
// dataset of a part.
//
// The files hold data about people. They belong into a directory of mode 0700, and their
// own mode is 0600.
package spill
