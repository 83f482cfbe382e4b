// Package probe holds reading against what privacy asks of it: one person's record never
// changes how that of another is read, and data are refused for a record only where the
// options say so.
//
// Call [Reader] with the options of a configuration. It opens no data: it writes small
// files in the format at hand, of persons whose values are made up from the options
// alone, reads them without and with one more person whose record is odd (values
// missing, of another type, out of range, no number, words that no vocabulary lists; steps twice,
// out of order or with gaps; rows too many, or apart; ids missing; keys and fields too
// many or too few; free text that opens quotes, holds line ends or is not put in quotes),
// and compares what was read of all others bit by bit. The same files are read with
// persons put together from unsorted rows, and a longer one of CSV by stretches: the
// persons have to be those that are read at once, and within the caps. It looks at the
// pairs that it tries, and proves nothing of others.
package probe
