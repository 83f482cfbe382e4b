package parquet

import (
	"fmt"
	"io"
	"sync/atomic"
)

// File is an open Parquet file. Its columns share memory: it must not be used by
// two goroutines at a time.
type File struct {
	size   int64
	r      io.ReaderAt
	keys   map[string]string
	groups []group
	fields []field

	held   int64         // bytes of pages in memory
	text   *atomic.Int64 // bytes of keys delivered, by its forks too
	values int64         // values of the columns that are read
	codec  codec
	spares *spares
	forked bool
	// What columns use in turn.
	index  [atOnce]uint32
	levels [atOnce]uint8
	dense  [2 * atOnce]float64 // one more than atOnce, rounded up
}

// atOnce is the number of values that are decoded in one go.
const atOnce = 1 << 10

// Open reads and checks the footer of the first size bytes of r, which stays the
// caller's to close.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	f = &File{size: size, r: r, text: new(atomic.Int64), spares: new(spares)}
	defer rescue("", &err)
	meta, err := f.readFooter()
	if err != nil {
		return nil, err
	}
	f.groups, f.keys = meta.groups, meta.keys
	for _, c := range columns(meta.schema) {
		f.fields = fieldsOf(f.fields, c, c.name, 0)
	}
	return f, nil
}

// Fork is the same file for another goroutine, with columns of its own. The bounds on
// the memory of pages hold for each of them, that on the text of keys for all together.
func (f *File) Fork() *File {
	g := &File{size: f.size, r: f.r, keys: f.keys, groups: f.groups, fields: f.fields, text: f.text, spares: f.spares, forked: true}
	if src := g.spares.take(forPages).raw; g.hold(cap(src)) == nil {
		g.codec.src = src
	}
	return g
}

// Groups are the numbers of rows of the row groups.
func (f *File) Groups() []int64 {
	out := make([]int64, len(f.groups))
	for i := range f.groups {
		out[i] = f.groups[i].rows
	}
	return out
}

// Field is a column as a user sees it.
type Field struct {
	// Name is the path to the column, such as infos.behavior_prob.
	Name string
	// List tells that a row holds a list of values.
	List bool
	// Dated tells that they are dates, or times of a date, and Zoned that these are moments:
	// they count from a time in UTC.
	Dated, Zoned bool
}

// Fields lists the columns in the order of the file.
func (f *File) Fields() []Field {
	out := make([]Field, len(f.fields))
	for i, c := range f.fields {
		out[i] = Field{Name: c.name, List: c.list}
		if clock := c.clock(); clock != nil {
			out[i].Dated, out[i].Zoned = true, clock.zoned
		}
	}
	return out
}

// Rows is the number of rows of the file.
func (f *File) Rows() int64 {
	n := int64(0)
	for i := range f.groups {
		n += f.groups[i].rows
	}
	return n
}

// Lookup gives the value of a key of the file's own metadata.
func (f *File) Lookup(key string) (string, bool) {
	value, ok := f.keys[key]
	return value, ok
}

// ListLength is the number of values of the first list of a column that has any;
// 0 when none has, and 1 for a column that holds no lists.
func (f *File) ListLength(field int) (n int, err error) {
	c := &f.fields[field]
	if !c.list {
		return 1, nil
	}
	defer rescue(c.name, &err)
	if err := f.usable(c, Numbers); err != nil {
		return 0, err
	}
	x := newColumn(f, c, Want{As: Presence})
	defer x.Close()
	for x.group < len(f.groups) {
		if err := x.open(); err != nil {
			return 0, err
		}
		if n, err := x.firstLength(); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// As says how the values of a column are delivered.
type As uint8

const (
	// Numbers are float64; integers and booleans are widened.
	Numbers As = iota
	// Keys are text, or integers written as text.
	Keys
	// Presence is 1 where there is a value of any type.
	Presence
	// Times are dates, and times of a date, as microseconds since 1970: what is less of one
	// is cut off.
	Times
)

// Want asks for a column.
type Want struct {
	// Field is the place of the column in Fields.
	Field int
	As    As
	// Length is the number of values that every list must have; of no meaning
	// for a column without lists, or for Presence.
	Length int
	// Null stands for a missing number. Every NaN of the file is delivered as
	// math.NaN(), so that another NaN cannot be forged.
	Null float64
}

// Column starts to read a column at its first row. Its values count towards
// those that the file may have until the file is dropped.
func (f *File) Column(w Want) (c *Column, err error) {
	field := &f.fields[w.Field]
	defer rescue(field.name, &err)
	if err := f.usable(field, w.As); err != nil {
		return nil, err
	}
	c = newColumn(f, field, w)
	c.reuse(f.spares.take(field.leaf.index))
	return c, c.count()
}

// Close gives back the memory of the decompressors. It does not close the
// reader, and columns must not be read afterwards.
func (f *File) Close() {
	f.codec.close()
	if f.forked {
		f.spares.give(forPages, memory{raw: f.codec.src})
		f.codec.src = nil
	}
}

// rescue makes an error of a panic, such as one of a decompressor's.
func rescue(column string, err *error) {
	if p := recover(); p != nil {
		*err = damaged(column, fmt.Errorf("decoder: %v", p))
	}
}
