// Package ndjsonfile reads and writes trajectories as newline-delimited JSON: one
// object a line, one line a decision, with the columns of the canonical schema
// as keys. Start with [Format], which package file lists; [New] and [Write] work
// on any stream.
//
//	{"episode_id":"a","step":0,"unit_id":"p","obs_x":0.5,"action":1,"reward":0,"terminated":false,"truncated":false}
//
// The columns of a file are the keys of its first rows (1024 of them, or 8 MB). A
// key that is not there is null, but a key that the first rows lack is an error,
// and so is a row without an observation that nobody named: whether the data have
// a column is not for one row to say. Numbers may be true and false; lists are
// arrays of numbers; ids are strings or numbers. The order of keys does not
// matter; a key may not come twice in a row. What stands in keys that nobody asks
// for is skipped, not checked.
//
// [OpenNested] reads files of which each line holds a list of rows, and columns that lie in
// objects: those that are named, by their keys with dots between them. A line without a row is
// one row in which everything of it is missing.
//
// Numbers are in the units of the source and are read to the nearest float64.
// The format is RFC 8259, line by line.
package ndjsonfile
