// Package parquetfile reads and writes trajectories as Apache Parquet.
//
// Columns are flat, or lists of numbers for observation, next_observation,
// action_probs and a list of one number for action. Keys are strings or
// integers; a number within a struct is named by the path to it, such as
// infos.behavior_prob. A file that carries the key "discreet_schema_version"
// must have a version that is known; [Write] writes it.
//
// Start with [Format] as the argument of ingest.Read, and with [Write].
// Rows in errors are counted from 1.
//
// Package internal/parquet decodes and writes files, and believes nothing that one
// says of its own lengths: its documentation lists what is refused.
package parquetfile
