// Package file reads and writes trajectories in any format this project knows,
// chosen by name or by the ending of the file's name.
//
// Start with [Read], which gives a whole dataset, or [Open], which streams
// episodes with bounded memory. Both check everything that the canonical schema
// asks for; to validate data is to read it and throw the result away
// ([Validate]).
//
// [Formats] is the table of formats: a new one is a package that gives a
// table.Format, and a line in that table.
package file
