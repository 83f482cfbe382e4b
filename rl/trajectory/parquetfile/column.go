package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
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
	maxDef byte

	pages  parquet.Pages
	page   parquet.Page
	def    []byte // nil when no value of the page is missing
	rep    []byte
	levels int
	li, vi int // the next level and the next value
	values encoding.Values

	dictionary parquet.Dictionary // of this page; nil when it has none
	known      parquet.Dictionary // of which numbers and keys are
	numbers    []float64          // of the dictionary
	keys       encoding.Values    // of the dictionary
	dense      []float64          // the numbers of a page of lists
	text       []byte
}

func newColumn(t *table, f *field, p trajectory.Pick) *column {
	kind, _ := kindOf(f.leaf)
	return &column{t: t, f: f, pick: p, kind: kind, maxDef: byte(f.leaf.MaxDefinitionLevel())}
}

// open starts a row group.
func (c *column) open(g parquet.RowGroup) {
	c.close()
	c.pages = g.ColumnChunks()[c.f.leaf.Index()].Pages()
}

func (c *column) close() {
	c.release()
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
	c.known = nil
}

func (c *column) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
	c.levels, c.li, c.vi = 0, 0, 0
}

// more makes sure that there is a level to read. It reports false at the end of
// the row group.
func (c *column) more() (bool, error) {
	for c.li == c.levels {
		c.release()
		page, err := c.pages.ReadPage()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, c.damaged(err)
		}
		if err := c.enter(page); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *column) damaged(cause error) error {
	err := c.t.damaged(cause)
	var input *trajectory.InputError
	if errors.As(err, &input) {
		input.Column = c.f.name
	}
	return err
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

// enter starts a page.
func (c *column) enter(page parquet.Page) error {
	c.page, c.values, c.dictionary = page, page.Data(), page.Dictionary()
	c.def, c.rep, c.levels = page.DefinitionLevels(), page.RepetitionLevels(), int(page.NumValues())
	if c.maxDef > 0 && len(c.def) != c.levels || c.f.list && len(c.rep) != c.levels {
		return c.damaged(fmt.Errorf("a page of %d values with %d definition and %d repetition levels", c.levels, len(c.def), len(c.rep)))
	}
	present := c.levels
	if c.maxDef > 0 {
		present -= int(page.NumNulls())
	}
	if present == c.levels && !c.f.list {
		c.def = nil
	}
	if d := c.dictionary; d != nil && d != c.known {
		c.known = d
		c.keys = d.Page().Data()
		if c.pick.Kind == trajectory.Number {
			c.numbers = convert(c.numbers[:0], c.kind, &c.keys, 0, d.Len())
		}
	}
	if c.f.list && c.pick.Kind == trajectory.Number {
		c.dense = c.appendNumbers(c.dense[:0], present)
	}
	return nil
}

// appendNumbers adds the next n values of the page to dst.
func (c *column) appendNumbers(dst []float64, n int) []float64 {
	lo := c.vi
	if c.dictionary == nil {
		return convert(dst, c.kind, &c.values, lo, lo+n)
	}
	for _, i := range part(c.values.Int32(), lo, lo+n) {
		dst = append(dst, c.numbers[i])
	}
	return dst
}

// read delivers the next n rows.
func (c *column) read(b *trajectory.Batch, n int) error {
	switch {
	case c.pick.Kind == trajectory.Key:
		return c.readKeys(&b.Keys[c.pick.Block], n)
	case c.f.list:
		return c.readLists(b, n)
	}
	block := &b.Blocks[c.pick.Block]
	dst := block.Values[c.pick.Offset:]
	for n > 0 {
		if err := c.need(); err != nil {
			return err
		}
		k := min(n, c.levels-c.li)
		switch {
		case c.pick.Kind == trajectory.Presence:
			c.presence(dst, block.Width, k)
		case c.def == nil:
			c.full(dst, block.Width, k)
		default:
			c.sparse(dst, block.Width, k)
		}
		if n -= k; n > 0 {
			dst = dst[k*block.Width:]
		}
	}
	return nil
}

// full delivers k rows none of which is missing.
func (c *column) full(dst []float64, width, k int) {
	lo, hi := c.vi, c.vi+k
	c.li, c.vi = c.li+k, hi
	if c.dictionary != nil {
		for i, at := range part(c.values.Int32(), lo, hi) {
			dst[i*width] = c.numbers[at]
		}
		return
	}
	spread(dst, width, c.kind, &c.values, lo, hi)
}

// sparse delivers k rows some of which may be missing.
func (c *column) sparse(dst []float64, width, k int) {
	null := trajectory.Null()
	present := 0
	for _, d := range c.def[c.li : c.li+k] {
		if d == c.maxDef {
			present++
		}
	}
	c.dense = c.appendNumbers(c.dense[:0], present)
	at := 0
	for i, d := range c.def[c.li : c.li+k] {
		if d == c.maxDef {
			dst[i*width] = c.dense[at]
			at++
		} else {
			dst[i*width] = null
		}
	}
	c.li, c.vi = c.li+k, c.vi+present
}

// presence delivers 1 where a value is.
func (c *column) presence(dst []float64, width, k int) {
	for i := range k {
		dst[i*width] = 1
		if c.def != nil && c.def[c.li+i] != c.maxDef {
			dst[i*width] = trajectory.Null()
		}
	}
	c.li += k
}
