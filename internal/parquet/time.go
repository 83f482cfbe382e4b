package parquet

import "encoding/binary"

// clock is how the dates or times of a leaf are stored.
type clock struct {
	unit  int64
	zoned bool // they are moments, whatever the zone in which somebody shows them
}

// What the whole numbers of a clock count; those of a TIMESTAMP as parquet.thrift numbers them.
const (
	days int64 = iota
	millis
	micros
	nanos
	julian // INT96: nanoseconds of a day, and its number from noon of 24 November 4714 BC
)

// microsADay are those of a day, and julianEpoch is the Julian day of 1 January 1970.
const (
	microsADay  = 86_400_000_000
	julianEpoch = 2_440_588
)

// clock is that of a field; nil where it has none, and where its type is damaged, of which
// who asks for the column is told.
func (f *field) clock() (of *clock) {
	var err error
	defer rescue(f.name, &err)
	if f.leaf == nil || f.list {
		return nil
	}
	return clockOf(f.leaf)
}

// clockOf tells of a leaf that it holds dates or times of a date; nil where it does not.
func clockOf(c *node) *clock {
	switch {
	case c.kind == physicalInt96: // which writers have used for nothing else
		return &clock{unit: julian, zoned: true}
	case c.kind == physicalInt32 && c.logical == logicalDate:
		return &clock{unit: days}
	case c.kind == physicalInt64 && c.logical == logicalTimestamp && c.unit >= millis && c.unit <= nanos:
		return &clock{c.unit, c.zoned}
	}
	return nil
}

// asTimes has the column deliver times.
func (c *Column) asTimes() {
	c.as, c.clock, c.bytes = Numbers, clockOf(c.field.leaf), false
	switch c.field.leaf.kind { // as which they may be encoded
	case physicalInt32:
		c.kind = int32s
	case physicalInt64:
		c.kind = int64s
	}
}

// times puts n times from b into every stride-th place of dst, in microseconds since 1970:
// what is less of one is cut off, so that later times are never before earlier ones.
func (c *Column) times(dst []float64, stride int, b []byte, n int) {
	w := c.width
	for i := range n {
		dst[i*stride] = c.clock.number(b[i*w : (i+1)*w])
	}
}

func (c *clock) number(b []byte) float64 {
	switch c.unit {
	case days:
		return float64(int32(binary.LittleEndian.Uint32(b))) * microsADay
	case julian:
		of, day := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))
		return float64(day-julianEpoch)*microsADay + float64(floor(of, 1000))
	}
	v := int64(binary.LittleEndian.Uint64(b))
	switch c.unit {
	case millis:
		return float64(v) * 1000
	case nanos:
		return float64(floor(v, 1000))
	}
	return float64(v)
}

// floor divides, and rounds down.
func floor(v, by int64) int64 {
	q := v / by
	if v%by < 0 {
		q--
	}
	return q
}
