// Package flatbuffer reads the tables of FlatBuffers, in which Arrow writes its metadata.
// Callers recover from panics: of damaged bytes an offset leads outside.
package flatbuffer

import "encoding/binary"

// Table is a table of a flatbuffer: the place in its bytes where it begins. Its methods
// read no further, and panic where the buffer says otherwise; callers turn
// that into an error.
//
// Source: FlatBuffers internals, the binary format.
type Table struct {
	Bytes []byte
	At    int
}

func u16(b []byte, at int) int { return int(binary.LittleEndian.Uint16(b[at : at+2])) }

// Int32 is the number at a place.
func Int32(b []byte, at int) int { return int(int32(binary.LittleEndian.Uint32(b[at : at+4]))) }

// Int64 is the number at a place.
func Int64(b []byte, at int) int { return int(int64(binary.LittleEndian.Uint64(b[at : at+8]))) }

// Root is the table that the offset at the beginning of b leads to.
func Root(b []byte) Table { return Table{b, Int32(b, 0)} }

// Field is the place of a field's value; 0 when the table has none.
func (t Table) Field(n int) int {
	v := t.At - Int32(t.Bytes, t.At)
	if slot := 4 + 2*n; slot+2 <= u16(t.Bytes, v) {
		if off := u16(t.Bytes, v+slot); off != 0 {
			return t.At + off
		}
	}
	return 0
}

// Deref follows the offset at a place.
func (t Table) Deref(at int) int { return at + Int32(t.Bytes, at) }

// Sub is the table in a field, and whether there is one.
func (t Table) Sub(n int) (Table, bool) {
	at := t.Field(n)
	if at == 0 {
		return Table{}, false
	}
	return Table{t.Bytes, t.Deref(at)}, true
}

// Vector is the place of a vector's first element and its length, whose elements
// of the given size lie inside the buffer.
func (t Table) Vector(n, size int) (at, length int) {
	f := t.Field(n)
	if f == 0 {
		return 0, 0
	}
	at = t.Deref(f)
	length = Int32(t.Bytes, at)
	at += 4
	_ = t.Bytes[at : at+length*size]
	return at, length
}

// Text is the text in a field, empty without one.
func (t Table) Text(n int) string {
	at, length := t.Vector(n, 1)
	return string(t.Bytes[at : at+length])
}

// Byte is a field of 8 bits, Short of 16, Int of 32, Long of 64; each is 0 where the table has none.
func (t Table) Byte(n int) int {
	if at := t.Field(n); at != 0 {
		return int(t.Bytes[at])
	}
	return 0
}

func (t Table) Short(n int) int {
	if at := t.Field(n); at != 0 {
		return int(int16(u16(t.Bytes, at)))
	}
	return 0
}

func (t Table) Int(n int) int {
	if at := t.Field(n); at != 0 {
		return Int32(t.Bytes, at)
	}
	return 0
}

func (t Table) Long(n int) int {
	if at := t.Field(n); at != 0 {
		return Int64(t.Bytes, at)
	}
	return 0
}
