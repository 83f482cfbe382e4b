// Package parquet decodes and encodes Apache Parquet column by column, in memory that is
// bounded whatever the bytes say, and however many rows there are. It knows numbers, keys
// and missing values, and nothing of trajectories.
//
// Start with [Open], which checks the footer, and [File.Column] for each column
// that is wanted; then [Column.Read] or [Column.ReadKeys] as many rows at a time
// as there is room for. Rows are counted from 1 in errors.
//
// Columns are flat, or lists of numbers. Booleans, integers and floats are
// widened to float64; keys are strings or integers, dictionary encoded or not; a
// column within a struct is named by the path to it, such as
// infos.behavior_prob. Decimals are read as the
// nearest float64, or as the text of a key. Types that would change meaning as a number (dates,
// timestamps) are refused.
//
// Footers and pages are decoded by the Parquet format specification (parquet.thrift,
// Encodings.md, Compression.md): memory is bounded by the footer, and one page and one
// dictionary a column. Why is written down in docs/decisions/0001-hand-written-parquet.md.
//
// [NewWriter] starts a file: doubles, integers, flags and texts, that may be missing, and
// lists of doubles, by dictionary where it pays and plain otherwise, compressed by Snappy,
// with checksums, and without statistics, which would tell of single values. A row group of
// up to 2^19 rows or 32 MiB is in memory. What is written [Open] reads, whatever it holds.
//
// # Damaged and hostile files
//
// Nothing that a file says of its own lengths is believed. A file of n bytes is
// refused (ErrFormat) when
//
//   - its footer is longer than 64 MiB, nests deeper than 32, or has lists of
//     more elements than its length can hold, which is 8192 and one for every 6
//     bytes, at most 2^20; or its schema is not one tree, of a depth of 64 or
//     less; or a row group does not have one chunk a column, within the file;
//   - its rows, or the values of the columns that are read, are more than
//     2^22 + 32 n, where a list counts by the length that is wanted of it;
//   - the pages and dictionaries that are held at a time take more than
//     2^26 + 64 n bytes, or all ids that are delivered do, or a list is longer
//     than 2^20 values (ErrColumn);
//   - a page header is longer than 64 KiB, says less or more than there is, or
//     claims that a page expands by more than its compression can (22 for Snappy,
//     255 for LZ4, 1032 for gzip, 32768 for Zstandard);
//   - a page does not decompress to the size that it claims, has another checksum
//     than its own, has runs that are longer than it or numbers in them of more
//     than 32 bits, dictionary indices, levels or strings beyond their ends, or
//     differences (DELTA_BINARY_PACKED) in blocks of more than 4096;
//   - a column of lists has more or fewer of them than its row group has rows.
//
// # Limits
//
// Values may be in any encoding of the specification except BIT_PACKED, and
// compressed by Snappy, gzip, Zstandard, Brotli or LZ4_RAW; the older LZ4, of which
// writers do not agree how a page begins, and LZO are refused, and so are
// encrypted files, and blocks of differences longer than 4096. The decompressors
// are those of other modules, with their output limited to the size of the page.
package parquet
