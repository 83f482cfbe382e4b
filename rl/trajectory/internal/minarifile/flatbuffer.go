package minarifile

import "encoding/binary"

// flatTable is a table of a flatbuffer: the place in b where it begins. Its methods
// read no further than b, and panic where the buffer says otherwise; callers turn
// that into an error.
//
// Source: FlatBuffers internals, the binary format.
type flatTable struct {
	b  []byte
	at int
}

func u16(b []byte, at int) int { return int(binary.LittleEndian.Uint16(b[at : at+2])) }
func i32(b []byte, at int) int { return int(int32(binary.LittleEndian.Uint32(b[at : at+4]))) }
func i64(b []byte, at int) int { return int(int64(binary.LittleEndian.Uint64(b[at : at+8]))) }

// root is the table that the offset at the beginning of b leads to.
func root(b []byte) flatTable { return flatTable{b, i32(b, 0)} }

// field is the place of a field's value; 0 when the table has none.
func (t flatTable) field(n int) int {
	v := t.at - i32(t.b, t.at)
	if slot := 4 + 2*n; slot+2 <= u16(t.b, v) {
		if off := u16(t.b, v+slot); off != 0 {
			return t.at + off
		}
	}
	return 0
}

// deref follows the offset at a place.
func (t flatTable) deref(at int) int { return at + i32(t.b, at) }

// sub is the table in a field, and whether there is one.
func (t flatTable) sub(n int) (flatTable, bool) {
	at := t.field(n)
	if at == 0 {
		return flatTable{}, false
	}
	return flatTable{t.b, t.deref(at)}, true
}

// vector is the place of a vector's first element and its length, whose elements
// of the given size lie inside the buffer.
func (t flatTable) vector(n, size int) (at, length int) {
	f := t.field(n)
	if f == 0 {
		return 0, 0
	}
	at = t.deref(f)
	length = i32(t.b, at)
	at += 4
	_ = t.b[at : at+length*size]
	return at, length
}

func (t flatTable) text(n int) string {
	at, length := t.vector(n, 1)
	return string(t.b[at : at+length])
}

func (t flatTable) byte(n int) int {
	if at := t.field(n); at != 0 {
		return int(t.b[at])
	}
	return 0
}

func (t flatTable) short(n int) int {
	if at := t.field(n); at != 0 {
		return int(int16(u16(t.b, at)))
	}
	return 0
}

func (t flatTable) int(n int) int {
	if at := t.field(n); at != 0 {
		return i32(t.b, at)
	}
	return 0
}

func (t flatTable) long(n int) int {
	if at := t.field(n); at != 0 {
		return i64(t.b, at)
	}
	return 0
}
