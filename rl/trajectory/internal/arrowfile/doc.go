// Package arrowfile reads trajectories from Arrow's interprocess streams, which databases and
// data frames write without loss of types, and from files of that form.
//
// Columns are flat: integers, floats, decimals, booleans, text, also by a dictionary or as
// views, dates and timestamps. Columns of other types may be there and are passed over; to
// pick one is refused. So are compressed buffers, numbers of the other byte order, and a
// stream without its end, which may have lost rows.
//
// Polars' files begin with a schema that lacks its length, and are read nevertheless.
//
// Start with [Format]. Rows in errors are counted from 1. Nothing that a stream says of its
// lengths is believed: memory grows with what there is, a batch of rows at a time, and with
// the dictionaries.
//
// Source: Arrow Columnar Format 1.5.
package arrowfile
