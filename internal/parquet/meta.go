package parquet

// What a footer says, as far as it is of use. Fields have the numbers of parquet.thrift.

// physical is how the values of a leaf are stored.
type physical int32

const (
	physicalBoolean physical = iota
	physicalInt32
	physicalInt64
	physicalInt96
	physicalFloat
	physicalDouble
	physicalBytes
	physicalFixed
)

// compression is that of a chunk.
type compression int32

const (
	uncompressed compression = iota
	snappyCompression
	gzipCompression
	lzoCompression
	brotliCompression
	oldLZ4Compression
	zstdCompression
	lz4Compression
)

// The repetitions of a column.
const (
	required int32 = iota
	optional
	repeated
)

// The logical types that matter, by the field of their union. 0 is none.
const (
	logicalString    = 1
	logicalList      = 3
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalUUID      = 14
	logicalOther     = 1 << 10 // of an older type
)

// The converted types, which older files have in place of logical ones.
const (
	noneConverted    int32 = -1
	convertedUTF8    int32 = 0
	convertedList    int32 = 3
	convertedDecimal int32 = 5
	convertedDate    int32 = 6
	convertedMillis  int32 = 9 // TIMESTAMP_MILLIS
	convertedMicros  int32 = 10
	firstInt         int32 = 11 // UINT_8
	firstSigned      int32 = 15 // INT_8
	lastInt          int32 = 18 // INT_64
	lastConverted    int32 = 21
)

// noKind is the physical type of a group of columns.
const noKind physical = -1

// element is a column of the schema, or a group of them.
type element struct {
	name       string
	kind       physical
	length     int32 // of a value of fixed length
	repetition int32
	children   int32
	logical    int64
	signed     bool  // of an integer
	zoned      bool  // of a timestamp: it is a moment, whatever the zone
	unit       int64 // of a timestamp: one of the clock's
	scale      int32 // of a decimal
}

// extent is a chunk of a column: where its pages are, and what they hold.
type extent struct {
	elsewhere          bool // in another file
	codec              compression
	values, size       int64
	data, dictionaryAt int64
}

// group is a row group.
type group struct {
	rows    int64
	columns []extent
}

// footer is the metadata of a file.
type footer struct {
	schema    []element
	groups    []group
	keys      map[string]string
	encrypted bool
}

func (d *compact) footer() footer {
	var f footer
	d.fields(func(id int64, kind byte) {
		switch id {
		case 2:
			f.schema = nil
			d.list(kind, thriftStruct, func(n int) { f.schema = make([]element, 0, n) }, func() { f.schema = append(f.schema, d.element()) })
		case 4:
			f.groups = nil
			d.list(kind, thriftStruct, func(n int) { f.groups = make([]group, 0, n) }, func() { f.groups = append(f.groups, d.group()) })
		case 5:
			f.keys = map[string]string{}
			d.list(kind, thriftStruct, nil, func() {
				if key, value, ok := d.pair(); ok && !has(f.keys, key) {
					f.keys[key] = value
				}
			})
		case 8:
			f.encrypted = true
			d.skip(kind)
		default:
			d.skip(kind)
		}
	})
	return f
}

func has(keys map[string]string, key string) bool {
	_, ok := keys[key]
	return ok
}

// pair is a key of the file's own metadata and its value, if it has one.
func (d *compact) pair() (key, value string, ok bool) {
	d.fields(func(id int64, kind byte) {
		switch id {
		case 1:
			key = d.text(kind)
		case 2:
			value, ok = d.text(kind), true
		default:
			d.skip(kind)
		}
	})
	return key, value, ok
}

func (d *compact) element() element {
	e := element{kind: noKind}
	converted := noneConverted
	d.fields(func(id int64, kind byte) {
		switch id {
		case 1:
			e.kind = physical(d.i32(kind))
		case 2:
			e.length = d.i32(kind)
		case 3:
			e.repetition = d.i32(kind)
		case 4:
			e.name = d.text(kind)
		case 5:
			e.children = d.i32(kind)
		case 6:
			converted = d.i32(kind)
		case 7:
			e.scale = d.i32(kind)
		case 10:
			d.structure(kind, func(id int64, kind byte) { d.logical(&e, id, kind) })
		default:
			d.skip(kind)
		}
	})
	if e.logical == 0 {
		e.convert(converted)
	}
	return e
}

// logical reads the one field of a logical type that is set.
func (d *compact) logical(e *element, id int64, kind byte) {
	e.logical = id
	d.structure(kind, func(field int64, kind byte) {
		switch {
		case id == logicalDecimal && field == 1:
			e.scale = d.i32(kind)
		case id == logicalTimestamp && field == 1:
			e.zoned = kind == thriftTrue
			d.skip(kind)
		case id == logicalTimestamp && field == 2:
			d.structure(kind, func(unit int64, kind byte) {
				e.unit = unit
				d.skip(kind)
			})
		case id == logicalInteger && field == 2:
			e.signed = kind == thriftTrue
			d.skip(kind)
		default:
			d.skip(kind)
		}
	})
}

// convert gives the logical type that an older file means.
func (e *element) convert(converted int32) {
	switch {
	case converted < 0 || converted > lastConverted:
	case converted == convertedDecimal:
		e.logical = logicalDecimal
	case converted == convertedDate:
		e.logical = logicalDate
	case converted == convertedMillis, converted == convertedMicros:
		e.logical, e.zoned, e.unit = logicalTimestamp, true, int64(converted-convertedMillis)+1
	case converted >= firstInt && converted <= lastInt:
		e.logical, e.signed = logicalInteger, converted >= firstSigned
	default:
		e.logical = logicalOther
	}
}

func (d *compact) group() group {
	g := group{rows: -1}
	d.fields(func(id int64, kind byte) {
		switch id {
		case 1:
			g.columns = nil
			d.list(kind, thriftStruct, func(n int) { g.columns = make([]extent, 0, n) }, func() { g.columns = append(g.columns, d.extent()) })
		case 3:
			g.rows = d.i64(kind)
		default:
			d.skip(kind)
		}
	})
	return g
}

func (d *compact) extent() extent {
	e := extent{codec: -1, values: -1, size: -1}
	d.fields(func(id int64, kind byte) {
		switch id {
		case 1:
			e.elsewhere = d.text(kind) != ""
		case 3:
			d.structure(kind, func(id int64, kind byte) {
				switch id {
				case 4:
					e.codec = compression(d.i32(kind))
				case 5:
					e.values = d.i64(kind)
				case 7:
					e.size = d.i64(kind)
				case 9:
					e.data = d.i64(kind)
				case 11:
					e.dictionaryAt = d.i64(kind)
				default:
					d.skip(kind)
				}
			})
		default:
			d.skip(kind)
		}
	})
	return e
}
