package parquet

import (
	"strconv"

	goparquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// field is a column of the file as a user sees it: a leaf, or a list of leaves.
type field struct {
	name string
	leaf *goparquet.Column // nil when it is neither
	list bool
	// elements is the definition level from which a list has an element.
	elements byte
}

// maxDepth bounds how deep structs may nest.
const maxDepth = 32

// fieldsOf finds the fields under a column. Those of a struct, at any depth, are
// named by the path to them, such as infos.behavior_prob.
func fieldsOf(dst []field, c *goparquet.Column, name string, depth int) []field {
	f := newField(c, name)
	if f.leaf != nil || c.Leaf() || c.Repeated() || depth == maxDepth || !isStruct(c) {
		return append(dst, f)
	}
	for _, below := range c.Columns() {
		dst = fieldsOf(dst, below, name+"."+below.Name(), depth+1)
	}
	return dst
}

// isStruct tells a group of columns from a list or a map of nested things, which
// has one repeated child.
func isStruct(c *goparquet.Column) bool {
	below := c.Columns()
	return len(below) > 1 || len(below) == 1 && !below[0].Repeated()
}

// newField finds the leaf of a column. A list is a group with one repeated
// child, which is the element or a group that holds it alone, or, by the oldest
// rule, a repeated leaf.
func newField(c *goparquet.Column, name string) field {
	f := field{name: name}
	if c.Leaf() {
		f.leaf, f.list = c, c.Repeated()
		f.elements = byte(c.MaxDefinitionLevel())
		return f
	}
	if c.Repeated() || len(c.Columns()) != 1 {
		return f
	}
	middle := c.Columns()[0]
	if !middle.Repeated() {
		return f
	}
	leaf := middle
	if !leaf.Leaf() {
		if len(middle.Columns()) != 1 {
			return f
		}
		leaf = middle.Columns()[0]
	}
	if !leaf.Leaf() || leaf.MaxRepetitionLevel() != 1 {
		return f
	}
	f.leaf, f.list, f.elements = leaf, true, byte(middle.MaxDefinitionLevel())
	return f
}

// usable checks that a column can be delivered as wanted.
func (f *File) usable(c *field, as As) error {
	bad := func(what, remedy string) error {
		return &Error{Column: c.name, What: what, Remedy: remedy, Kind: ErrColumn}
	}
	if c.leaf == nil {
		return bad("has a nested type", "write one flat column a number, or a list of numbers")
	}
	if codec := f.undecoded(c); codec != "" {
		return bad("is compressed by "+codec+", which is not supported", "write the file with Snappy, Zstandard or LZ4_RAW")
	}
	switch {
	case as == Presence:
		return nil
	case as == Times && (c.list || clockOf(c.leaf) == nil):
		return bad("has a type that is neither a date nor a time of a date", "write DATE or TIMESTAMP")
	case as == Times:
		return nil
	case as == Keys && c.list:
		return bad("holds lists, and an id is wanted", "write a string or an integer a row")
	}
	number, text := kindOf(c.leaf)
	d := decimalOf(c.leaf)
	switch {
	case d != nil && (d.scale < 0 || d.scale > mostScale):
		return bad("has a decimal type of a scale that is not supported", "write decimals with 0 to 76 digits after the point")
	case d != nil:
		return nil
	case as == Keys && (number == doubles || number == floats):
		return bad("has a floating point type, which above 2^53 (FLOAT: 2^24) takes several ids for one, and an id is wanted", "write ids as text or as an integer, such as BIGINT in place of DOUBLE")
	case as == Keys && !text:
		return bad("has a type that is neither text nor an integer", "write a string or an integer")
	case as == Numbers && text && number == notNumber:
		return &Error{Column: c.name, What: "has a type that is not a number", Remedy: "write it as an integer, a float or a boolean", Kind: ErrText}
	case as == Numbers && !c.list && clockOf(c.leaf) != nil:
		return bad("has a type of dates, which are no numbers", "write it as an integer, a float or a boolean")
	case as == Numbers && number == notNumber:
		return bad("has a type that is not a number", "write it as an integer, a float or a boolean")
	}
	return nil
}

// undecoded names the compression of a part of a column that is not decoded, if
// there is one. Writers do not agree on how a page of the older LZ4 begins.
func (f *File) undecoded(c *field) string {
	for _, g := range f.groups {
		switch codec := g.Columns[c.leaf.Index()].MetaData.Codec; codec {
		case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
		case format.Lz4:
			return "the older LZ4"
		case format.LZO:
			return "LZO"
		default:
			return "codec " + strconv.Itoa(int(codec))
		}
	}
	return ""
}

// numeric says how the numbers of a leaf are stored.
type numeric uint8

const (
	notNumber numeric = iota
	boolean
	int32s
	int64s
	uint32s
	uint64s
	floats
	doubles
)

// kindOf gives the number that a leaf holds, of a decimal that of its units, and whether it
// can serve as a key.
func kindOf(c *goparquet.Column) (numeric, bool) {
	t := c.Type()
	plain, signed := t.LogicalType() == nil && t.ConvertedType() == nil || decimalOf(c) != nil, true
	if l := t.LogicalType(); l != nil {
		if i, ok := l.Value.(*format.IntType); ok {
			plain, signed = true, i.IsSigned
		}
	} else if c := t.ConvertedType(); c != nil && *c >= firstInt && *c <= lastInt {
		plain, signed = true, *c >= firstSigned
	}
	switch t.Kind() {
	case goparquet.Boolean:
		return boolean, false
	case goparquet.Float:
		return floats, false
	case goparquet.Double:
		return doubles, false
	case goparquet.ByteArray:
		return notNumber, true
	case goparquet.FixedLenByteArray:
		return notNumber, t.Length() > 0
	case goparquet.Int32:
		if plain && signed {
			return int32s, true
		} else if plain {
			return uint32s, true
		}
	case goparquet.Int64:
		if plain && signed {
			return int64s, true
		} else if plain {
			return uint64s, true
		}
	}
	return notNumber, false
}

// widthOf gives the bytes that a value takes in a page: 0 for booleans, which
// take a bit, and less for strings, which differ.
func widthOf(c *goparquet.Column) int {
	switch t := c.Type(); t.Kind() {
	case goparquet.Boolean:
		return 0
	case goparquet.Int32, goparquet.Float:
		return 4
	case goparquet.Int64, goparquet.Double:
		return 8
	case goparquet.Int96:
		return 12
	case goparquet.FixedLenByteArray:
		return t.Length()
	}
	return -1
}

// The converted types of integers, by which old files tell signed from unsigned.
const (
	firstInt    = deprecated.Uint8
	firstSigned = deprecated.Int8
	lastInt     = deprecated.Int64
)
