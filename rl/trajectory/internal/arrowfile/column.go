package arrowfile

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/flatbuffer"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// The types, as numbered in Arrow's Schema.fbs.
const (
	typeNull = iota + 1
	typeInt
	typeFloat
	typeBinary
	typeText
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeTimestamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixedBinary
	typeFixedList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeText
	typeLargeList
	typeRuns
	typeBinaryView
	typeTextView
	typeListView
	typeLargeListView
)

var typeNames = [...]string{typeNull: "null", typeInt: "int", typeFloat: "float", typeBinary: "binary", typeText: "utf8", typeBool: "bool", typeDecimal: "decimal",
	typeDate: "date", typeTime: "time", typeTimestamp: "timestamp", typeInterval: "interval", typeList: "list", typeStruct: "struct", typeUnion: "union",
	typeFixedBinary: "fixed_size_binary", typeFixedList: "fixed_size_list", typeMap: "map", typeDuration: "duration", typeLargeBinary: "large_binary",
	typeLargeText: "large_utf8", typeLargeList: "large_list", typeRuns: "run_end_encoded", typeBinaryView: "binary_view", typeTextView: "utf8_view",
	typeListView: "list_view", typeLargeListView: "large_list_view"}

// mostDepth bounds how deep types are nested, and mostFields their number.
const (
	mostDepth  = 32
	mostFields = 1 << 16
)

// column is a field of the schema. Of one that is encoded by a dictionary, bits and signed
// are those of the indices, and kind is the type of the values.
type column struct {
	name   string
	kind   int
	bits   int
	signed bool
	scale  int // of a decimal
	unit   int // of a date or timestamp
	zoned  bool
	sparse bool // of a union

	encoded    bool
	dictionary int
	value      *column // of the dictionary
	children   []column
	picked     bool
}

// fields reads the fields in a vector of a table. They are no more than left: a damaged
// schema may name one many times.
func fields(t flatbuffer.Table, at, depth int, left *int) ([]column, error) {
	from, n := t.Vector(at, 4)
	if *left -= n; depth > mostDepth || *left < 0 {
		return nil, fmt.Errorf("fields nested too deep, or more than %d", mostFields)
	}
	out := make([]column, n)
	for i := range out {
		f := flatbuffer.Table{Bytes: t.Bytes, At: t.Deref(from + 4*i)}
		c := &out[i]
		c.name, c.kind = f.Text(0), f.Byte(2)
		if c.kind < typeNull || c.kind >= len(typeNames) {
			return nil, fmt.Errorf("a field of type %d", c.kind)
		}
		detail, _ := f.Sub(3)
		if detail.Bytes != nil {
			c.describe(detail)
		}
		var err error
		if c.children, err = fields(f, 5, depth+1, left); err != nil {
			return nil, err
		}
		if encoding, ok := f.Sub(4); ok {
			value := *c
			c.encoded, c.value, c.dictionary, c.bits, c.signed = true, &value, encoding.Long(0), 32, true
			if index, ok := encoding.Sub(1); ok {
				c.bits, c.signed = index.Int(0), index.Byte(1) != 0
			}
		}
	}
	return out, nil
}

// describe reads what a type says beside its kind.
func (c *column) describe(t flatbuffer.Table) {
	switch c.kind {
	case typeInt:
		c.bits, c.signed = t.Int(0), t.Byte(1) != 0
	case typeFloat:
		c.bits = 16 << t.Short(0)
	case typeDecimal:
		c.scale, c.bits = t.Int(1), 128
		if t.Field(2) != 0 {
			c.bits = t.Int(2)
		}
	case typeDate:
		if c.unit = 1; t.Field(0) != 0 { // milliseconds if it does not say
			c.unit = t.Short(0)
		}
	case typeTimestamp:
		c.unit, c.zoned = t.Short(0), t.Text(1) != ""
	case typeUnion:
		c.sparse = t.Short(0) == 0
	}
}

func (c *column) dated() bool { return !c.encoded && (c.kind == typeDate || c.kind == typeTimestamp) }

func (c *column) isText() bool {
	return c.kind == typeText || c.kind == typeLargeText || c.kind == typeTextView
}

func (c *column) isInt() bool {
	return !c.encoded && c.kind == typeInt && (c.bits == 8 || c.bits == 16 || c.bits == 32 || c.bits == 64)
}

// named is the type in words.
func (c *column) named() string {
	name := typeNames[c.kind]
	if c.kind == typeInt || c.kind == typeFloat || c.kind == typeDecimal {
		name = fmt.Sprint(name, c.bits)
	}
	if c.encoded {
		return "dictionary of " + typeNames[c.kind]
	}
	return name
}

// unfit says why a column cannot be delivered as wanted, nothing if it can.
func (c *column) unfit(as table.PickKind) (what, remedy string) {
	fits := !c.encoded && c.kind == typeNull
	remedy = "write it as an integer, a float or a boolean"
	switch as {
	case table.Presence:
		fits = c.encoded || c.kind != typeUnion && c.kind != typeRuns
	case table.Key:
		fits = fits || c.isText() || c.isInt()
		remedy = "write it as text or an integer"
	case table.Time:
		fits = c.dated()
	default:
		fits = fits || !c.encoded && (c.isInt() || c.kind == typeBool || c.kind == typeDecimal && c.bits >= 32 && c.bits <= 256 && c.bits%32 == 0 || c.kind == typeFloat && (c.bits == 32 || c.bits == 64))
	}
	if fits {
		return "", ""
	}
	return "has the Arrow type " + c.named() + ", which is not read here", remedy
}
