// Package scan reads the data of an evaluation, checks them against its plan, and tells the
// curator what is wrong or doubtful in them. It knows no ledger; its errors and notices are
// for the curator alone.
//
// Data are read in parts: in stretches by several readers, by one reader whose parts go to
// several, as a shard, or as one part, where a method needs that or to tell a fault. What a release
// rests on is the same bit for bit. [Validate] reads once more before, since it tells all faults.
//
// Elsewhere shards and imported tables are made by file.Stream.Spill, since they need all persons
// of a range on disk, and audits read the small files that they make up in both ways, to compare them.
package scan
