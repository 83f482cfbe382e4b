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
package parquetfile
