// Package importing makes one table of raw data, once and for all: in the canonical columns
// and types, in the order of persons, as Parquet, with a manifest of what was read. Raw
// data that hold any fault are refused, so that nobody is missing from the table.
//
// Start with [Import]. Table and manifest are as private as the data.
package importing
