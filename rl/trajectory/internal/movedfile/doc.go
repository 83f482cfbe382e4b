// Package movedfile carries rows of a file of any format from the machine that reads it to
// the one that needs them, as what was picked of them: numbers, keys, and what could not be
// read. A table of such rows delivers what the file delivers of them, with the same numbers
// of rows.
//
// Start with [NewRows], which takes rows of batches, and [Format], which reads what
// [Rows.Take] gave, one after another.
package movedfile
