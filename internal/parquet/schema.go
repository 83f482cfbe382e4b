package parquet

import "strconv"

// field is a column of the file as a user sees it: a leaf, or a list of leaves.
type field struct {
	name string
	leaf *node // nil when it is neither
	list bool
	// elements is the definition level from which a list has an element.
	elements byte
}

// maxDepth bounds how deep structs may nest.
const maxDepth = 32

// fieldsOf finds the fields under a column. Those of a struct, at any depth, are
// named by the path to them, such as infos.behavior_prob.
func fieldsOf(dst []field, c *node, name string, depth int) []field {
	f := newField(c, name)
	if f.leaf != nil || c.leaf() || c.repeats() || depth == maxDepth || !isStruct(c) {
		return append(dst, f)
	}
	for _, below := range c.columns {
		dst = fieldsOf(dst, below, name+"."+below.name, depth+1)
	}
	return dst
}

// isStruct tells a group of columns from a list or a map of nested things, which
// has one repeated child.
func isStruct(c *node) bool {
	below := c.columns
	return len(below) > 1 || len(below) == 1 && !below[0].repeats()
}

// newField finds the leaf of a column. A list is a group with one repeated
// child, which is the element or a group that holds it alone, or, by the oldest
// rule, a repeated leaf.
func newField(c *node, name string) field {
	f := field{name: name}
	if c.leaf() {
		f.leaf, f.list = c, c.repeats()
		f.elements = c.maxDef
		return f
	}
	if c.repeats() || len(c.columns) != 1 {
		return f
	}
	middle := c.columns[0]
	if !middle.repeats() {
		return f
	}
	leaf := middle
	if !leaf.leaf() {
		if len(middle.columns) != 1 {
			return f
		}
		leaf = middle.columns[0]
	}
	if !leaf.leaf() || leaf.maxRep != 1 {
		return f
	}
	f.leaf, f.list, f.elements = leaf, true, middle.maxDef
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
		switch codec := g.columns[c.leaf.index].codec; codec {
		case uncompressed, snappyCompression, gzipCompression, brotliCompression, zstdCompression, lz4Compression:
		case oldLZ4Compression:
			return "the older LZ4"
		case lzoCompression:
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
func kindOf(c *node) (numeric, bool) {
	plain, signed := c.logical == 0 || decimalOf(c) != nil, true
	if c.logical == logicalInteger {
		plain, signed = true, c.signed
	}
	switch c.kind {
	case physicalBoolean:
		return boolean, false
	case physicalFloat:
		return floats, false
	case physicalDouble:
		return doubles, false
	case physicalBytes:
		return notNumber, true
	case physicalFixed:
		return notNumber, c.length > 0
	case physicalInt32:
		if plain && signed {
			return int32s, true
		} else if plain {
			return uint32s, true
		}
	case physicalInt64:
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
func widthOf(c *node) int {
	switch c.kind {
	case physicalBoolean:
		return 0
	case physicalInt32, physicalFloat:
		return 4
	case physicalInt64, physicalDouble:
		return 8
	case physicalInt96:
		return 12
	case physicalFixed:
		return int(c.length)
	}
	return -1
}
