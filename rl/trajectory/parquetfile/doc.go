// Package parquetfile reads and writes trajectories as Apache Parquet.
//
// Columns are flat, or lists of numbers for observation, next_observation,
// action_probs and a list of one number for action. Booleans, integers and
// floats are widened to float64; keys are strings or integers, dictionary
// encoded or not. Types that would change meaning as a number (decimals, dates,
// timestamps) are refused. A file that carries the key
// "discreet_schema_version" must have a version that is known; [Write] writes
// it.
//
// Start with [Format] as the argument of trajectory.Read, and with [Write].
// Rows in errors are counted from 1.
//
// Pages are read column by column, so that memory is bounded by one page a
// column.
//
// # Limits
//
// Pages compressed by LZ4 are refused, and so are, as if damaged, empty pages of
// list columns in the second page format. The module that decodes pages trusts
// the lengths in them: a file damaged in the wrong place, or made to do harm,
// can ask for more memory than there is. Read files of your own.
package parquetfile
