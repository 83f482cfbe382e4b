// Package canon holds the column names of the canonical schema and the other
// names under which those columns are recognised.
package canon
