package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// The types of Thrift's compact protocol. A boolean field has its value in its
// type; elsewhere it takes a byte.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// thriftDepth bounds the nesting of structures; Parquet's own go to 8.
const thriftDepth = 32

var (
	errThriftShort = errors.New("a Thrift structure is cut short")
	errThrift      = errors.New("a malformed Thrift structure")
	errThriftItems = errors.New("a Thrift structure with more elements than its length allows")
)

// compact walks over a value in Thrift's compact protocol. After an error, which stays,
// it returns zeros.
type compact struct {
	b     []byte
	at    int
	items int // elements of lists that may still come, other than numbers
	depth int
	err   error
}

func (d *compact) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *compact) byte() byte {
	if d.err != nil || d.at >= len(d.b) {
		d.fail(errThriftShort)
		return 0
	}
	d.at++
	return d.b[d.at-1]
}

func (d *compact) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 {
		d.fail(errThriftShort)
		return 0
	}
	d.at += n
	return v
}

func (d *compact) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// i32 is a number of a type that fits an int32.
func (d *compact) i32(kind byte) int32 {
	if kind != thriftI32 {
		d.fail(errThrift)
		return 0
	}
	v := d.varint()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail(errThrift)
		return 0
	}
	return int32(v)
}

// i64 is a number of a type that fits an int64.
func (d *compact) i64(kind byte) int64 {
	if kind != thriftI64 {
		d.fail(errThrift)
		return 0
	}
	return d.varint()
}

// text is a string of bytes.
func (d *compact) text(kind byte) string {
	if kind != thriftBinary {
		d.fail(errThrift)
		return ""
	}
	n := d.uvarint()
	d.pass(n)
	if d.err != nil {
		return ""
	}
	return string(d.b[d.at-int(n) : d.at])
}

// structure is fields of a field that must be a structure.
func (d *compact) structure(kind byte, f func(id int64, kind byte)) {
	if kind != thriftStruct {
		d.fail(errThrift)
		return
	}
	d.fields(f)
}

// list calls start, if there is one, with the number of elements of a list, and next for
// each of them.
func (d *compact) list(kind, of byte, start func(n int), next func()) {
	if kind != thriftList {
		d.fail(errThrift)
		return
	}
	head := d.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = d.uvarint()
	}
	if n > uint64(len(d.b)-d.at) {
		d.fail(errThriftShort)
	}
	if n > 0 && head&15 != of {
		d.fail(errThrift)
	}
	if d.err != nil {
		return
	}
	if start != nil {
		start(int(n))
	}
	for i := uint64(0); i < n && d.err == nil; i++ {
		next()
	}
}

func (d *compact) pass(n uint64) {
	if d.err == nil && n > uint64(len(d.b)-d.at) {
		d.fail(errThriftShort)
	}
	if d.err == nil {
		d.at += int(n)
	}
}

// fields calls f for every field of a structure; f passes over its value.
func (d *compact) fields(f func(id int64, kind byte)) {
	if d.depth++; d.depth > thriftDepth {
		d.fail(errThrift)
	}
	id := int64(0)
	for d.err == nil {
		head := d.byte()
		if head == 0 {
			break
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else {
			id = d.varint()
		}
		if id < math.MinInt16 || id > math.MaxInt16 {
			d.fail(errThrift)
		}
		f(id, head&15)
	}
	d.depth--
}

// skip passes over the value of a field.
func (d *compact) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		d.byte()
	case thriftI16, thriftI32, thriftI64:
		d.uvarint()
	case thriftDouble:
		d.pass(8)
	case thriftUUID:
		d.pass(16)
	case thriftBinary:
		d.pass(d.uvarint())
	case thriftList, thriftSet:
		head := d.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = d.uvarint()
		}
		d.elements(n, head&15)
	case thriftMap:
		if n := d.uvarint(); n > 0 {
			kinds := d.byte()
			d.elements(n, kinds>>4, kinds&15)
		}
	case thriftStruct:
		d.fields(func(_ int64, kind byte) { d.skip(kind) })
	default:
		d.fail(errThrift)
	}
}

// elements passes over n elements, or n pairs. Each takes a byte or more.
func (d *compact) elements(n uint64, kinds ...byte) {
	if d.depth++; d.depth > thriftDepth {
		d.fail(errThrift)
	}
	if d.err == nil && n > uint64(len(d.b)-d.at) {
		d.fail(errThriftShort)
	}
	for i := uint64(0); i < n && d.err == nil; i++ {
		for _, kind := range kinds {
			switch {
			case kind == thriftTrue || kind == thriftFalse:
				d.byte()
				continue
			case kind >= thriftBinary:
				if d.items--; d.items < 0 {
					d.fail(errThriftItems)
				}
			}
			d.skip(kind)
		}
	}
	d.depth--
}
