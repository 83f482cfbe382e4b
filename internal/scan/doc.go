// Package scan reads the data of an evaluation, checks them against its plan, and tells the
// curator what is wrong or doubtful in them. It knows no ledger; its errors and notices are
// for the curator alone.
//
// Data are read whole, in parts of one reader, in stretches by several, or as one shard of
// many. What a release rests on is the same bit for bit whichever way they are read.
package scan
