package parquetfile

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/parquet-go/parquet-go/format"
)

// column reads one leaf of the file, page by page.
//
// A page holds levels and values. Every row of a flat column has one level; a
// definition level below the highest says that there is no value. Values are
// dense: missing ones take no room. Pages of a dictionary hold indices into it.
type column struct {
	t      *table
	f      *field
	pick   trajectory.Pick
	kind   numeric
	width  int
	maxDef uint8

	pages      pages
	codec      format.CompressionCodec
	dictionary dictionary
	left       int // levels of the page that are to come
	def, rep   hybrid
	values     values

	raw  []byte    // the page
	dict []byte    // the page of the dictionary
	work [2][]byte // numbers of the page, decoded
	text []byte

	list *chunk // of a column of lists
}

func newColumn(t *table, f *field, p trajectory.Pick) *column {
	kind, _ := kindOf(f.leaf)
	return &column{t: t, f: f, pick: p, kind: kind, width: widthOf(f.leaf), maxDef: uint8(f.leaf.MaxDefinitionLevel())}
}

func (c *column) meta(group int) *format.ColumnMetaData {
	return &c.t.groups[group].Columns[c.f.leaf.Index()].MetaData
}

// count adds the values of a column that is to be read to those of the file.
func (c *column) count() error {
	for g := range c.t.groups {
		n := c.meta(g).NumValues
		if n > c.t.mostValues()-c.t.values {
			return c.damaged(errTooMany)
		}
		c.t.values += n
	}
	return nil
}

// open starts a row group.
func (c *column) open(group int) error {
	m, rows := c.meta(group), c.t.groups[group].NumRows
	if m.NumValues < rows || m.NumValues > rows && !c.f.list {
		return c.damaged(fmt.Errorf("a column of %d values in a row group of %d rows", m.NumValues, rows))
	}
	c.codec, c.left, c.dictionary.n = m.Codec, 0, 0
	c.def, c.rep, c.values = hybrid{}, hybrid{}, values{last: c.values.last}
	if c.f.list && c.list == nil {
		if err := c.t.hold(chunkSize); err != nil {
			return c.damaged(err)
		}
		c.list = new(chunk)
	} else if c.f.list {
		c.list.n, c.list.at, c.list.value = 0, 0, 0
	}
	r := c.pages.r
	src := io.NewSectionReader(c.t.r, start(m), m.TotalCompressedSize)
	if size := int(min(m.TotalCompressedSize, maxHeader)); r == nil || r.Size() < size {
		old := 0
		if r != nil {
			old = r.Size()
		}
		if err := c.t.hold(size - old); err != nil {
			return c.damaged(err)
		}
		r = bufio.NewReaderSize(src, size)
	} else {
		r.Reset(src)
	}
	c.pages = pages{r: r, bytes: m.TotalCompressedSize, values: m.NumValues, first: true}
	return nil
}

// close gives the memory back.
func (c *column) close() {
	n := cap(c.raw) + cap(c.dict) + cap(c.work[0]) + cap(c.work[1]) + 4*cap(c.dictionary.offsets) + 8*cap(c.dictionary.numbers)
	if c.pages.r != nil {
		n += c.pages.r.Size()
	}
	if c.list != nil {
		n += chunkSize
	}
	c.t.held -= int64(n)
	*c = column{t: c.t, f: c.f}
}

func (c *column) damaged(cause error) error {
	var input *trajectory.InputError
	if errors.As(cause, &input) {
		return cause
	}
	err := c.t.damaged(cause)
	if errors.As(err, &input) {
		input.Column = c.f.name
	}
	return err
}

// more makes sure that there is a level of the page to read. It reports false at
// the end of the row group.
func (c *column) more() (bool, error) {
	for c.left == 0 {
		h, err := c.pages.next()
		if err == io.EOF {
			return false, nil
		}
		if err == nil && h.kind == dictionaryPage {
			err = c.enterDictionary(h)
		} else if err == nil {
			err = c.enter(h)
		}
		if err != nil {
			return false, c.damaged(err)
		}
	}
	return true, nil
}

// need makes sure that there is a level to read, of a row that the footer has
// promised.
func (c *column) need() error {
	ok, err := c.more()
	if err == nil && !ok {
		err = c.damaged(errors.New("a column with fewer rows than its row group"))
	}
	return err
}

func (c *column) enterDictionary(h pageHeader) error {
	var err error
	if c.dict, err = c.body(h, c.dict); err != nil || c.pick.Kind == trajectory.Presence {
		return err
	}
	if h.encoding != plain && h.encoding != plainDictionary {
		return fmt.Errorf("dictionary: %w %d", errEncoding, h.encoding)
	}
	return c.dictionary.fill(c, c.dict, h.values)
}

// enter starts a page of data.
func (c *column) enter(h pageHeader) error {
	var err error
	if c.raw, err = c.body(h, c.raw); err != nil || h.values == 0 {
		return err
	}
	b := c.raw
	level := func(encoding int32, most uint8, size int) (hybrid, error) {
		var part []byte
		var err error
		switch {
		case h.kind == dataPageV2:
			part, b = b[:size], b[size:]
		case most == 0:
		case encoding != rle:
			return hybrid{}, fmt.Errorf("levels: %w %d", errEncoding, encoding)
		default:
			part, b, err = prefixed(b)
		}
		if err != nil {
			return hybrid{}, err
		}
		return newHybrid(part, bits.Len8(most), uint64(most)+1, h.values)
	}
	most := uint8(0)
	if c.f.list {
		most = 1
	}
	if c.rep, err = level(h.repEncoding, most, h.repBytes); err != nil {
		return err
	}
	if c.def, err = level(h.defEncoding, c.maxDef, h.defBytes); err != nil {
		return err
	}
	c.left = h.values
	if c.pick.Kind == trajectory.Presence {
		return nil
	}
	return c.encoded(h.encoding, b, h.values)
}

// body reads and decompresses the body of a page into buf, or into a larger one,
// which it returns. The levels of a page of version 2 are never compressed.
func (c *column) body(h pageHeader, buf []byte) ([]byte, error) {
	levels := 0
	if h.kind == dataPageV2 {
		levels = h.repBytes + h.defBytes
	}
	codec := c.codec
	if h.stored {
		codec = format.Uncompressed
	}
	if levels > min(h.size, h.uncompressed) || codec == format.Uncompressed && h.size != h.uncompressed {
		return buf, errPageSize
	}
	if err := plausible(codec, h.size, h.uncompressed); err != nil {
		return buf, err
	}
	dst, err := room(c.t, buf, h.uncompressed, 1)
	if err != nil {
		return buf, err
	}
	src := dst
	if codec != format.Uncompressed {
		if src, err = room(c.t, c.t.codec.src, h.size, 1); err != nil {
			return dst, err
		}
		c.t.codec.src = src
	}
	if err := c.pages.body(src); err != nil {
		return dst, err
	}
	if h.hasCRC && crc32.ChecksumIEEE(src) != h.crc {
		return dst, errors.New("a page with a wrong checksum")
	}
	if codec != format.Uncompressed {
		copy(dst[:levels], src)
		if len(src) > levels || len(dst) > levels {
			err = c.t.codec.decompress(codec, dst[levels:], src[levels:])
		}
	}
	return dst, err
}
