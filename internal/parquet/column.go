package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Column reads one leaf of the file, row group by row group and page by page.
//
// A page holds levels and values. Every row of a flat column has one level; a
// definition level below the highest says that there is no value. Values are
// dense: missing ones take no room. Pages of a dictionary hold indices into it.
type Column struct {
	file   *File
	field  *field
	as     As
	length int
	null   float64
	kind   numeric
	width  int
	// bytes tells that the bytes that are stored are those of a key. decimal is nil where
	// the values are none; those of isUUID are 16 bytes.
	bytes   bool
	decimal *decimal
	isUUID  bool
	clock   *clock // nil where no times are wanted
	maxDef  uint8

	group int   // the next row group
	rows  int64 // left of the row group at hand
	row   int   // rows delivered

	pages      pages
	codec      compression
	dictionary dictionary
	left       int // levels of the page that are to come
	def, rep   hybrid
	values     values

	raw  []byte    // the page
	dict []byte    // the page of the dictionary
	work [2][]byte // numbers of the page, decoded
	text []byte

	list *chunk // of a column of lists

	bounds  Bounds // of values of the last Read
	bounded int    // how many of them
	asked   int    // of how many rows
}

func newColumn(f *File, c *field, w Want) *Column {
	kind, _ := kindOf(c.leaf)
	decimal, uuid := decimalOf(c.leaf), isUUID(c.leaf)
	x := &Column{file: f, field: c, as: w.As, length: w.Length, null: w.Null, kind: kind, width: widthOf(c.leaf), maxDef: c.leaf.maxDef,
		bytes: kind == notNumber && decimal == nil && !uuid, decimal: decimal, isUUID: uuid}
	if w.As == Times {
		x.asTimes()
	}
	return x
}

// Read puts the next n rows into every stride-th place of dst, a list into as
// many places as it has values. The file must have that many rows to come.
func (c *Column) Read(dst []float64, stride, n int) (err error) {
	defer rescue(c.field.name, &err)
	c.bounds, c.bounded, c.asked = noBounds(), 0, n
	return c.groupwise(n, func(at, n int) error {
		if c.field.list {
			return c.readLists(dst[at*stride:], stride, n)
		}
		return c.readFlat(dst[at*stride:], stride, n)
	})
}

// Runs takes keys, each for a number of rows; nil stands for a missing one. It
// must not keep them. Signed whole numbers and UUIDs come as such.
type Runs interface {
	Append(key []byte, rows int)
	AppendNumber(key int64, rows int)
	AppendUUID(key [16]byte, rows int)
}

// ReadKeys delivers the next n rows as keys, run by run; of one of more than 4096 bytes the first 4097. The file must have that
// many rows to come.
func (c *Column) ReadKeys(dst Runs, n int) (err error) {
	defer rescue(c.field.name, &err)
	return c.groupwise(n, func(_, n int) error { return c.readKeys(dst, n) })
}

// groupwise calls read for the part of the next n rows that each row group has.
func (c *Column) groupwise(n int, read func(at, n int) error) error {
	for at := 0; at < n; {
		for c.rows == 0 {
			if c.group == len(c.file.groups) {
				return c.damaged(errors.New("more rows are asked for than there are"))
			}
			if err := c.open(); err != nil {
				return err
			}
		}
		k := int(min(c.rows, int64(n-at)))
		if err := read(at, k); err != nil {
			return err
		}
		at, c.rows, c.row = at+k, c.rows-int64(k), c.row+k
		if c.rows == 0 {
			if err := c.ended(); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended checks that a column of lists has no more of them than its row group has
// rows. Flat columns have as many values as rows.
func (c *Column) ended() error {
	if !c.field.list {
		return nil
	}
	more, err := c.ready()
	if err == nil && more {
		err = c.damaged(errors.New("a column with more lists than its row group has rows"))
	}
	return err
}

func (c *Column) meta(group int) *extent {
	return &c.file.groups[group].columns[c.field.leaf.index]
}

// count adds the values of a column that is to be read to those of the file: a
// missing list fills as many places as one that is there.
func (c *Column) count() error {
	places := int64(1)
	if c.field.list && c.as == Numbers {
		places = int64(max(c.length, 1))
	}
	for g := range c.file.groups {
		rows, left := c.file.groups[g].rows, c.file.mostValues()-c.file.values
		if rows > left/places {
			return c.damaged(errTooMany)
		}
		n := max(c.meta(g).values, rows*places)
		if n > left {
			return c.damaged(errTooMany)
		}
		c.file.values += n
	}
	return nil
}

// open starts the next row group.
func (c *Column) open() error {
	m, rows := c.meta(c.group), c.file.groups[c.group].rows
	c.group++
	if m.values < rows || m.values > rows && !c.field.list {
		return c.damaged(fmt.Errorf("a column of %d values in a row group of %d rows", m.values, rows))
	}
	c.rows, c.codec, c.left, c.dictionary.n = rows, m.codec, 0, 0
	c.def, c.rep, c.values = hybrid{}, hybrid{}, values{last: c.values.last}
	if c.field.list && c.list == nil {
		if err := c.file.hold(chunkSize); err != nil {
			return c.damaged(err)
		}
		c.list = new(chunk)
	} else if c.field.list {
		c.list.n, c.list.at, c.list.value = 0, 0, 0
	}
	r := c.pages.r
	src := io.NewSectionReader(c.file.r, m.start(), m.size)
	if size := int(min(m.size, maxHeader)); r == nil || r.Size() < size {
		old := 0
		if r != nil {
			old = r.Size()
		}
		if err := c.file.hold(size - old); err != nil {
			return c.damaged(err)
		}
		r = bufio.NewReaderSize(src, size)
	} else {
		r.Reset(src)
	}
	c.pages = pages{r: r, bytes: m.size, values: m.values, first: true}
	return nil
}

// Close gives the memory of the column back.
func (c *Column) Close() {
	m := c.memory()
	n := m.size()
	if c.list != nil {
		n += chunkSize
	}
	c.file.held -= int64(n)
	if c.file.forked {
		c.file.spares.give(c.field.leaf.index, m)
	}
	*c = Column{file: c.file, field: c.field}
}

func (c *Column) damaged(cause error) error { return damaged(c.field.name, cause) }
